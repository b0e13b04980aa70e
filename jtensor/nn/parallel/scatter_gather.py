"""A batch's way to the devices of `DataParallel`, for libraries that go it themselves. May not know: how a batch would be split."""
import jtensor

from ...base.errors import missing
from ...utils._pytree import tree_map_only

__all__ = ["scatter", "scatter_kwargs"]


def scatter(inputs, target_gpus, dim=0):
    """A list with the inputs for each device, tensors in any nest of them moved there: of one element, the devices may not be several.

    >>> from jtensor.nn.parallel.scatter_gather import scatter
    >>> scatter(("no tensor", 2), [0])
    [('no tensor', 2)]
    """
    if len(target_gpus) > 1:
        raise missing("batches over several devices (nn.parallel.scatter_gather)", "one device")
    return [_moved(inputs, _gpu(device)) for device in target_gpus]


def _moved(inputs, device):
    return tree_map_only(jtensor.Tensor, lambda t: t.to(device), inputs)


def _gpu(device):
    found = jtensor.device("cuda", device) if isinstance(device, int) else jtensor.device(device)
    if found.type == "cpu":
        raise ValueError(f"Expected a non cpu device, but got: {found}")
    return found


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """The arguments by position, and those by name, for each device: two tuples."""
    return tuple(scatter(inputs, target_gpus, dim)), tuple(scatter(kwargs or {}, target_gpus, dim))
