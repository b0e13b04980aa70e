"""What groups do together, into new tensors that are there when they are looked at. Owns: the names of that which libraries import."""
from ..base.absent import function

_ABOUT = "collectives of programs that are compiled", "torch.distributed.nn.functional"

all_to_all_single_autograd = function(__name__, "all_to_all_single_autograd", *_ABOUT)
all_gather_tensor = function(__name__, "all_gather_tensor", *_ABOUT)
reduce_scatter_tensor = function(__name__, "reduce_scatter_tensor", *_ABOUT)


def wait_tensor(tensor):
    """The tensor: what groups make here is there when their function comes back."""
    return tensor


__all__ = ["all_gather_tensor", "all_to_all_single_autograd", "reduce_scatter_tensor", "wait_tensor"]
