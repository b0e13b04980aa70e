"""A function for as long as another one says so: `torch.while_loop`."""
from ..choices import while_loop

__all__ = ["while_loop"]
