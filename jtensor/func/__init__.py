"""`torch.func`: functions of functions. So far what makes a module a function of its parameters; JAX's own transformations take functions
of tensors too (`jax.grad`, `jax.vmap` over code that uses them)."""
from .calling import functional_call, stack_module_state

__all__ = ["functional_call", "stack_module_state"]
