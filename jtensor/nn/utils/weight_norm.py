"""Weight normalisation by a hook: a weight as a direction times a length, both learnt."""
import warnings

from ...ops.families.weight_norm import norm_except_dim
from ...tensor import raw
from ..parameter import Parameter, UninitializedParameter
from ._weight_hooks import found, take_out

__all__ = ["WeightNorm", "weight_norm", "remove_weight_norm"]


class WeightNorm:
    """The hook: before each forward pass it computes ``name`` from ``name_g`` (length) and ``name_v`` (direction)."""

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight from its two parts."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return raw._weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module, name, dim):
        """Splits a parameter up and registers the hook. RuntimeError where it is split already."""
        warnings.warn("`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
                      FutureWarning, stacklevel=3)
        if found(module, WeightNorm, name) is not None:
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError("The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy forward "
                             "before applying weight normalization")
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, hook.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module):
        """Puts the weight back as one parameter."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        for part in ("_g", "_v"):
            del module._parameters[self.name + part]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """Replaces a parameter by its length along ``dim`` and its direction; answers with the module."""
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Undoes `weight_norm`; answers with the module. ValueError where there is nothing to undo.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 3))
    >>> torch.nn.utils.remove_weight_norm(layer)
    Traceback (most recent call last):
    ValueError: weight_norm of 'weight' not found in ...
    """
    take_out(module, WeightNorm, name, "weight_norm")
    return module
