"""`torch.func`'s differentiation forwards: ``jvp``, ``jacfwd``, ``linearize``, and ``hessian``, which needs both ways.

The function runs once, on tensors whose values have a tangent (`tensor.lifted.duals`). May not know: how the tangent of an operation is
found.
"""
import functools

import jtensor

from ..ops.tangents import Dual
from ..tensor.lifted.duals import is_dual, made_dual, primal_of, tangent_of
from ..tensor.lifted.levels import open_levels, opened
from .batching import vmap
from .gradients import _chosen, _of_tuple, jacrev, vjp
from .trees import apart, flatten, only_real, only_tensors, structure

__all__ = ["hessian", "jacfwd", "jvp", "linearize"]


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """The function's result at the primals, and its derivative in the direction of the tangents: a pair of the same nests.

    ``primals`` and ``tangents``: tuples of equal nests of tensors. With ``has_aux`` the function answers ``(result, rest)``, and the answer
    is ``(result, derivative, rest)``. ``strict``: ``RuntimeError`` for a result that does not depend on the primals, whose derivative is
    zeros otherwise.

    >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_API}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    given, unflatten = flatten(primals)
    directions, _ = flatten(tangents)
    if structure(primals) != structure(tangents):
        raise RuntimeError(f"{_API}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple "
                           f"of 3 tensors, tangents also must be. Got primals with structure {structure(primals)} and tangents with "
                           f"structure {structure(tangents)}")
    _only_tensors(given, "primals")
    _only_tensors(directions, "tangents")
    level = Dual(len(open_levels()) + 1)
    try:
        with opened(level):
            out = func(*unflatten([made_dual(level, p, t) for p, t in zip(given, directions, strict=True)]))
            out, aux = apart(out, _API) if has_aux else (out, None)
            outputs, rebuilt = flatten(out)
            _depend(level, outputs, strict)
            aux = _without(level, aux)
        values = rebuilt([primal_of(level, x) for x in outputs])
        derivatives = rebuilt([jtensor.zeros_like(x) if (t := tangent_of(level, x)) is None else t for x in outputs])
    finally:
        level.closed = True
    return (values, derivatives, aux) if has_aux else (values, derivatives)


_API = "jvp(f, primals, tangents)"


def _depend(level, outputs, strict):
    only_tensors(outputs, _API)
    for x in outputs:
        if strict and not is_dual(level, x):
            raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
                               "with strict=True.")


def _only_tensors(leaves, what):
    for x in leaves:
        if not isinstance(x, jtensor.Tensor):
            raise RuntimeError(f"{_API}: Expected {what} to only contain Tensors, got {type(x)}")
    if not leaves:
        raise RuntimeError(f"{_API}: Expected {what} to contain at least one Tensor.")


def _without(level, tree):
    leaves, unflatten = flatten(tree)
    return unflatten([primal_of(level, x) if isinstance(x, jtensor.Tensor) else x for x in leaves])


def linearize(func, *primals):
    """The function's result at the primals, and its derivative there as a function of tangents, which does not call ``func`` again.

    >>> value, push = torch.func.linearize(torch.sin, torch.tensor(0.0))
    >>> value, push(torch.tensor(2.0))
    (tensor(0.), tensor(2.))
    """
    given, unflatten = flatten(primals)
    _only_tensors(given, "primals")
    out, pull = vjp(func, *primals)
    outputs, rebuilt = flatten(out)
    weights = [jtensor.zeros_like(x) for x in outputs]
    _, push = vjp(lambda *cotangents: flatten(pull(rebuilt(list(cotangents))))[0], *weights)      # linear in these

    def pushed(*tangents):
        directions, _ = flatten(tangents)
        if structure(tangents) != structure(primals):
            raise RuntimeError(f"Expected the tangents {structure(tangents)} to have the same argspec as the primals {structure(primals)}")
        _alike(given, directions)
        return rebuilt(list(push(directions)))
    return out, pushed


def _alike(primals, tangents):
    for at, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        for what in ("shape", "device", "dtype"):
            mine, wanted = getattr(tangent, what), getattr(primal, what)
            if mine != wanted:
                raise RuntimeError(f"tangent:{at} with {what} {mine!r} in flattened pytree doesn't match the {what} {wanted!r} of the "
                                   "corresponding primal.")


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that answers the Jacobian of ``func``, one column for each element of its arguments ``argnums``, found forwards.

    ``randomness``: as for `vmap`. Right for functions with more results than arguments; `jacrev` for the others.

    >>> torch.func.jacfwd(lambda x: x**2)(torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    @functools.wraps(func)
    def wrapper(*args):
        only_real(args, "jacfwd", "inputs")
        places, several = _chosen(args, argnums)
        chosen = tuple([args[at] for at in places])
        inputs, unflatten = flatten(chosen)
        _only_tensors(inputs, "primals")

        def called(*given):
            full = list(args)
            for at, x in zip(places, given, strict=True):
                full[at] = x
            return func(*full)

        def column(*directions):
            found = jvp(called, chosen, unflatten(directions), has_aux=has_aux)
            only_real(found[1], "jacfwd", "outputs")
            return found[1:] if has_aux else found[1]
        pushed = vmap(column, randomness=randomness, out_dims=(0, None) if has_aux else 0)
        found = pushed(*basis(inputs))
        found, aux = found if has_aux else (found, None)
        columns, rebuilt = flatten(found)
        jacobians = []
        for column in columns:
            parts = column.movedim(0, -1).split([x.numel() for x in inputs], dim=-1)
            shaped = [part.reshape(*column.shape[1:], *x.shape) for part, x in zip(parts, inputs, strict=True)]
            jacobians.append(_of_tuple(unflatten(shaped), several))
        jacobians = rebuilt(jacobians)
        return (jacobians, aux) if has_aux else jacobians
    return wrapper


def basis(inputs):
    """For each input the directions along all elements of all inputs, in its own shape: a row each."""
    total, begin, made = sum(x.numel() for x in inputs), 0, []
    for x in inputs:
        rows = x.new_zeros(total, x.numel())
        rows.diagonal(-begin)[:x.numel()] = 1
        made.append(rows.view(total, *x.shape))
        begin += x.numel()
    return made


def hessian(func, argnums=0):
    """A function that answers the matrix of second derivatives of ``func``: `jacfwd` of `jacrev`.

    >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
