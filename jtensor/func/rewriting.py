"""Functions and modules made fit for transforms. Owns: `functionalize`, `replace_all_batch_norm_modules_`."""
import functools
import sys

import jtensor

_REMOVED = ("mutations", "mutations_and_views")


def functionalize(func, *, remove="mutations"):
    """The function as one that mutates nothing, which is what it is recorded as anyway: it gives and does the same. A graph of it
    (`make_fx`) has no operators in place.

    ``remove``: "mutations" or "mutations_and_views"; ``RuntimeError`` for anything else.

    >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.zeros(2))
    tensor([1., 1.])
    """
    if remove not in _REMOVED:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced with their out-of-"
            "place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators {view} will be replaced with their "
            "non-aliasing counterparts, {view}_copy.\n")

    @functools.wraps(func)
    def called(*args, **kwargs):
        tracing = sys.modules.get("jtensor.fx.experimental.proxy_tensor")
        if tracing is None or tracing.get_proxy_mode() is None:
            return func(*args, **kwargs)
        from ..fx.experimental.writes import Writes
        from ..utils import _pytree as pytree
        mode = Writes(remove == "mutations_and_views")
        with mode:
            made = func(*args, **kwargs)
        return mode.finish(made, pytree.tree_leaves((args, kwargs)))
    return called


def replace_all_batch_norm_modules_(root):
    """Makes all batch norms in a module (itself, too) forget their moving statistics, which `vmap` cannot update; answers with it.

    >>> torch.func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(2)).running_mean is None
    True
    """
    for module in root.modules():
        if isinstance(module, jtensor.nn.modules.batchnorm._BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


__all__ = ["functionalize", "replace_all_batch_norm_modules_"]
