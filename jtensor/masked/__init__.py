"""`torch.masked`: functions of the elements that a mask lets through. Masked tensors, which carry their mask, are not here."""
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

__all__ = ["amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm",
           "normalize", "prod", "softmax", "softmin", "std", "sum", "var"]

_TENSORS = frozenset("MaskedTensor as_masked_tensor is_masked_tensor masked_tensor".split())


def __getattr__(name):
    if name in _TENSORS:
        raise AttributeError(f"jtensor does not have masked tensors (torch.masked.{name}); what works: the functions of torch.masked with "
                             "mask=...")
    raise AttributeError(f"module 'jtensor.masked' has no attribute '{name}'")
