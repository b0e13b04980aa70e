"""Custom functions inside of `vmap` and `jvp`: their rules, what is made of their forward, and PyTorch's refusals."""
import json
from pathlib import Path

import pytest

import jtensor

from .both import answer, classes, same

GOLDENS = Path(__file__).resolve().parents[1] / "goldens" / "custom_levels.json"
CALLS = ["vmap(c.apply)(x)", "vmap(grad(lambda a: c.apply(a).sum()))(x)", "grad(lambda a: vmap(c.apply)(a).sum())(x)",
         "jvp(c.apply, (x,), (o,))", "dual(c.apply, x, o)"]
SEVERAL = ["vmap(lambda a: jvp(c.apply, (a,), (T.ones(2),))[1])(x)", "jacfwd(jacrev(lambda a: c.apply(a).sum()))(x[1])",
           "jacrev(jacfwd(c.apply))(x[1])"]


def named(T, name):
    def dual(function, x, t):
        with T.autograd.forward_ad.dual_level():
            return T.autograd.forward_ad.unpack_dual(function(T.autograd.forward_ad.make_dual(x, t)))
    return {**vars(T.func), "c": classes(T)[name], "x": T.arange(6.0).reshape(3, 2), "o": T.ones(3, 2), "dual": dual}


CASES = [*[(name, text) for name in ("Old", "New", "Generated", "Ruled", "Both") for text in CALLS],
         *[("Generated", text) for text in SEVERAL]]


@pytest.mark.parametrize("name, text", CASES)
def test_as_in_pytorch(name, text):
    wanted = json.loads(GOLDENS.read_text())[f"{name}: {text}"]
    found = answer(jtensor, text, named(jtensor, name))
    assert (found if isinstance(found, str) else list(found)) == wanted


def test_a_tangent_has_no_tangent():
    """``jvp`` may compute with what ``forward`` left on ``ctx``, which had a tangent."""
    class Exp(jtensor.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.result = x.exp()
            return ctx.result

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * ctx.result

    forward_ad, x = jtensor.autograd.forward_ad, jtensor.tensor([0.0, 1.0])
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(Exp.apply(forward_ad.make_dual(x, jtensor.ones(2)))).tangent
        assert str(tangent) == "tensor([1.0000, 2.7183])" and forward_ad.unpack_dual(tangent).tangent is None


RULES = {"of a nest": (lambda info, dims, x, more: (x * 2 if dims == (0, [0, None]) else dims, 0), "vmap(lambda a: c.apply(a, [a, 2]))(x)"),
         "one thing": (lambda info, dims, x: x, "vmap(c.apply)(x)"), "three things": (lambda info, dims, x: (x, 0, 0), "vmap(c.apply)(x)"),
         "dims of another nest": (lambda info, dims, x: (x, (None,)), "vmap(c.apply)(x)"),
         "dims of a pair": (lambda info, dims, x: ((x, x.t()), (0, 1)), "vmap(c.apply)(x)"),
         "one dim for a pair": (lambda info, dims, x: ((x[0], x[1]), None), "vmap(c.apply)(x)")}


@pytest.mark.parametrize("name", RULES)
def test_what_a_rule_gets_and_answers(name):
    rule, text = RULES[name]

    def named(T):
        class C(T.autograd.Function):
            @staticmethod
            def forward(x, *more):
                return x * 1

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

            vmap = staticmethod(rule)
        return {**vars(T.func), "c": C, "x": T.arange(6.0).reshape(3, 2)}
    same(text, named)


def test_a_tangent_for_what_has_none():
    def named(T):
        class C(T.autograd.Function):
            @staticmethod
            def forward(x):
                return x.clone(), x > 0

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.mark_non_differentiable(output[1])

            @staticmethod
            def jvp(ctx, tangent):
                return tangent, tangent
        return {**vars(T.func), "c": C, "x": T.ones(2)}
    same("jvp(c.apply, (x,), (x,))", named)


def test_integers_and_results_without_derivative_have_no_tangent():
    def named(T):
        seen = []

        class C(T.autograd.Function):
            @staticmethod
            def forward(ctx, x, n):
                out = x * 2
                ctx.mark_non_differentiable(out)
                return x.clone(), out, n.clone()

            @staticmethod
            def jvp(ctx, x, n):
                seen.append(n)
                return x * 5, None, None

        def tangents(*args):
            ad = T.autograd.forward_ad
            with ad.dual_level():
                one, two, three = C.apply(ad.make_dual(args[0], args[1]), args[2])
                return [ad.unpack_dual(x) for x in (one, two, three, two * 3, one * two)]
        return {"tangents": tangents, "seen": seen, "args": (T.tensor([2.]), T.tensor([1.]), T.tensor([3]))}
    same("tangents(*args)", named)


if __name__ == "__main__":
    # `python -m tests.func.test_custom` writes the goldens: PyTorch's rules are gone in a process where other tests have been.
    import torch
    GOLDENS.write_text(json.dumps({f"{name}: {text}": answer(torch, text, named(torch, name)) for name, text in CASES}, indent=1) + "\n")
