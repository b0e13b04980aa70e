"""How a leaf takes a gradient: kept, copied or added, as PyTorch's accumulation does it.

Owns: `accumulate`. May not know: the walk over the graph, which brings the gradients.
"""
import sys
from itertools import zip_longest

from ..autograd import engine
from ..autograd.hooking import after_accumulation
from ..autograd.mode import is_grad_enabled
from ..base.geometry import contiguous_strides
from ..ops.build import broadcast_inplace
from ..trace import spec as specs
from ..trace.tape import LOCAL
from .core import COUNTED, LAYOUTS, make_tensor


def accumulate(variable, grad, held=0):
    """Adds ``grad`` to ``variable.grad``; without create_graph an existing gradient is changed in place, so that its aliases see it.

    ``held``: references to the gradient that the engine itself has beyond the caller's. Raises RuntimeError for a leaf that was detached
    in place and is a result since, or a view of what has been written to since.
    """
    if not variable.is_leaf:
        raise RuntimeError("leaf variable has been moved into the graph interior")
    if not variable._requires_grad:
        return
    auto = variable._autograd_meta()
    old, layout = auto.grad, LAYOUTS and (LAYOUTS.get(type(grad)) or LAYOUTS.get(type(auto.grad)))        # of either that is sparse
    if old is None:
        auto.grad = layout.first(grad) if layout else _first(variable, grad, held)
    elif is_grad_enabled() or layout and not engine.takes(old, grad):
        auto.grad = engine.total(old, grad)
    else:
        old.add_(grad)
        if not layout and old._spec.stride != variable._spec.stride and LOCAL.layout_enforced:
            _warn_of_layout(old._spec, variable._spec)
    if auto.post_hooks:
        after_accumulation(auto.post_hooks, variable)


def _warn_of_layout(grad, variable):
    wanted = variable.stride if variable.dense else contiguous_strides(tuple(variable.size))
    if len(wanted) == len(grad.stride) and any(a != b and n != 1 for a, b, n in zip(grad.stride, wanted, variable.size, strict=True)):
        import warnings
        warnings.warn("grad and param do not obey the gradient layout contract. This is not an error, but may impair performance.\n"
                      f"grad.sizes() = {list(grad.size)}, strides() = {list(grad.stride)}\n"
                      f"param.sizes() = {list(variable.size)}, strides() = {list(variable.stride)}", UserWarning, stacklevel=2)


def _first(variable, grad, held):
    """The very tensor that arrived if nobody else holds it and its strides suit the variable, else a copy with strides that do."""
    mine, given = variable._spec, grad._spec
    if not is_grad_enabled() and sys.getrefcount(grad) <= FRESH + held and (_suits(variable, given) or not LOCAL.layout_enforced):
        if grad._info is None and grad._edge is None and grad._auto is None and not grad._requires_grad:
            return grad
        taken = make_tensor(grad._storage, given, grad._offset)
        taken._cached, taken._counter = grad._cached, grad._counter
        if grad._inference_tensor():
            taken._autograd_meta().inference = True if LOCAL.inference else COUNTED
        return taken
    if not mine.dense:
        return grad.clone(memory_format="contiguous_format")
    if given.size != mine.size:                                    # after a `.data =` of another shape
        broadcast_inplace(mine, given)
        grad = grad.expand(mine.size)
    if not is_grad_enabled():
        from .creating.create import empty_strided_like
        copied = empty_strided_like(mine, grad)
        copied._counter.version = 1                                # PyTorch makes it empty and copies
        if LOCAL.inference:
            copied._autograd_meta().inference = True
        return copied
    from .creating.create import zeros_like_spec
    if given.dtype is not mine.dtype:                              # a `grad_dtype`
        mine = specs.spec(mine.size, mine.stride, given.dtype, mine.device)
    return zeros_like_spec(mine).copy_(grad)


FRESH = 4                # the names of this gradient on the way from the engine to here, and getrefcount's argument


def _suits(variable, given):
    """Whether a gradient's strides are the variable's (contiguous, where the variable is not dense), dimensions of size 1 apart."""
    mine = variable._spec
    if given.stride == mine.stride and mine.dense:
        return True
    if not mine.dense:
        return given.contiguous
    wanted = mine.stride
    if given.ndim > mine.ndim:                       # the leaf has lost dimensions since: PyTorch reads on in what stood there before
        wanted = wanted or (1,)
        auto = variable._auto
        wanted += (0,) * (given.ndim - len(wanted)) if auto.reshaped else auto.accumulator().spec.stride[len(wanted):]
    return all((s == t if n != 1 else s != 0) for n, s, t in zip_longest(given.size, given.stride, wanted[:given.ndim]))
