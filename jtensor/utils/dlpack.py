"""`torch.utils.dlpack`: exchange of memory with other libraries."""
import jtensor

from ..base.dlpack import DLDeviceType


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """`torch.from_dlpack`.

    >>> torch.utils.dlpack.from_dlpack(np.ones(2))
    tensor([1., 1.], dtype=torch.float64)
    """
    return jtensor.from_dlpack(ext_tensor, device=device, copy=copy)


def to_dlpack(tensor):
    """A capsule with the tensor's memory, for one other library: `Tensor.__dlpack__`."""
    return tensor.__dlpack__()


__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
