"""Where the parts of a tensor on several devices lie: not there. Owns: the names of that."""
from ...base.absent import function

_ABOUT = "tensors on several devices (torch.distributed.tensor)", "torch.tensor, on one device"

compute_local_shape_and_global_offset = function(__name__, "compute_local_shape_and_global_offset", *_ABOUT)

__all__ = ["compute_local_shape_and_global_offset"]
