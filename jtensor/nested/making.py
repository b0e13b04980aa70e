"""How nested tensors are made: of lists, of dense tensors and offsets, of masks.

Owns: the functions of ``torch.nested``. May not know: operations.
"""
import jtensor

from ..base.errors import missing
from ..tensor.core import Tensor
from .graph import as_nested
from .lengths import NestedInt, told


def _refuse_layout(layout, what):
    return RuntimeError(f"Specified layout is unsupported for nested {what}: {layout}")


def nested_tensor(tensor_list, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A nested tensor with a copy of the data, a leaf.

    ``tensor_list``: tensors, or what `torch.tensor` takes, of as many dimensions; with ``layout=torch.jagged`` they may differ in the
    length of one dimension. ``RuntimeError`` for an empty list, tensors of several types, or ones that differ in more.

    >>> import jtensor as torch
    >>> x = torch.nested.nested_tensor([[1., 2.], [3.]], layout=torch.jagged)
    >>> x.dim(), x.offsets()
    (2, tensor([0, 2, 3]))
    >>> (x * 2).to_padded_tensor(0.)
    tensor([[2., 4.],
            [6., 0.]])
    """
    if layout in (None, jtensor.strided):
        from .strided import from_data
        return from_data(tensor_list, dtype, device, requires_grad, pin_memory)
    if layout is not jtensor.jagged:
        raise _refuse_layout(layout, "tensors")
    with jtensor.no_grad():
        made = from_list([x if isinstance(x, Tensor) else jtensor.as_tensor(x) for x in tensor_list], dtype, device)
    made.requires_grad_(requires_grad)
    return made.pin_memory() if pin_memory else made


def as_nested_tensor(ts, dtype=None, device=None, layout=None):
    """A nested tensor of a list of tensors, which are copied, or of a dense tensor, whose rows become the parts; gradients go to them.

    A nested tensor is answered as it is, unless its type or device is another one.

    >>> import jtensor as torch
    >>> a, b = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    >>> (torch.nested.as_nested_tensor([a, b], layout=torch.jagged) * 2).sum().backward()
    >>> a.grad
    tensor([2., 2.])
    """
    several = isinstance(ts, (list, tuple)) and all(isinstance(x, Tensor) for x in ts)
    if not isinstance(ts, Tensor) and not several:
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if isinstance(ts, Tensor) and ts.dim() < 2:
        raise RuntimeError("as_nested_tensor(): Expected tensor argument to have dim() > 1")
    if isinstance(ts, Tensor) and ts.is_nested:
        if layout != ts.layout:
            raise RuntimeError("as_nested_tensor(): Converting between nested tensor layouts is not supported")
        wanted = {name: given for name, given in (("dtype", dtype), ("device", device)) if given is not None}
        return ts.to(**wanted) if wanted else ts
    if layout in (None, jtensor.strided):
        from . import strided
        return strided.of_dense(ts, dtype, device) if isinstance(ts, Tensor) else strided.of_list(list(ts), dtype, device)
    if layout is not jtensor.jagged:
        raise _refuse_layout(layout, "tensors")
    if not isinstance(ts, Tensor):
        return from_list(list(ts), dtype, device)
    values = _converted(ts.contiguous().flatten(0, 1), dtype, device)
    batch, length = ts.shape[:2]
    if not length:
        raise RuntimeError("step must be nonzero")
    bounds = range(0, batch * length + 1, length)
    offsets = told(jtensor.tensor(list(bounds), device=values.device, dtype=jtensor.int64), bounds)
    return as_nested(values, offsets, cache={"min_seqlen": length, "max_seqlen": length})


def _converted(x, dtype, device):
    wanted = {name: given for name, given in (("dtype", dtype), ("device", device)) if given is not None}
    return x.to(**wanted) if wanted else x


_SAME = "When constructing a nested tensor, all tensors in list must {}"


def from_list(tensors, dtype=None, device=None):
    """The nested tensor in the jagged layout of a list, with history."""
    if not tensors:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    first = tensors[0]
    if any(x.dtype is not first.dtype for x in tensors):
        raise RuntimeError(_SAME.format("have the same dtype"))
    if any(x.device != first.device for x in tensors):
        raise RuntimeError(_SAME.format("be on the same device"))
    if any(x.dim() != first.dim() for x in tensors):
        raise RuntimeError(_SAME.format("have the same dim"))
    if not first.dim():
        raise RuntimeError("Cannot construct a nested tensor from a list of zero-dim tensors")
    differing = [at for at in range(first.dim()) if any(x.shape[at] != first.shape[at] for x in tensors)]
    if len(differing) > 1:
        raise RuntimeError("Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout only "
                           "allows for a single ragged dimension. For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim.")
    at = differing[0] if differing else 0
    lengths = [x.shape[at] for x in tensors]
    values = _converted(jtensor.cat(tensors, at), dtype, device)
    bounds = [0]
    for length in lengths:
        bounds.append(bounds[-1] + length)
    offsets = told(jtensor.tensor(bounds, dtype=jtensor.int64, device=values.device), bounds)
    return as_nested(values, offsets, None, at + 1, {"min_seqlen": min(lengths), "max_seqlen": max(lengths)})


def nested_tensor_from_jagged(values, offsets=None, lengths=None, jagged_dim=None, min_seqlen=None, max_seqlen=None):
    """A nested tensor on the memory of ``values``, where the parts are joined along one dimension.

    ``offsets`` ``(B + 1,)``: where the parts begin and the last one ends; ``lengths`` ``(B,)``: how long they are, with offsets if there
    are holes between them, or without; ``jagged_dim``: the dimension of the result in which the parts differ, 1 by default;
    ``min_seqlen``, ``max_seqlen``: of the lengths, if they are known.

    >>> import jtensor as torch
    >>> x = torch.nested.nested_tensor_from_jagged(torch.arange(6.), torch.tensor([0, 2, 3, 6]))
    >>> x.unbind()[2]
    tensor([3., 4., 5.])
    """
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets, lengths = jtensor.nn.functional.pad(lengths.cumsum(0), (1, 0)), None
    if jagged_dim is not None and jagged_dim < 1:
        raise ValueError(f"Expected jagged_dim >=1, but got {jagged_dim}.")
    return as_nested(values, offsets, lengths, jagged_dim or 1, known(min_seqlen, max_seqlen))


def known(shortest, longest):
    """What is known of the lengths, as nested tensors keep it."""
    return {name: value for name, value in (("min_seqlen", shortest), ("max_seqlen", longest)) if value is not None}


def narrow(tensor, dim, start, length, layout=None):
    """A nested tensor of pieces of the rows of a dense one: from ``start`` on, ``length`` long.

    With ``layout=torch.jagged`` both may be tensors ``(B,)``, ``dim`` is 1, and the result lies on the memory of ``tensor``; else they are
    integers, and it is a copy.

    >>> import jtensor as torch
    >>> x = torch.nested.narrow(torch.arange(8.).reshape(2, 4), 1, torch.tensor([0, 1]), torch.tensor([1, 3]), layout=torch.jagged)
    >>> x.unbind()
    (tensor([0.]), tensor([5., 6., 7.]))
    """
    for name, given in (("start", start), ("length", length)):
        if not isinstance(given, (int, Tensor, NestedInt)):
            raise RuntimeError(f"{name} must be an integer or a tensor")
    if layout in (None, jtensor.strided):
        if isinstance(start, Tensor) or isinstance(length, Tensor):
            raise RuntimeError("start and length must be integers for the strided layout NT impl")
        return as_nested_tensor(jtensor.unbind(tensor), layout=jtensor.strided).narrow(dim, start, length)
    if layout is not jtensor.jagged:
        raise _refuse_layout(layout, "narrow")
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    start, length = [jtensor.tensor([x], dtype=jtensor.int64, device=tensor.device) if isinstance(x, int) else x for x in (start, length)]
    return _pieces_of_rows(tensor, start, length)


def _pieces_of_rows(tensor, start, length):
    batch = tensor.shape[0]
    if any(x.dim() > 1 or x.dim() == 1 and x.shape[0] not in (1, batch) for x in (start, length)):
        raise RuntimeError("When constructing a jagged nested tensor using narrow(), your start and length must be Tensors that broadcast "
                           "to input.shape[0]")
    if tensor.dim() < 2:
        raise AssertionError("tensor must at least be 2D for the nested narrow op to work")
    start, length = start.expand(batch), length.expand(batch)
    count = tensor.shape[1]
    begins = start + count * jtensor.arange(batch, dtype=jtensor.int64, device=tensor.device)
    offsets = jtensor.cat([begins, (begins[-1] + length[-1])[None]])
    values = tensor.view(-1, *tensor.shape[2:])
    at, lengths = offsets.tolist(), length.tolist()
    cache = known(min(lengths), max(lengths))
    inner = [b - a for a, b in zip(at[1:-2], at[2:-1], strict=True)]
    if any(n != count for n in lengths[1:-1]) or any(n != count for n in inner) or at[0] + lengths[0] != count:
        return as_nested(values, offsets, length, cache=cache)
    return as_nested(values[at[0]:at[-1]], offsets - offsets[0], cache=cache)


def masked_select(tensor, mask):
    """The elements of a dense tensor where ``mask`` is True, as a nested tensor ``(rows, j1)``: of each row along the last dimension.

    >>> import jtensor as torch
    >>> torch.nested.masked_select(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([[True, True], [False, True]])).unbind()
    (tensor([1., 2.]), tensor([4.]))
    """
    if tensor.layout != jtensor.strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided tensor, given {tensor.layout}")
    if mask.layout != jtensor.strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided mask, given: {mask.layout}")
    values = tensor.masked_select(mask)
    lengths = mask.expand(tensor.shape).sum(tensor.ndim - 1).view(-1)
    return as_nested(values, jtensor.nn.functional.pad(lengths.cumsum(0), (1, 0)))


def to_padded_tensor(input, padding, output_size=None, out=None):
    """A nested tensor as a dense one, a copy: the parts are filled up with ``padding`` to the longest length, or to ``output_size``.

    >>> import jtensor as torch
    >>> torch.nested.to_padded_tensor(torch.nested.nested_tensor([[1.], [2., 3.]], layout=torch.jagged), -1.)
    tensor([[ 1., -1.],
            [ 2.,  3.]])
    """
    if out is not None:
        raise missing("out= of nested tensors", "the result")
    return input.to_padded_tensor(padding, output_size)

