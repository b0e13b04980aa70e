"""`torch.masked`: functions of the elements that a mask lets through, and tensors that carry their mask (`maskedtensor`)."""
import importlib as _importlib

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

_MADE = ("MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor", "maskedtensor")


def __getattr__(name):
    """Masked tensors are a class that is asked for each function: nobody pays for that who does not name them."""
    if name not in _MADE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = _importlib.import_module(f"{__name__}.maskedtensor.creation")
    home = _importlib.import_module(f"{__name__}.maskedtensor")
    globals().update(maskedtensor=home, MaskedTensor=home.MaskedTensor, is_masked_tensor=home.is_masked_tensor,
                     masked_tensor=made.masked_tensor, as_masked_tensor=made.as_masked_tensor)
    return globals()[name]
