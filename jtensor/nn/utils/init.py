"""Modules made without initialising their parameters."""
import inspect

import jtensor

__all__ = ["skip_init"]


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters are left as memory has them, for what overwrites them anyway; ``device`` says where.

    Raises RuntimeError for what is no module, or takes no ``device``.

    >>> torch.nn.utils.skip_init(torch.nn.Linear, 3, 1).weight.shape
    torch.Size([1, 3])
    """
    if not issubclass(module_cls, jtensor.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)
