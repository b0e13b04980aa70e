"""Linear maps."""
from ...ops.families.added_products import addmm as _addmm
from ...tensor.quick import turned as _turned
from ...tensor.raw import linear as _linear

__all__ = ["linear"]


def linear(input, weight, bias=None, *, out=None):
    """``input @ weight.T + bias`` over the last dimension: ``(*, in)``, ``(out, in)``, ``(out,)`` to ``(*, out)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3)).shape
    torch.Size([2, 4])
    """
    if bias is not None and out is None and input._spec.ndim == 2 == weight._spec.ndim:
        return _addmm.record(bias, input, _turned(weight, "t"))
    return _linear(input, weight, bias) if out is None else _linear(input, weight, bias, out=out)
