"""A batch's way to the devices of `DataParallel`, and back, for libraries that go it themselves. May not know: how one would be split."""
import warnings

import jtensor

from ...base.errors import missing
from ...utils._pytree import tree_map_only

__all__ = ["gather", "scatter", "scatter_kwargs"]


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


def gather(outputs, target_device, dim=0):
    """What modules on several devices have answered, as one: tensors in a row along ``dim``, dictionaries and sequences part by part.

    AssertionError for tensors on a CPU, as in PyTorch; those of accelerators, of which there is one here, are refused if they are several.
    """
    first = outputs[0]
    if isinstance(first, jtensor.Tensor):
        if any(one.device.type == "cpu" for one in outputs):
            raise AssertionError("Gather function not implemented for CPU tensors")
        if len(outputs) > 1:
            raise missing("batches over several devices (nn.parallel.gather)", "torch.cat")
        if first.dim() == dim == 0:
            warnings.warn("Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze and return a "
                          "vector.", stacklevel=2)
            first = first.view(1)
        return first.to("cpu" if target_device == "cpu" or target_device == -1 else _gpu(target_device))
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(one) != len(first) for one in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([one[key] for one in outputs], target_device, dim)) for key in first)
    parts = [gather(some, target_device, dim) for some in zip(*outputs)]
    return type(first)._make(parts) if hasattr(first, "_make") else type(first)(parts)
