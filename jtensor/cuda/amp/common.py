"""`torch.cuda.amp.common`: whether there can be mixed precision on a GPU."""
from .. import is_available


def amp_definitely_not_available():
    """Whether there is no GPU to compute on."""
    return not is_available()


__all__ = ["amp_definitely_not_available"]
