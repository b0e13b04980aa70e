"""`torch.func`: functions of functions. Gradients of functions, by the autograd graph or forwards, functions for whole batches, and modules
as functions of their parameters. Tensors cannot be used inside JAX's transformations: hand over `t.jax()` and take the result back with
`jtensor.from_jax`."""
from .batching import vmap
from .calling import functional_call, stack_module_state
from .forwards import hessian, jacfwd, jvp, linearize
from .gradients import grad, grad_and_value, jacrev, vjp
from .rearranging import rearrange
from .rewriting import functionalize, replace_all_batch_norm_modules_
from .unwrapping import debug_unwrap

__all__ = ["debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
           "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap"]
