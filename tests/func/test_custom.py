"""Custom functions inside of `vmap` and `jvp`: their rules, what is made of their forward, and PyTorch's refusals."""
import json
import warnings
from pathlib import Path

import pytest

import jtensor

GOLDENS = Path(__file__).resolve().parents[1] / "goldens" / "custom_levels.json"
CALLS = ["vmap(c.apply)(x)", "vmap(grad(lambda a: c.apply(a).sum()))(x)", "grad(lambda a: vmap(c.apply)(a).sum())(x)",
         "jvp(c.apply, (x,), (o,))", "dual(c.apply, x, o)"]
SEVERAL = ["vmap(lambda a: jvp(c.apply, (a,), (T.ones(2),))[1])(x)", "jacfwd(jacrev(lambda a: c.apply(a).sum()))(x[1])",
           "jacrev(jacfwd(c.apply))(x[1])"]


def classes(T):
    class Old(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return 3 * ctx.saved_tensors[0] ** 2 * g

        @staticmethod
        def jvp(ctx, t):
            return 3 * ctx.saved_tensors[0] ** 2 * t

    class New(T.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 3 * ctx.saved_tensors[0] ** 2 * g

    class Generated(New):
        generate_vmap_rule = True
        jvp = Old.jvp

    class Ruled(New):
        @staticmethod
        def vmap(info, in_dims, x):
            assert info.batch_size == 3 and in_dims == (0,) and x.shape == (3, 2)
            return Ruled.apply(x).t(), 1

    class Both(Ruled):
        generate_vmap_rule = True
    return {c.__name__: c for c in (Old, New, Generated, Ruled, Both)}


def answer(T, name, text):
    def dual(function, x, t):
        with T.autograd.forward_ad.dual_level():
            return T.autograd.forward_ad.unpack_dual(function(T.autograd.forward_ad.make_dual(x, t)))
    names = {**vars(T.func), "T": T, "c": classes(T)[name], "x": T.arange(6.0).reshape(3, 2), "o": T.ones(3, 2), "dual": dual}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(eval(text, names))
    except Exception as error:
        return type(error).__name__, str(error)


CASES = [*[(name, text) for name in ("Old", "New", "Generated", "Ruled", "Both") for text in CALLS],
         *[("Generated", text) for text in SEVERAL]]


@pytest.mark.parametrize("name, text", CASES)
def test_as_in_pytorch(name, text):
    wanted = json.loads(GOLDENS.read_text())[f"{name}: {text}"]
    found = answer(jtensor, name, text)
    assert (found if isinstance(found, str) else list(found)) == wanted


if __name__ == "__main__":                     # writes the goldens: PyTorch's rules are gone in a process where other tests have been
    import torch
    GOLDENS.write_text(json.dumps({f"{name}: {text}": answer(torch, name, text) for name, text in CASES}, indent=1) + "\n")
