"""`DataParallel`: a batch split over devices. Where there is one device or none, it is the module itself.

May not know: how a batch would be split; of more devices than one it says that this is not there.
"""
import jtensor

from ...base.errors import missing
from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


def _devices(device_ids):
    """The devices to use: none without an accelerator."""
    if not jtensor.cuda.is_available():
        return []
    found = list(range(jtensor.cuda.device_count()) if device_ids is None else device_ids)
    if len(found) > 1:
        raise missing("DataParallel over several devices", "give one of device_ids")
    return found


class DataParallel(Module):
    """Calls ``module``; its parameters are called ``module.name``, so that checkpoints fit those of PyTorch.

    >>> torch.nn.DataParallel(torch.nn.Linear(3, 2))(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.device_ids = _devices(device_ids)
        self.module = module
        if self.device_ids:
            self.dim, self.output_device = dim, self.device_ids[0] if output_device is None else output_device

    def forward(self, *inputs, **kwargs):
        """What the module answers."""
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """What a module answers for ``inputs``, a tuple or a single one; RuntimeError without an accelerator."""
    if not _devices(device_ids):
        raise RuntimeError("device type could not be determined")
    inputs = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
