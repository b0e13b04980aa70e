"""What the package `functorch`, which comes with PyTorch, takes from it: functions of `torch.func` by older names, with a warning."""
import functools
import warnings

from .. import func as _func
from .make_functional import combine_state_for_ensemble, make_functional, make_functional_with_buffers


def _older(name):
    function = getattr(_func, name)

    @functools.wraps(function)
    def called(*args, **kwargs):
        warnings.warn(f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is deprecated as "
                      f"of PyTorch 2.0 and will be deleted in a future version of PyTorch >= 2.3. Please use `torch.func.{name}` instead.",
                      FutureWarning, stacklevel=2)
        return function(*args, **kwargs)
    return called


functionalize, grad, grad_and_value, hessian = map(_older, ("functionalize", "grad", "grad_and_value", "hessian"))
jacfwd, jacrev, jvp, vjp, vmap = map(_older, ("jacfwd", "jacrev", "jvp", "vjp", "vmap"))

__all__ = ["combine_state_for_ensemble", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional",
           "make_functional_with_buffers", "vjp", "vmap"]
