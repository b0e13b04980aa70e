"""`torch.func`: functions of functions. So far what makes a module a function of its parameters. Tensors cannot be used inside JAX's
transformations: hand over `t.jax()` and take the result back with `jtensor.from_jax`."""
from .calling import functional_call, stack_module_state

__all__ = ["functional_call", "stack_module_state"]
