"""Operators on masked tensors, as they are asked below autograd.

Owns: those that neither go element by element nor reduce, and the table {name of an operator: what answers it}. What is not in it is
refused with PyTorch's error. May not know: who asks.
"""
import jtensor

from . import elementwise, reductions
from .answering import _MaskedContiguous, checked
from .core import MaskedTensor, data_of, is_masked_tensor, mapped, mask_of, masks_match, wrapped

# Operators that are applied to the data and to the mask alike.
PASSTHROUGH = """select transpose split t slice slice_backward select_backward index expand view _unsafe_view _reshape_alias cat unsqueeze
    unfold unfold_backward im2col col2im stack""".split()


def _to_both(func, *args, **kwargs):
    parts = []
    for part in (data_of, mask_of):
        given, named = mapped(args, kwargs, part)
        parts.append(func(*given, **named))
    return wrapped(*parts)


def _prefix(func):
    return f"__torch_dispatch__, {func}"


def _contiguous(func, *args, **kwargs):
    if data_of(args[0]).is_sparse:
        raise ValueError("MaskedTensors with sparse data do not have contiguous")
    return _MaskedContiguous.apply(args[0])


def _new_empty_strided(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 3)
    data = data_of(args[0])
    for at, name, value in ((1, "size", data.size()), (2, "stride", data.stride())):
        if tuple(args[at]) != tuple(value):
            raise ValueError(f"{_prefix(func)}: args[{at}] expected to be the same as data.{name}()")
    return MaskedTensor(func(data, args[1], args[2], **kwargs), mask_of(args[0]))


def _local_scalar_dense(func, *args, **kwargs):
    if not mask_of(args[0]):
        raise ValueError(f"{_prefix(func)}: expected a mask tensor")
    return data_of(args[0]).item()


def _to_data(func, *args, **kwargs):
    return MaskedTensor(func(data_of(args[0])), mask_of(args[0]))


def _to_copy(func, *args, **kwargs):
    data = func(data_of(args[0]), *args[1:], **kwargs)
    return MaskedTensor(data, func(mask_of(args[0]), *args[1:], **{**kwargs, "dtype": jtensor.bool}))


def _softmax(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 3, 0)
    data, mask = data_of(args[0]), mask_of(args[0])
    there = data.masked_fill(~mask, float("-inf"))
    return MaskedTensor(jtensor.softmax(there, args[1]).masked_fill(~mask, 0), mask)


def _softmax_backward_data(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 4)
    grad, output, dim, _ = args
    if not is_masked_tensor(grad) or not is_masked_tensor(output):
        raise ValueError(f"{_prefix(func)}: grad and output must both be MaskedTensors")
    if not masks_match(grad, output):
        raise ValueError(f"{_prefix(func)}: expected the masks of grad and output to match")
    mask, result = mask_of(grad), data_of(output)
    given = data_of(grad)
    total = (given * result).masked_fill(~mask, 0).sum(dim, keepdim=True)
    return MaskedTensor(((given - total) * result).masked_fill(~mask, 0), mask)


def _ones_like(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 1)
    return MaskedTensor(func(data_of(args[0]), **kwargs), mask_of(args[0]))


def _copy_(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 2)
    func(data_of(args[0]), data_of(args[1]))                      # PyTorch, too, compares no masks here, though it means to
    return args[0]


def _where(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 3, 0)
    condition, *both = args
    if not jtensor.is_tensor(condition):
        raise ValueError(f"{_prefix(func)}: expected args[0] to be a tensor")
    both = [one if is_masked_tensor(one) else MaskedTensor(one, jtensor.ones_like(one, dtype=jtensor.bool)) for one in both]
    return MaskedTensor(func(condition, *map(data_of, both)), func(condition, *map(mask_of, both)))


def _to_sparse(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 1, 0)
    data, mask = data_of(args[0]), mask_of(args[0])
    if data.layout == jtensor.sparse_coo:
        return args[0]
    mask = func(mask).coalesce()
    return MaskedTensor(data.sparse_mask(mask), mask)


def _to_sparse_csr(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 1, 0)
    data, mask = data_of(args[0]), func(mask_of(args[0]))
    return args[0] if data.layout == jtensor.sparse_csr else MaskedTensor(data.sparse_mask(mask), mask)


def _to_dense(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 1, 0)
    return MaskedTensor(func(data_of(args[0])), func(mask_of(args[0])))


def _is_same_size(func, *args, **kwargs):
    checked(args, kwargs, _prefix(func), 2)
    return data_of(args[0]).is_same_size(data_of(args[1]))


TABLE = {
    **dict.fromkeys(reductions.NAMES, reductions.operator), **dict.fromkeys(PASSTHROUGH, _to_both),
    **dict.fromkeys(elementwise.UNARY + elementwise.UNARY_IN_PLACE, elementwise.unary),
    **dict.fromkeys(elementwise.BINARY + elementwise.BINARY_IN_PLACE, elementwise.binary),
    "contiguous": _contiguous, "new_empty_strided": _new_empty_strided, "_local_scalar_dense": _local_scalar_dense, "detach": _to_data,
    "clone": _to_data, "_to_copy": _to_copy, "_softmax": _softmax, "_softmax_backward_data": _softmax_backward_data,
    "ones_like": _ones_like, "copy_": _copy_, "where": _where, "is_same_size": _is_same_size,
    "_to_sparse": _to_sparse, "_to_sparse_csr": _to_sparse_csr, "_to_dense": _to_dense}
