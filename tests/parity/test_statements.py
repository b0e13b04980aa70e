"""Single statements whose outcome under PyTorch is not obvious: what is refused, in which order, and how the result lies in memory.

Each line runs under both libraries in a scope of small tensors; compared are the error (type and first line), the result ``r``, and the
versions and values of the tensors in the scope.
"""
import warnings

import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")

STATEMENTS = {
    "indices": """
        n0[n0>0]=n0
        n3[n3>0]=n3
        n3[n0>0]=n3
        x[x>5]=x
        z[z>0]=z.view(1)
        z[z>0]=torch.tensor(2)
        z[torch.tensor(False)]=torch.tensor(1, dtype=torch.float64)
        x.index_put_((x>0,), torch.tensor(1))
        x.index_put_((x>0,), v[:1].long())
        x.index_put_((x>0,), x[:1])
        x.index_put_((), v)
        x.index_put_((torch.tensor([0]),), 1)
        xg.index_put_((v>0,), x)
        xg.index_put_((torch.tensor([9]),), x)
        r=x.index_put((x>0,), x[0].long())
        w=xg*1; s=torch.tensor([2.], requires_grad=True); w.index_put_((w>0,), s); w.sum().backward(); r=s.grad
        w=(m*xg)*1; s=torch.tensor([[1.,2.,3.]], requires_grad=True); w[w[:,0]>=0]=s; w.sum().backward(); r=s.grad
    """,
}


def outcome(library, statement):
    """What the statement does, as text."""
    scope = {"torch": library, "np": np, "x": library.ones(3), "e": library.ones(1).expand(3), "v": library.arange(6.),
             "xg": library.ones(3, requires_grad=True), "m": library.arange(6.).view(2, 3), "z": library.tensor(1.),
             "n0": library.ones(0), "n3": library.ones(0, 3)}
    before = {name: t._version for name, t in scope.items() if hasattr(t, "_version")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement, scope)
        r = scope.get("r")
        seen = (r.tolist(), r.stride(), str(r.dtype).split(".")[-1], r.untyped_storage().nbytes()) if hasattr(r, "stride") else \
            (r.tolist(), r.strides, str(r.dtype)) if isinstance(r, np.ndarray) else r
    except Exception as error:
        seen = f"{type(error).__name__}: {error}".splitlines()[0]
    return seen, {name: (scope[name].tolist(), scope[name]._version) for name in before if scope[name]._version != before[name]}


@pytest.mark.parametrize("group", STATEMENTS)
def test_statements_do_what_they_do_under_pytorch(group):
    wrong = {}
    for line in filter(None, map(str.strip, STATEMENTS[group].splitlines())):
        wanted, seen = outcome(torch, line), outcome(jtensor, line)
        if repr(wanted) != repr(seen):
            wrong[line] = wanted, seen
    assert not wrong
