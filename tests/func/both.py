"""Asks one expression of jtensor and of torch; the custom functions that expressions of more than one file call."""
import contextlib
import warnings

import pytest

import jtensor


def answer(T, text, names, shown=str):
    """What an expression in ``T`` and the names comes to, as text, or the exception's type and text. torch's warnings are passed over (its
    forward mode compiles something of its own), jtensor's are exceptions."""
    T.manual_seed(0)
    try:
        with contextlib.nullcontext() if T is jtensor else warnings.catch_warnings(action="ignore"):
            return shown(eval(text, {"T": T, **names}))
    except Exception as error:
        return type(error).__name__, str(error)


def same(text, named, shown=str):
    """Asserts that an expression comes to the same in both.

    ``named``: a function of the library that gives what the expression names; the list "seen" among it is compared, too.
    """
    torch, found = pytest.importorskip("torch"), []
    for T in (jtensor, torch):
        names = named(T)
        found.append((answer(T, text, names, shown), names.get("seen")))
    assert found[0] == found[1]


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
