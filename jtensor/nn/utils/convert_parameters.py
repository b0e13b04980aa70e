"""All parameters as one vector, and back."""
import jtensor

from ..modules.utils import typename

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _on_one_device(parameters):
    seen = None
    for param in parameters:
        where = param.get_device() if param.device.type == "cuda" else -1
        if seen is not None and where != seen:
            raise TypeError("Found two parameters on different devices, this is currently not supported.")
        seen = where
        yield param


def parameters_to_vector(parameters):
    """The elements of all parameters, one after the other: differentiable.

    >>> import jtensor as torch
    >>> torch.nn.utils.parameters_to_vector(torch.nn.Linear(2, 3).parameters()).shape
    torch.Size([9])
    """
    return jtensor.cat([param.view(-1) for param in _on_one_device(parameters)])


def vector_to_parameters(vec, parameters):
    """Makes the parameters views of consecutive slices of a vector."""
    if not isinstance(vec, jtensor.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for param in _on_one_device(parameters):
        count = param.numel()
        param.data = vec[start:start + count].view_as(param).data
        start += count
