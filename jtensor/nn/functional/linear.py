"""Linear and bilinear maps."""
from ...ops.families.added_products import addmm as _addmm
from ...ops.families.contraction import check_bilinear
from ...tensor.quick import turned as _turned
from ...tensor.raw import linear as _linear

__all__ = ["linear", "bilinear"]


def linear(input, weight, bias=None, *, out=None):
    """``input @ weight.T + bias`` over the last dimension: ``(*, in)``, ``(out, in)``, ``(out,)`` to ``(*, out)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3)).shape
    torch.Size([2, 4])
    """
    if bias is not None and out is None and input._spec.ndim == 2 == weight._spec.ndim:
        return _addmm.record(bias, input, _turned(weight, "t"))
    return _linear(input, weight, bias) if out is None else _linear(input, weight, bias, out=out)


def bilinear(input1, input2, weight, bias=None):
    """``input1 @ weight[k] @ input2 + bias[k]`` over the last dimensions."""
    check_bilinear(input1, input2, weight, bias)
    shape = (*input1.shape[:-1], weight.size(0))
    left, right = input1.reshape(-1, input1.size(-1)), input2.reshape(-1, input2.size(-1))
    n, out, features = left.size(0), weight.size(0), weight.size(1)
    # (n, in1) x (in1, out * in2) first, then the product with input2 along in2.
    mixed = left.matmul(weight.permute(1, 0, 2).reshape(features, -1)).view(n, out, weight.size(2))
    answer = mixed.matmul(right.unsqueeze(-1)).view(shape).to(input1.dtype)   # `autocast` multiplies in a narrower type
    return answer if bias is None else answer + bias
