"""`torch.utils._foreach_utils`: how optimizers of other libraries sort lists of tensors before they hand them to ``torch._foreach_...``.

Owns: these questions. May not know: how such functions work.
"""
from ..tensor.core import Tensor

__all__ = ["_device_has_foreach_support", "_get_foreach_kernels_supported_devices", "_get_fused_kernels_supported_devices",
           "_group_tensors_by_device_and_dtype", "_has_foreach_support"]
TensorListList, Indices = list[list[Tensor | None]], list[int]
_foreach_supported_types = [Tensor]


def _get_foreach_kernels_supported_devices():
    """Kinds of devices on which PyTorch's optimizers go by lists unless told otherwise."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices():
    """Kinds of devices on which an optimizer's step may be asked to be one operation."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """``{(device, dtype): (the lists, with those entries alone, their places)}``, by the first list, whose entries are all tensors. Without
    ``with_indices`` the places are left out.

    >>> from jtensor.utils._foreach_utils import _group_tensors_by_device_and_dtype as grouped
    >>> lists = [[torch.ones(1), torch.ones(1).double(), torch.zeros(1)], [None, None, torch.ones(2)]]
    >>> {str(dtype): places for (_, dtype), (_, places) in grouped(lists, True).items()}
    {'torch.float32': [0, 2], 'torch.float64': [1]}
    """
    found = {}
    for at, tensor in enumerate(tensorlistlist[0]):
        lists, places = found.setdefault((tensor.device, tensor.dtype), ([[] for _ in tensorlistlist], []))
        for mine, given in zip(lists, tensorlistlist, strict=True):
            if given:
                mine.append(given[at])
        if with_indices:
            places.append(at)
    return found


def _device_has_foreach_support(device):
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors, device):
    return _device_has_foreach_support(device) and all(t is None or type(t) in _foreach_supported_types for t in tensors)
