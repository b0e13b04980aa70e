"""Moving a whole module to another dtype or device, by one function applied to every tensor it holds.

The functions here are methods of Module.
"""
import warnings

import jtensor

from ...tensor.convert import to_arguments
from ..parameter import Parameter


def _replaced(old, new):
    """``old`` with the contents of ``new``, or None where another object is to take its place.

    That is so for kinds that cannot share one tensor object, and where `torch.__future__` says it.
    """
    if old.is_meta != new.is_meta or old.layout != new.layout or jtensor.__future__.get_overwrite_module_params_on_conversion():
        return None
    old.data = new
    return old


def _swapped(module, name, param, fn):
    """``param``, and its gradient, made what ``fn`` makes of them by exchange with new tensors (`torch.__future__`)."""
    def exchange(old, new, shown):
        try:
            jtensor.utils.swap_tensors(old, new)
        except Exception as e:
            raise RuntimeError(f"_apply(): Couldn't swap {module._get_name()}.{shown}") from e

    grad, param.grad = param.grad, None
    try:
        with jtensor.no_grad():
            new = fn(param)
        exchange(param, Parameter(new, param.requires_grad), name)
    except Exception:
        param.grad = grad
        raise
    if grad is not None:
        with jtensor.no_grad():
            new = fn(grad)
        exchange(grad, new.requires_grad_(grad.requires_grad), name + ".grad")
        param.grad = grad


def _apply(self, fn, recurse=True):
    """Replaces the contents of every parameter, of its gradient and of every buffer by ``fn`` of them.

    Parameters and gradients stay the objects that they were, so that an optimizer made before still holds them; only on
    the way to or from the meta device, or to another layout, new ones take their place.
    """
    if recurse:
        for module in self.children():
            module._apply(fn)
    for name, param in self._parameters.items():
        if param is None:
            continue
        if jtensor.__future__.get_swap_module_params_on_conversion():
            _swapped(self, name, param, fn)
            continue
        grad = param.grad
        with jtensor.no_grad():
            new = fn(param)
        moved = _replaced(param, new)
        if moved is None:
            moved = self._parameters[name] = Parameter(new, param.requires_grad)
        if grad is not None:
            with jtensor.no_grad():
                new_grad = fn(grad)
            moved.grad = _replaced(grad, new_grad) if moved is param else new_grad.requires_grad_(grad.requires_grad)
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = fn(buffer)
    return self


def apply(self, fn):
    """Calls ``fn`` with every module below and then with this one, e.g. to initialise weights."""
    for module in self.children():
        module.apply(fn)
    fn(self)
    return self


def _only_floating(convert):
    return lambda t: convert(t) if t.is_floating_point() else t


def float(self):
    """All floating point tensors to float32."""
    return self._apply(_only_floating(lambda t: t.float()))


def double(self):
    """All floating point tensors to float64."""
    return self._apply(_only_floating(lambda t: t.double()))


def half(self):
    """All floating point tensors to float16."""
    return self._apply(_only_floating(lambda t: t.half()))


def bfloat16(self):
    """All floating point tensors to bfloat16."""
    return self._apply(_only_floating(lambda t: t.bfloat16()))


def type(self, dst_type):
    """All tensors, integer ones too, to the given type."""
    return self._apply(lambda t: t.type(dst_type))


def cpu(self):
    """All tensors to the CPU."""
    return self._apply(lambda t: t.cpu())


def cuda(self, device=None):
    """All tensors to a GPU."""
    return self._apply(lambda t: t.cuda(device))


def to_empty(self, *, device, recurse=True):
    """All tensors to another device, without their contents."""
    return self._apply(lambda t: jtensor.empty_like(t, device=device), recurse=recurse)


def share_memory(self):
    """As the tensor method, for every tensor held."""
    return self._apply(lambda t: t.share_memory_())


def parse_to(*args, **kwargs):
    """What ``Module.to`` is told, as PyTorch gives it to others: (device, dtype, non_blocking, memory_format)."""
    return _to_arguments(args, kwargs)


def _to_arguments(args, kwargs):
    """(device, dtype, non_blocking, memory_format) of the three forms of ``to``."""
    dtype, device, non_blocking, copy, memory_format = to_arguments(args, kwargs)
    if copy:
        raise RuntimeError(".to() does not accept copy argument")
    return None if device is None else jtensor.device(device), dtype, non_blocking, memory_format


def to(self, *args, **kwargs):
    """Moves the module: ``to(device, dtype)``, ``to(dtype)``, ``to(tensor)``, ``to(memory_format=...)``.

    A dtype reaches the floating point and complex tensors only; TypeError for an integer dtype.

    >>> import jtensor as torch
    >>> torch.nn.Linear(2, 2).to(torch.float64).weight.dtype
    torch.float64
    """
    device, dtype, non_blocking, memory_format = _to_arguments(args, kwargs)
    if dtype is not None:
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        if dtype.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may change, and some modules might "
                "not work as expected when using complex tensors as parameters or buffers. Please file an issue at "
                "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
                "expected.", stacklevel=2)

    def convert(t):
        wanted = dtype if t.is_floating_point() or t.is_complex() else None
        more = {"memory_format": memory_format} if memory_format is not None and t.dim() in (4, 5) else {}
        try:
            return t.to(device=device, dtype=wanted, non_blocking=non_blocking, **more)
        except NotImplementedError as e:
            if str(e) != "Cannot copy out of meta tensor; no data!":
                raise
            raise NotImplementedError(f"{e} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
                                      "module from meta to a different device.") from None

    return self._apply(convert)
