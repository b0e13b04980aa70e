"""A custom `Function` inside of a level: its ``vmap`` and ``jvp``, or what is made of its ``forward`` where that is allowed.

May not know: how a custom function is run otherwise, and made part of the graph (`custom`).
"""
from typing import NamedTuple

from ..autograd.function import Function
from ..ops.tangents import Dual
from ..storage.lifted import LIFTED_MEMORY
from ..trace.lifted import levels_of, serial
from .core import Tensor
from .creating.create import zeros_like_spec
from .lifted.batching import is_of, put_together, taken_apart
from .lifted.duals import is_dual, made_dual, primal_of, tangent_of
from .lifted.levels import open_levels
from .values import read, write_at

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What ``vmap`` of a custom function is told: the batch's size and what drawing numbers means."""

    batch_size: int
    randomness: str


def level_among(args):
    """The innermost level that an argument is of, which counts for a custom function; or None."""
    found = [level for a in args if isinstance(a, Tensor) and a._storage.host is LIFTED_MEMORY for level in levels_of(a._storage.value)
             if level.extra or not level.closed]
    return max(found, key=serial, default=None)


def applied(cls, level, args, run):
    """``cls.apply(*args)`` where an argument is of the level; ``run`` is `custom._run`."""
    separate = cls.setup_context is not Function.setup_context
    if not separate and not (isinstance(level, Dual) and level.plain):
        raise RuntimeError("In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
                           f"override the setup_context staticmethod. {_MORE}")
    return _pushed(cls, level, args, run) if isinstance(level, Dual) else _mapped(cls, level, args, run)


# -- batches ----------------------------------------------------------------------------------------------------------


def _mapped(cls, level, args, run):
    ruled = cls.vmap is not Function.vmap
    if ruled and cls.generate_vmap_rule:
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
                           "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
                           f"ambiguity. {_MORE}")
    if not ruled:
        if not cls.generate_vmap_rule:
            raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
                               f"the vmap staticmethod or set generate_vmap_rule=True. {_MORE}")
        return run(cls, args)
    return run(cls, args, lambda *args: _by_rule(cls, level, args))


def _by_rule(cls, level, args):
    """What ``vmap`` makes of whole tensors, outside of the level; its history is that of ``forward``: the function's own backward."""
    from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten
    leaves, nested = tree_flatten(args)
    mine = [isinstance(a, Tensor) and is_of(level, a) for a in leaves]
    whole = nested.unflatten([put_together(level, a) if flag else a for a, flag in zip(leaves, mine, strict=True)])
    where = nested.unflatten([0 if flag else None for flag in mine])
    levels = open_levels()
    at = levels.index(level) if level in levels else None
    if at is not None:
        levels.pop(at)
    try:
        found = cls.vmap(VmapInfo(level.size, level.randomness), where, *whole)
    finally:
        if at is not None:
            levels.insert(at, level)
    if not isinstance(found, tuple) or len(found) != 2:
        got = f"{len(found)} returns" if isinstance(found, tuple) else f"a {type(found)}"
        raise RuntimeError("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
                           f"with the output. Got {got} instead")
    out, dims = found
    leaves, nested = tree_flatten(out)
    spread = _broadcast_to_and_flatten(dims, nested)
    if spread is None:
        raise RuntimeError("The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
                           f"out_dims={dims} to be compatible with the structure of `output`. out_dims has structure "
                           f"{tree_flatten(dims)[1]} but output has structure {nested}. {_MORE}")
    return nested.unflatten([_slice(level, x, dim) for x, dim in zip(leaves, spread, strict=True)])


def _slice(level, x, dim):
    return x if dim is None or not isinstance(x, Tensor) else taken_apart(level, x.movedim(dim, 0) if dim else x)


# -- tangents ---------------------------------------------------------------------------------------------------------


def _pushed(cls, level, args, run):
    """``forward`` runs on tensors with tangents, as what its ``backward`` will see; the tangents of its results are those of ``jvp``."""
    if cls.jvp is Function.jvp:
        cls.jvp(None)

    def after(ctx, given):
        tangents = [None if not isinstance(a, Tensor) else tangent_of(level, a) if is_dual(level, a)
                    else zeros_like_spec(a._spec) if ctx.materialize_grads and a._spec.dtype.differentiable else None for a in args]
        kept = ctx.saved_for_forward
        ctx.saved_for_forward, ctx.forwards = kept and tuple([t if t is None else primal_of(level, t) for t in kept]), True
        try:
            found = cls.jvp(ctx, *tangents)
        finally:
            ctx.saved_for_forward, ctx.forwards = kept, False
        results, found = [list(x) if isinstance(x, (tuple, list)) else [x] for x in (given, found)]
        if len(results) != len(found):
            raise RuntimeError(f"The number of tangents that jvp of {cls.__name__} answers ({len(found)}) is not that of the results of "
                               f"its forward ({len(results)})")
        fixed = ctx.non_differentiable or ()
        for at, (x, tangent) in enumerate(zip(results, found, strict=True)):
            constant = any(x is t for t in fixed)
            if tangent is not None and (constant or not isinstance(x, Tensor)):
                raise RuntimeError(f"Function's jvp returned a gradient at position {at}, but  the corresponding forward output is not a "
                                   "differentiable Tensor.You should return None at that position instead.")
            if constant and is_dual(level, x):
                x._storage.set(write_at(x._storage, x._spec, x._offset, read(primal_of(level, x))))
            elif not constant and isinstance(x, Tensor) and x._spec.dtype.differentiable and not any(x is a for a in args):
                _retangent(level, x, tangent)
    return run(cls, args, None, after)


def _retangent(level, tensor, tangent):
    """Gives a tensor another tangent in its place; zeros for None.

    What ``forward`` put on ``ctx`` itself had tangents, and so has what ``jvp`` made of it: a tangent has none.
    """
    primal = primal_of(level, tensor)
    made = made_dual(level, primal, zeros_like_spec(tensor._spec) if tangent is None else primal_of(level, tangent))
    tensor._storage.set(write_at(tensor._storage, tensor._spec, tensor._offset, read(made)))
