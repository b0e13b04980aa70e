"""What the package `functorch`, which comes with PyTorch, takes from it: functions of `torch.func` by older names, with a warning."""
import functools
import warnings

from .. import func as _func
from . import make_functional as _modules


def _older(name, now=None, room=_func):
    function = getattr(room, name)

    @functools.wraps(function)
    def called(*args, **kwargs):
        warnings.warn(f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is deprecated as "
                      "of PyTorch 2.0 and will be deleted in a future version of PyTorch >= 2.3. Please use "
                      f"`{now or 'torch.func.' + name}` instead; see the PyTorch 2.0 release notes and/or the `torch.func` migration guide "
                      "for more details https://pytorch.org/docs/main/func.migrating.html", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)
    return called


functionalize, grad, grad_and_value, hessian = map(_older, ("functionalize", "grad", "grad_and_value", "hessian"))
jacfwd, jacrev, jvp, vjp, vmap = *map(_older, ("jacfwd", "jacrev", "jvp", "vjp")), _older("vmap", "torch.vmap")
make_functional = _older("make_functional", "torch.func.functional_call", _modules)
make_functional_with_buffers = _older("make_functional_with_buffers", "torch.func.functional_call", _modules)
combine_state_for_ensemble = _older("combine_state_for_ensemble", "torch.func.stack_module_state", _modules)

__all__ = ["combine_state_for_ensemble", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional",
           "make_functional_with_buffers", "vjp", "vmap"]
