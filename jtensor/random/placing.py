"""From drawn numbers to tensors: where they lie in memory, and how they take the place of others.

A fill runs in the memory order of its target. Owns that order, fresh tensors of drawn numbers, in-place overwriting with its history, and
``out=``. Knows no distribution.
"""
import numpy as np

from ..autograd import gradmode_checks as checks
from ..base import compat, devices, dtypes
from ..ops.layout import like
from ..ops.operator import Tensor as TensorKind
from ..ops.operator import op
from ..storage import cell
from ..tensor.core import make_tensor
from ..tensor.creating.create import _finish, empty
from ..tensor.dispatch import call
from ..tensor.memory.storages import resize
from ..tensor.recording import overwriting
from ..tensor.recording.inplace import call_inplace
from ..tensor.values import bump
from ..trace import spec as specs
from ..trace.tape import LOCAL, Value, hosted, ready
from . import by_counter
from . import checks as refusals
from .counter import Counter


def memory_order(spec):
    """The dimensions from the slowest to the quickest in memory."""
    return sorted(range(spec.ndim), key=lambda d: (-spec.stride[d], d))


def placed(flat, spec):
    """A contiguous ndarray of the spec's shape from numbers drawn in memory order; the same memory where they lie as they should."""
    if not flat.flags.c_contiguous:
        flat = np.ascontiguousarray(flat)
    size = tuple(spec.size)
    if spec.contiguous or len(size) < 2:
        return flat if len(size) == 1 else flat.reshape(size)
    order = memory_order(spec)
    return np.require(flat.reshape([size[d] for d in order]).transpose(np.argsort(order)), requirements="C")


def drawn(flat, size, dtype, device, requires_grad=False, stride=None):
    """A fresh tensor of drawn numbers; the array is not copied where it lies as it should."""
    spec = specs.spec(size if size.__class__ is tuple else tuple(size), stride, dtype, device)
    out = make_tensor(cell.new(_entered(placed(flat, spec), spec, device), spec), spec, inference=LOCAL.inference)
    return _finish(out, requires_grad) if requires_grad else out


def _entered(array, spec, device):
    """Drawn numbers as a value."""
    return hosted(array, spec.aval) if device is devices.cpu else ready(compat.put(array, devices.jax_device(device)), spec.aval)


def counted(engine, numbers, size, dtype, device, requires_grad=False, stride=None):
    """A fresh tensor of numbers that the program draws: ``numbers`` is (distribution, two parameters), ``engine`` counter-based."""
    spec = specs.spec(tuple(size), stride, dtype, device)
    if not spec.numel:
        return undrawn(size, dtype, device, requires_grad, stride)
    out = call(by_counter.drawn, (tuple(size), order_of(spec), numbers[0], *engine.take(), *numbers[1:], dtype, device))
    if stride is not None:
        out._spec = out._storage.spec = out._storage.layout = spec
    return _finish(out, requires_grad)


def fresh(engine, numbers, on_host, size, dtype, device, requires_grad=False, stride=None):
    """A fresh tensor: ``on_host()`` draws its numbers, unless the engine leaves that to the program."""
    if type(engine) is Counter:
        return counted(engine, numbers, size, dtype, device, requires_grad, stride)
    return drawn(on_host(), size, dtype, device, requires_grad, stride)


def order_of(spec):
    """The memory order for `by_counter`: None for index order."""
    return None if spec.contiguous or spec.ndim < 2 else tuple(memory_order(spec))


def undrawn(size, dtype, device, requires_grad=False, stride=None):
    """A fresh tensor on the meta device, for which nothing is drawn."""
    if stride is None:
        return empty(tuple(size), dtype=dtype, device=device, requires_grad=requires_grad)
    from ..tensor.creating.create import empty_strided
    return empty_strided(tuple(size), stride, dtype=dtype, device=device, requires_grad=requires_grad)


# -- in place ---------------------------------------------------------------------------------------------------------


def _overwriter(name, backward):
    """The in-place operator that puts drawn numbers in a tensor's place; its gradient is zero."""
    @op(layout="like", saves=(), nondiff=("values",), inplace=True, name="drawn_" + name, backward=backward, function=False, method=False,
        double="-")
    def overwrite(self: TensorKind, values: TensorKind):
        return values
    return overwrite


_OPERATORS = {name: _overwriter(name, backward) for name, backward in (
    ("uniform", "UniformBackward0"), ("normal", "NormalBackward0"), ("random", "RandomBackward2"), ("random_to", "RandomBackward1"),
    ("random_from_to", "RandomBackward0"), ("bernoulli", "BernoulliBackward2"), ("bernoulli_tensor", "BernoulliBackward1"),
    ("exponential", "ExponentialBackward0"), ("geometric", "GeometricBackward0"), ("cauchy", "CauchyBackward0"),
    ("log_normal", "LogNormalBackward0"))}


def fill(self, name, engine, draw, numbers, check=None, on_meta=None):
    """``draw(n, numpy dtype)`` gives numbers in memory order; they become the tensor's values.

    With a counter-based ``engine`` the program draws them: ``numbers`` is what `counted` takes, or a function of the numpy dtype giving
    that. ``check(dtype, numel)`` refuses, after autograd has; ``on_meta(dtype)`` does where nothing is drawn.
    """
    spec, storage = self._spec, self._storage
    quick = overwriting.ordinary(self, storage, LOCAL)
    if not quick and LOCAL.grad_enabled:
        checks.before_inplace(self, self.requires_grad)
    if spec.device is devices.meta:
        if on_meta is not None:
            on_meta(spec.dtype)
        return call_inplace(_OPERATORS[name], (self, undrawn(spec.size, spec.dtype, spec.device)))
    if check is not None:
        check(spec.dtype, spec.numel)
    checks.no_internal_overlap(self)
    if not spec.numel:
        return call_inplace(_OPERATORS[name], (self, undrawn(spec.size, spec.dtype, spec.device)))
    stride = spec.stride if spec.dense else like(tuple(spec.size), spec.stride)
    if type(engine) is Counter:
        if callable(numbers):
            numbers = numbers(spec.dtype.numpy)
        values = counted(engine, numbers, spec.size, spec.dtype, spec.device, stride=stride)
    else:
        numbers = draw(spec.numel, spec.dtype.numpy)
        if quick and _put(self, storage, numbers, stride):
            return self
        values = drawn(numbers, spec.size, spec.dtype, spec.device, stride=stride)
    return call_inplace(_OPERATORS[name], (self, values))


def _put(self, storage, flat, stride):
    """Puts drawn numbers in the place of a tensor that has no history; answers whether it has."""
    spec, offset = self._spec, self._offset
    lies = spec if spec.stride == stride else specs.spec(spec.size, stride, spec.dtype, spec.device)
    spot = overwriting.spot_of(storage.layout, spec, offset, lies)
    if not spot:
        return False
    value = hosted(placed(flat, lies), spec.aval)
    if spot is overwriting.SHARED:
        storage.value = value
        bump(self)
    else:
        overwriting.put(self, storage, spot, value, Value)
    return True


def counted_choices(self, engine, p):
    """``bernoulli_`` with a tensor of probabilities, by the program; it looks at none of them."""
    spec = self._spec
    if LOCAL.grad_enabled:
        checks.before_inplace(self, self.requires_grad)
    if spec.numel:
        refusals.kernel_has("bernoulli_tensor_self", spec.dtype)
        refusals.kernel_has("bernoulli_tensor_p", p.dtype)
    checks.no_internal_overlap(self)
    if not spec.numel:
        return call_inplace(_OPERATORS["bernoulli_tensor"], (self, undrawn(spec.size, spec.dtype, spec.device)))
    values = call(by_counter.bernoulli, (p, order_of(spec), *engine.take(), spec.dtype, spec.device))
    return call_inplace(_OPERATORS["bernoulli_tensor"], (self, values))


# -- out= -------------------------------------------------------------------------------------------------------------


def target(out, name, size, dtype=None, composite=True):
    """``out`` resized to take a result. RuntimeError where it requires grad or is of another dtype than the one asked for.

    ``composite``: PyTorch knows the function without a formula of its own, and shows its name with ``aten::``.
    """
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtypes.scalar_name(dtype)} does not match dtype of out parameter ({dtypes.scalar_name(out.dtype)})")
    if out.requires_grad and LOCAL.grad_enabled:
        if name == "randn":
            raise RuntimeError("cannot resize variables that require grad")
        raise RuntimeError(
            f"{'aten::' * composite}{name}(): functions with out=... arguments don't support automatic differentiation, but one "
            "of the arguments requires grad."
        )
    return resize(out, tuple(size))
