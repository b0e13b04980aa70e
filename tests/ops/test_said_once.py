"""What PyTorch says a single time of functions that are to go, and of memory that it would have to copy."""
import warnings

import pytest

import jtensor

SAID = """
torch.cholesky(x)
x.cholesky()
torch.qr(x)
torch.lu(x)
torch.lu(x[0])
torch.triangular_solve(x, x)
torch.triangular_solve(x[0], x)
torch.chain_matmul(x, x)
torch.lu_solve(x, x, torch.tensor([1, 2, 3], dtype=torch.int32))
torch.searchsorted(a, a)
torch.searchsorted(a[::2], 1.)
torch.searchsorted(a, a[::2])
torch.searchsorted(a[::2], a[::2])
torch.searchsorted(a[::2], a[:0])
torch.searchsorted(a[:0], a[::2])
torch.searchsorted(a[:3], a, sorter=s[::2])
torch.bucketize(a[::2], a)
torch.bucketize(1, a[::2])
"""


def said(lib, call):
    """The warnings of a call."""
    scope = {"torch": lib, "x": lib.eye(3) * 2, "a": lib.arange(6.), "s": lib.tensor([0, 9, 1, 9, 2])}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        lib.set_warn_always(True)
        try:
            eval(call, scope)
        except RuntimeError:
            pass
        finally:
            lib.set_warn_always(False)
    return [(one.category, str(one.message).partition(" (Triggered")[0]) for one in found]


@pytest.mark.parametrize("call", SAID.split("\n")[1:-1])
def test_what_is_said(call):
    assert said(jtensor, call) == said(pytest.importorskip("torch"), call)


def test_once():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(3):
            jtensor.lu_solve(jtensor.eye(2), jtensor.eye(2), jtensor.tensor([1, 2], dtype=jtensor.int32))
    assert len(found) <= 1
