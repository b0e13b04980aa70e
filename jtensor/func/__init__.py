"""`torch.func`: functions of functions. Gradients of functions, by the autograd graph, and modules as functions of their parameters;
no forward mode and no `vmap`. Tensors cannot be used inside JAX's transformations: hand over `t.jax()` and take the result back with
`jtensor.from_jax`."""
from .calling import functional_call, stack_module_state
from .gradients import grad, grad_and_value, hessian, jacrev, vjp

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacrev", "stack_module_state", "vjp"]
