"""`torch.masked`: functions of the elements that a mask lets through. Masked tensors, which carry their mask, are not here: names alone."""
from ..base import absent as _absent
from .functions import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmax,
    softmin,
    std,
    sum,
    var,
)

__all__ = ["MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum", "is_masked_tensor", "log_softmax",
           "logaddexp", "logsumexp", "masked_tensor", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum",
           "var"]

_ABOUT = "masked tensors", "the functions of torch.masked with mask=..."
MaskedTensor = _absent.kind(__name__, "MaskedTensor", *_ABOUT)
as_masked_tensor = _absent.function(__name__, "torch.masked.as_masked_tensor", *_ABOUT)
masked_tensor = _absent.function(__name__, "torch.masked.masked_tensor", *_ABOUT)


def is_masked_tensor(obj, /):
    """Whether an object is a tensor that carries its mask: no, there is none such."""
    return isinstance(obj, MaskedTensor)
