"""Modules made functions, as before `torch.func.functional_call`. Owns: the names, for libraries that ask whether something is one."""
from ..base.errors import missing
from ..nn import Module


def _refused():
    return missing("modules that functorch made functions", "torch.func.functional_call, torch.func.stack_module_state")


class FunctionalModule(Module):
    """A module whose parameters are arguments. To be named alone: there is no instance."""

    def __init__(self, *args, **kwargs):
        raise _refused()


class FunctionalModuleWithBuffers(Module):
    """A module whose parameters and buffers are arguments. To be named alone: there is no instance."""

    def __init__(self, *args, **kwargs):
        raise _refused()


def make_functional(model, disable_autograd_tracking=False):
    """Raises ``NotImplementedError``."""
    raise _refused()


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    """Raises ``NotImplementedError``."""
    raise _refused()


def combine_state_for_ensemble(models):
    """Raises ``NotImplementedError``."""
    raise _refused()


__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional",
           "make_functional_with_buffers"]
