"""What `torch.compile` makes of a module in PyTorch; here it answers the module itself. Owns: that class's name; there is no instance."""
from ..base.errors import missing
from ..nn import Module


class OptimizedModule(Module):
    """A module that is compiled. To be named alone: there is no instance."""

    def __init__(self, *args, **kwargs):
        raise missing("wrapped modules (torch._dynamo.OptimizedModule)", "torch.compile(module), which answers the module itself")


__all__ = ["OptimizedModule"]
