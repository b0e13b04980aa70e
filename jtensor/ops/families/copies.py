"""Pieces cut along the first dimensions, and the copying twins of views: ``view_copy``, ``unbind_copy`` and so on.

Owns: composites over the public views; their graph is the view's node and a copy's. May not know: tensors as objects.
"""
from functools import partial
from operator import index

from ...base import dtypes
from ..registry import composite
from .composing import put_out
from .numeric import wrap_dim


def _pieces(input, rule, cuts):
    from ...tensor.viewing.pieces import _each
    cuts = cuts.tolist() if hasattr(cuts, "_spec") else cuts
    cuts = tuple(map(index, cuts)) if isinstance(cuts, (tuple, list)) else cuts
    return _each(input, rule, "SliceBackward0", cuts)


@composite(asked=True)
def hsplit(input, indices_or_sections):
    """Pieces along the second dimension (the first of a vector); a tuple of views.

    >>> torch.hsplit(torch.tensor([1, 2, 3, 4]), 2)
    (tensor([1, 2]), tensor([3, 4]))
    """
    from ...views import rules
    return _pieces(input, rules.hsplit, indices_or_sections)


@composite(asked=True)
def vsplit(input, indices_or_sections):
    """Pieces along the first dimension of tensors with at least two; a tuple of views.

    >>> torch.vsplit(torch.tensor([[1], [2]]), 2)
    (tensor([[1]]), tensor([[2]]))
    """
    from ...views import rules
    return _pieces(input, rules.vsplit, indices_or_sections)


@composite(asked=True)
def dsplit(input, indices_or_sections):
    """Pieces along the third dimension; a tuple of views.

    >>> [t.shape for t in torch.dsplit(torch.zeros(1, 1, 4), 2)]
    [torch.Size([1, 1, 2]), torch.Size([1, 1, 2])]
    """
    from ...views import rules
    return _pieces(input, rules.dsplit, indices_or_sections)


def _no_methods():
    """The views that are no methods."""
    from ...tensor.viewing import retyped, shapes
    return {"alias": shapes.alias, "view_as_real": retyped.view_as_real, "view_as_complex": retyped.view_as_complex}


def _copying(name, view, method=False):
    def copy(input, *args, out=None, **kwargs):
        if name == "view_copy" and not input._spec.contiguous and not (args and isinstance(args[0], dtypes.dtype)):
            input = input.contiguous()                       # a copy may have any shape
        made = (getattr(input, view) if hasattr(input, view) else partial(_no_methods()[view], input))(*args, **kwargs)
        if isinstance(made, tuple):
            made = tuple([t.clone(memory_format="contiguous_format") for t in made])
            if out is not None:
                put_out(name, made, tuple(out))
                return None
            return made
        return put_out(name, made.clone(memory_format="contiguous_format"), out)
    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"`{view}`, but a copy."
    composite(name, method=method)(copy)


for _view in ("alias", "as_strided", "expand", "permute", "select", "split", "split_with_sizes", "squeeze", "t", "transpose", "unbind",
              "unfold", "unsqueeze", "view", "view_as_real", "view_as_complex", "detach"):
    _copying(_view + "_copy", _view)


@composite("narrow_copy", asked=True)
def narrow_copy(input, dim, start, length, *, out=None):
    """`narrow`, but a copy.

    >>> torch.narrow_copy(torch.tensor([1, 2, 3]), 0, 1, 2)
    tensor([2, 3])
    """
    spec = input._spec
    if not spec.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if dim >= spec.ndim:
        raise RuntimeError("Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error message "
                           "be improved?  If so, please report an enhancement request to PyTorch.)")
    if length < 0 and -spec.size[dim] <= start <= spec.size[dim]:
        start += spec.size[dim] if start < 0 else 0
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({spec.size[dim]}).")
    return put_out("narrow_copy", input.narrow(dim, start, length).clone(memory_format="contiguous_format"), out)


@composite(method=False)
def slice_copy(input, dim=0, start=None, end=None, step=1, *, out=None):
    """A copy of a slice along ``dim``.

    >>> torch.slice_copy(torch.tensor([1, 2, 3]), 0, 1)
    tensor([2, 3])
    """
    place = (slice(None),) * wrap_dim(dim, input.ndim) + (slice(start, end, step),)
    return put_out("slice_copy", input[place].clone(memory_format="contiguous_format"), out)


@composite(method=False)
def broadcast_shapes(*shapes):
    """The shape that these shapes broadcast to.

    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    from ...base.size import Size
    result = []
    shapes = [(shape,) if isinstance(shape, int) else tuple(shape) if isinstance(shape, range) else shape for shape in shapes]
    for shape in shapes:
        if not isinstance(shape, (tuple, list)):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
    result = [1] * max(map(len, shapes), default=0)
    for at, shape in enumerate(shapes):
        for d in range(-1, -1 - len(shape), -1):
            if shape[d] < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if shape[d] == 1 or shape[d] == result[d]:
                continue
            if result[d] != 1:
                raise RuntimeError(f"Attempting to broadcast a dimension of length {shape[d]} at {d}! Mismatching argument at index {at} "
                                   f"had {shape}; but expected shape should be broadcastable to {result}")
            result[d] = shape[d]
    return Size(result)
