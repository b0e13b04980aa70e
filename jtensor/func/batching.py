"""`torch.vmap`: a function of single tensors, called once for all the tensors of a batch.

Owns: the arguments of `vmap`, which nest of dimensions fits which nest of tensors, and PyTorch's messages about both. The function runs
once, on tensors whose values are lifted (`tensor.lifted.batching`). May not know: how an operation is done for a batch (`trace.batches`).
"""
import functools

import jtensor

from ..random.batched import put_doors
from ..tensor.lifted.batching import is_of, put_together, taken_apart
from ..tensor.lifted.levels import open_levels, opened
from ..trace.batches import Batch
from .trees import flatten, spread_over, structure

__all__ = ["vmap"]
_RANDOMNESS = ("error", "different", "same")


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls ``func`` once for all slices of its inputs along ``in_dims``, and puts its results together along ``out_dims``.

    ``in_dims``: a dimension for all inputs, or a nest of dimensions like the tuple of inputs; None: the input is the same for all slices.
    ``out_dims``: likewise of the results. ``randomness``: whether numbers drawn inside are an "error", or "same" or "different" for the
    slices. ``chunk_size``: how many slices are computed at a time (None: all). Inside, a tensor has the shape of one slice; looking at its
    values raises ``RuntimeError``.

    >>> torch.vmap(torch.dot)(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 1.0], [1.0, 2.0]]))
    tensor([ 3., 11.])
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def mapped(*args, **kwargs):
        leaves, dims, unflatten, size = _inputs(func, in_dims, args)
        if chunk_size is None or chunk_size >= size:
            return run(func, leaves, dims, unflatten, size, out_dims, randomness, kwargs)
        return _chunked(func, leaves, dims, unflatten, size, out_dims, randomness, kwargs, chunk_size)
    return functools.wraps(func)(mapped) if hasattr(func, "__name__") else mapped


def _name(func):
    return func.__name__ if hasattr(func, "__name__") else repr(func)


# -- inputs -----------------------------------------------------------------------------------------------------------


def _inputs(func, in_dims, args):
    """(inputs in a row, the dimension of each or None, how they nest, the size of the batch)."""
    name = _name(func)
    said = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(f"{said}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
                         f"{type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
                         "function with no inputs. The latter is unsupported.")
    leaves, unflatten = flatten(args)
    dims = spread_over(in_dims, args)
    if dims is None:
        raise ValueError(f"{said}in_dims is not compatible with the structure of `inputs`. in_dims has structure {structure(in_dims)} but "
                         f"inputs has structure {structure(args)}.")
    dims = [_checked(said, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
                         "dimension")
    return leaves, dims, unflatten, sizes[0]


def _checked(said, leaf, dim):
    """The dimension of an input, counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(f"{said}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None.")
    if not isinstance(leaf, jtensor.Tensor):
        raise ValueError(f"{said}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
                         "arguments, please use None as the respective in_dim")
    rank = leaf.dim()
    if not -rank <= dim < rank:
        raise ValueError(f"{said}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {rank} so expected in_dim "
                         f"to satisfy -{rank} <= in_dim < {rank}.")
    return dim % rank


# -- the call ---------------------------------------------------------------------------------------------------------


def run(func, leaves, dims, unflatten, size, out_dims, randomness, kwargs, quiet=False):
    """The results of one call for a batch. ``quiet``: as `Level` has it."""
    put_doors()
    entered = []
    with opened(Batch(size, randomness, len(open_levels()) + 1, quiet)) as level:
        inner = []
        for leaf, dim in zip(leaves, dims, strict=True):
            if dim is not None:
                outer = leaf.movedim(dim, 0) if dim else leaf
                given, leaf = leaf, taken_apart(level, outer)
                entered.append((outer, leaf, leaf._version, given, dim))
            inner.append(leaf)
        out = func(*unflatten(inner), **kwargs)
    for outer, tensor, version, _, _ in entered:
        if tensor._version != version:                     # written to inside: so is what it was taken of
            outer.copy_(put_together(level, tensor))
    return _results(func, level, out, out_dims, {id(tensor): (given, dim) for _, tensor, _, given, dim in entered})


def _results(func, level, out, out_dims, entered):
    name = _name(func)
    outputs, unflatten = flatten(out)
    if not isinstance(out_dims, int):
        listed = [out_dims] if out_dims is None else flatten(out_dims)[0]
        if any(not (dim is None or isinstance(dim, int)) for dim in listed):
            raise ValueError(f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
                             "representing where in the outputs the vmapped dimension should appear.")
    dims = spread_over(out_dims, out)
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(out, jtensor.Tensor):
        dims = list(out_dims)
    if dims is None:
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
                         f"out_dims has structure {structure(out_dims)} but outputs has structure {structure(out)}.")
    return unflatten([_result(name, level, x, dim, entered) for x, dim in zip(outputs, dims, strict=True)])


def _result(name, level, x, dim, entered):
    """A result as the caller sees it: an input that is answered as it was is that input. ``entered``: {id: (input, its dimension)}."""
    if dim is None:
        if isinstance(x, jtensor.Tensor) and is_of(level, x):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return x
    if not isinstance(x, jtensor.Tensor):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you mean to set out_dims= to None "
                         "for output?")
    if id(x) in entered:
        given, was = entered[id(x)]
        return given if dim in (was, was - given.dim()) else given.movedim(was, dim)
    return put_together(level, x).movedim(0, dim) if dim else put_together(level, x)


def _chunked(func, leaves, dims, unflatten, size, out_dims, randomness, kwargs, chunk_size):
    """The same in pieces, whose results are joined along ``out_dims``."""
    pieces, state = [], jtensor.get_rng_state() if randomness == "same" else None
    for begin in range(0, size, chunk_size):
        if state is not None:                              # the same numbers for all pieces, too
            jtensor.set_rng_state(state)
        count = min(chunk_size, size - begin)
        part = [leaf if dim is None else leaf.narrow(dim, begin, count) for leaf, dim in zip(leaves, dims, strict=True)]
        pieces.append(run(func, part, dims, unflatten, count, out_dims, randomness, kwargs))
    rows = [flatten(piece)[0] for piece in pieces]
    joined = []
    for column, dim in zip(zip(*rows, strict=True), spread_over(out_dims, pieces[0]), strict=True):
        joined.append(column[0] if dim is None else jtensor.cat(column, dim))
    return flatten(pieces[0])[1](joined)
