"""The one of two functions, by a truth value: `torch.cond`."""
from ..choices import cond

__all__ = ["cond"]
