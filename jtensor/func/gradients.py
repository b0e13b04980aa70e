"""`torch.func`'s gradients of functions: ``grad``, ``vjp``, ``jacrev`` and so on, by the autograd graph that the call records.

Each call differentiates with respect to inputs of its own: aliases of what is given where that needs a gradient itself, so that calls can
be nested, else fresh leaves. What comes out keeps its history only as far as it leads to something else than those leaves.
May not know: forward mode.
"""
import functools
import weakref

import jtensor

from ..trace.tape import LOCAL
from .batching import vmap
from .trees import apart, flatten, mapped, only_real, only_tensors, shown, structure

__all__ = ["grad", "grad_and_value", "jacrev", "vjp"]


_INNER = weakref.WeakValueDictionary()         # the leaves of all differentiations by their `id`


class _Level:
    """The inputs of one differentiation."""

    def __init__(self, lasting=False):
        self.recorded, self.leaves = jtensor.is_grad_enabled(), set()
        self.hanging = self.recorded or lasting                  # what is asked later may be recorded then

    def call(self, func, *args, **kwargs):
        """What the user's function answers; inside it PyTorch refuses ``backward()`` and ``requires_grad_()``; leaves are its own."""
        LOCAL.differentiated += self,
        try:
            return func(*args, **kwargs)
        finally:
            LOCAL.differentiated = LOCAL.differentiated[:-1]

    def enter(self, tree):
        """The tree with tensors to differentiate with respect to, and the list of these."""
        leaves, unflatten = flatten(tree)
        inner = [self._input(leaf) for leaf in leaves]
        return unflatten(inner), inner

    def _input(self, tensor):
        if not isinstance(tensor, jtensor.Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(tensor)}")
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if self.hanging and tensor.requires_grad:
            return tensor.view_as(tensor)
        made = tensor._detached()
        made._requires_grad = True
        self.leaves.add(made)
        _INNER[id(made)] = made
        return made

    def leave(self, tree, recorded=None):
        """Results as the caller sees them. ``recorded``: whether they keep their history, where that is not as it was at the beginning."""
        recorded = self.recorded if recorded is None else recorded
        return mapped(lambda x: self._seen(x, recorded) if isinstance(x, jtensor.Tensor) else x, tree)

    def _seen(self, tensor, recorded):
        if not tensor.requires_grad:
            return tensor
        return tensor if recorded and self._leads_out(tensor) else tensor._detached()

    def _hides(self, leaf):
        """Whether a leaf is nobody's any more when this has ended: its own, or that of one which ended before."""
        return leaf in self.leaves or _INNER.get(id(leaf)) is leaf and not any(leaf in level.leaves for level in LOCAL.differentiated)

    def _leads_out(self, tensor):
        """Whether the history ends anywhere but in this level's own leaves."""
        if tensor.grad_fn is None:
            return not self._hides(tensor)
        seen, left = set(), [tensor.grad_fn]
        while left:
            node = left.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            variable = getattr(node, "variable", None)
            if variable is not None and not self._hides(variable):
                return True
            left.extend(before for before, _ in node.next_functions)
        return False


def _of_tuple(found, tuple_wanted):
    return tuple(found) if tuple_wanted else found[0]


def _chosen(args, argnums):
    """(positions, whether a tuple of them was asked for)."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if argnums == ():
        raise RuntimeError("argnums must be non-empty")
    several = isinstance(argnums, tuple)
    for at in argnums if several else (argnums,):
        if not isinstance(at, int):
            raise RuntimeError(f"argnum must be int, got: {type(at)}")
        if not -len(args) <= at < len(args):
            raise RuntimeError(f"Got argnum={at}, but only {len(args)} positional inputs")
    places = [at % len(args) for at in (argnums if several else (argnums,))]
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(places)}")
    return places, several


def _entered(level, args, places):
    """The arguments with inputs of the level at these places: (arguments, for each place (inputs, how they nest))."""
    args, inputs = list(args), []
    for at in places:
        args[at], inner = level.enter(args[at])
        inputs.append((inner, flatten(args[at])[1]))
    return args, inputs


def _gradients(outputs, inputs, cotangents):
    """Gradients of all inputs, zeros where there is no way to one; they have a history of their own."""
    flat = [x for inner, _ in inputs for x in inner]
    live = [(out, ct) for out, ct in zip(outputs, cotangents) if out.requires_grad]
    found = jtensor.autograd.grad([out for out, _ in live], flat, [ct for _, ct in live], retain_graph=True, create_graph=True,
                                  allow_unused=True) if live else [None] * len(flat)
    flat = [jtensor.zeros_like(x) if g is None else g for x, g in zip(flat, found)]
    made, at = [], 0
    for inner, unflatten in inputs:
        made.append(unflatten(flat[at:at + len(inner)]))
        at += len(inner)
    return made


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that answers the gradient of ``func`` at its arguments, and its value (with ``has_aux`` that and the rest).

    >>> torch.func.grad_and_value(lambda x: (x**2).sum())(torch.tensor([1.0, 3.0]))
    (tensor([2., 6.]), tensor(10.))
    """
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        level = _Level()
        with jtensor.enable_grad():
            places, several = _chosen(args, argnums)
            args, inputs = _entered(level, args, places)
            out = level.call(func, *args, **kwargs)
            if has_aux:
                out, aux = apart(out, "grad_and_value(f)(*args)")
            if not isinstance(out, jtensor.Tensor):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}")
            if out.dim() != 0:
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                                   f"{out.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
            if out.is_complex():
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}")
            found = _of_tuple(_gradients([out], inputs, [jtensor.ones_like(out)]), several)
            found, out = level.leave(found), level.leave(out)
            return (found, (out, level.leave(aux))) if has_aux else (found, out)
    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that answers the gradient of ``func``, whose result is one number, with respect to its arguments ``argnums``.

    Arguments may be nests of tensors. With ``has_aux`` the function answers ``(number, rest)``, and the answer is ``(gradient, rest)``.

    >>> torch.func.grad(torch.func.grad(lambda x: x**3))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found
    return wrapper


def _differentiable(out):
    """What a function answered that Jacobians are taken of: (tensors, how they nest)."""
    outputs, unflatten = flatten(out)
    only_tensors(outputs, "vjp(f, *primals)")
    for x in outputs:
        if not (x.is_floating_point() or x.is_complex()):
            raise RuntimeError(f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {x.dtype}")
    return outputs, unflatten


def vjp(func, *primals, has_aux=False):
    """The function's result at the primals, and a function from cotangents of the result to a tuple of gradients of the primals.

    >>> out, pull = torch.func.vjp(torch.sin, torch.tensor(0.0))
    >>> out, pull(torch.tensor(2.0))
    (tensor(0.), (tensor(2.),))
    """
    level = _Level(lasting=True)
    with jtensor.enable_grad():
        args, inputs = _entered(level, primals, range(len(primals)))
        out = level.call(func, *args)
        if has_aux:
            out, aux = apart(out, "vjp(f, *primals)")
        outputs, _ = _differentiable(out)
        nested = structure(out)

    def pull(cotangents, retain_graph=True, create_graph=None):
        given, _ = flatten(cotangents)
        if structure(cotangents) != nested:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                               f"cotangents: {shown(cotangents)}, primal output: {shown(out)}")
        recorded = jtensor.is_grad_enabled()
        with jtensor.enable_grad():
            return tuple(level.leave(_gradients(outputs, inputs, given), recorded))
    answer = level.leave(out), pull
    return (*answer, level.leave(aux)) if has_aux else answer


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that answers the Jacobian of ``func``, one row for each element of its result.

    ``chunk_size``: how many rows are computed at a time (None: all).

    >>> torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    @functools.wraps(func)
    def wrapper(*args):
        if chunk_size is not None and chunk_size <= 0:
            raise ValueError("jacrev: `chunk_size` should be greater than 0.")
        only_real(args, "jacrev", "inputs")
        level = _Level()
        with jtensor.enable_grad():
            places, several = _chosen(args, argnums)
            args, inputs = _entered(level, args, places)
            out = level.call(func, *args)
            if has_aux:
                out, aux = apart(out, "vjp(f, *primals)")
            outputs, unflatten = _differentiable(out)
            only_real(outputs, "jacrev", "outputs")
            found = level.leave(unflatten([_of_tuple(_rows(x, inputs, chunk_size), several) for x in outputs]))
            return (found, level.leave(aux)) if has_aux else found
    return wrapper


def _rows(out, inputs, chunk_size):
    """For each nest of inputs the nest of Jacobians of one tensor, its own dimensions first: by one backward for a batch of rows, or one
    for each where ``chunk_size`` is 1."""
    flat, count = [x for inner, _ in inputs for x in inner], out.numel()

    def row(cotangent):
        return [g for tree in _gradients([out], inputs, [cotangent]) for g in flatten(tree)[0]]
    basis = jtensor.eye(count, dtype=out.dtype, device=out.device).view(count, *out.shape)
    if not count:
        found = [x.new_zeros((0, *x.shape)) for x in flat]
    elif chunk_size == 1:
        found = [jtensor.stack(column) for column in zip(*map(row, basis.unbind()), strict=True)]
    else:
        found = vmap(row, chunk_size=chunk_size)(basis)
    shaped = iter([g.view(*out.shape, *x.shape) for g, x in zip(found, flat, strict=True)])
    return [unflatten([next(shaped) for _ in inner]) for inner, unflatten in inputs]
