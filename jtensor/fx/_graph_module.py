"""The class of modules that are made of a graph. Owns: its name; there is no instance."""
from ..nn import Module
from . import _refused


class GraphModule(Module):
    """A module whose ``forward`` is a graph. Making one raises ``NotImplementedError``."""

    __module__ = "torch.fx"

    def __init__(self, *args, **kwargs):
        raise _refused()
