"""`torch.func` by the place where PyTorch keeps it."""
from ..func import debug_unwrap, functionalize, hessian, jacfwd, jacrev, jvp, linearize, vjp

__all__ = ["debug_unwrap", "functionalize", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]
