"""Parametrizations: a parameter or buffer of a module that is computed from others whenever it is read.

Owns: how a tensor is replaced by a property of a class made for that one module, what is kept in its place (`ParametrizationList`), and
the cache. May not know: any parametrization (`parametrizations`).
"""
import collections
import contextlib
import copy
import copyreg

import jtensor

from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
           "transfer_parametrizations_and_params", "type_before_parametrizations"]

_cache = {}
_cached = 0                                    # how many `cached()` blocks are open


@contextlib.contextmanager
def cached():
    """In this block a parametrized tensor is computed once, when it is first read.

    >>> from jtensor.nn.utils import parametrize
    >>> class Double(torch.nn.Module):
    ...     def forward(self, w):
    ...         return 2 * w
    >>> layer = parametrize.register_parametrization(torch.nn.Linear(1, 1), "weight", Double())
    >>> with parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    global _cached
    _cached += 1
    try:
        yield
    finally:
        _cached -= 1
        if not _cached:
            _cache.clear()


def _register(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _kind(x):
    return type(x).__name__


# -- what stands in the tensor's place --------------------------------------------------------------------------------


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what they compute it from: ``original``, or ``original0``, ``original1``, ...

    ``unsafe``: no complaint where the tensor's shape or dtype changes.
    """

    def __init__(self, modules, original, unsafe=False):
        modules = tuple(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        made = self._inverted(original)
        if not isinstance(made, (jtensor.Tensor, collections.abc.Sequence)):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {_kind(made)}")
        self.is_tensor = isinstance(made, jtensor.Tensor)
        self.ntensors = 1 if self.is_tensor else len(made)
        if self.is_tensor:
            if made.dtype != dtype:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                                 f"original.dtype: {dtype}\nright_inverse(original).dtype: {made.dtype}")
            if made.device != original.device:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the device.\n"
                                 f"original.device: {original.device}\nright_inverse(original).device: {made.device}")
            with jtensor.no_grad():
                original.set_(made)            # the same object, which an optimizer may hold
            _register(self, "original", original)
        else:
            for at, one in enumerate(made):
                if not isinstance(one, jtensor.Tensor):
                    raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                                     f"Got element {at} of the sequence with type {_kind(one)}.")
                if isinstance(original, Parameter):
                    one = Parameter(one, original.requires_grad)
                one.requires_grad_(original.requires_grad)
                _register(self, f"original{at}", one)
        if not unsafe:
            self._check_result(shape, dtype)

    def _inverted(self, tensor):
        """The tensor as it is kept: what the right inverses make of it; a parametrization without one is taken for a projection."""
        with jtensor.no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        tensor = module.right_inverse(tensor)
        return tensor

    def _check_result(self, shape, dtype):
        made = self()
        if not isinstance(made, jtensor.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {_kind(made)}.")
        for what, now, before in (("dtype", made.dtype, dtype), ("shape", made.shape, shape)):
            if now != before:
                raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                                 f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {now}")

    def right_inverse(self, value):
        """Sets what is kept so that the parametrized tensor becomes ``value``, by the right inverses of all parametrizations."""
        with jtensor.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {_kind(module)} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, jtensor.Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {_kind(value)}")
                if value.dtype != self.original.dtype:
                    raise ValueError(f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                                     f"{self.original.dtype}")
                self.original.set_(value)
                return
            if not isinstance(value, collections.abc.Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value)}.")
            if len(value) != self.ntensors:
                raise ValueError("'right_inverse' must return a sequence of tensors of length "
                                 f"{self.ntensors}. Got a sequence of length {len(value)}.")
            for at, one in enumerate(value):
                kept = getattr(self, f"original{at}")
                if not isinstance(one, jtensor.Tensor):
                    raise ValueError(f"`right_inverse` must return a sequence of tensors. Got element {at} of type {_kind(one)}")
                if kept.dtype != one.dtype:
                    raise ValueError(f"Tensor {at} returned by `right_inverse` has dtype {one.dtype} while `original{at}` has dtype "
                                     f"{kept.dtype}")
                kept.set_(one)

    def forward(self):
        """The parametrized tensor."""
        first, *others = self
        made = first(self.original) if self.is_tensor else first(*[getattr(self, f"original{at}") for at in range(self.ntensors)])
        for module in others:
            made = module(made)
        return made


# -- the class of a parametrized module -------------------------------------------------------------------------------


def _refuse_pickling(self):
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See:\n"
                       "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
                       "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")


def _deep_copy(self, memo):
    """A copy whose class is its own as well, so that it can be parametrized on its own."""
    found = memo.get(id(self))
    if found is not None:
        return found
    made = self.__new__(type(self))
    memo[id(self)] = made
    made.__dict__ = copy.deepcopy(self.__dict__, memo)
    for name in copyreg._slotnames(type(self)):
        if hasattr(self, name):
            setattr(made, name, copy.deepcopy(getattr(self, name), memo))
    return made


def _give_own_class(module):
    """The module gets a class for itself alone, to hold the properties."""
    own = type(module)
    members = {"__getstate__": _refuse_pickling, "__module__": ParametrizationList.__module__}       # torch's, under the alias
    if not hasattr(own, "__deepcopy__"):
        members["__deepcopy__"] = _deep_copy
    module.__class__ = type(f"Parametrized{own.__name__}", (own,), members)


def _give_property(module, name):
    def read(self):
        if not _cached:
            return self.parametrizations[name]()
        key = id(module), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def write(self, value):
        self.parametrizations[name].right_inverse(value)
    setattr(type(module), name, property(read, write))


# -- the public functions ---------------------------------------------------------------------------------------------


def is_parametrized(module, tensor_name=None):
    """Whether a module has parametrizations, or one of that tensor."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Reading ``module.tensor_name`` gives ``parametrization(original)`` from now on; answers the module.

    Where there is a parametrization already, the new one is applied to its result. A ``right_inverse`` of the parametrization makes
    assignment work, and finds what is kept for the value of now. A shape or dtype that changes raises ``ValueError``, unless ``unsafe``.

    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, w):
    ...         return w.triu() + w.triu(1).mT
    >>> layer = torch.nn.utils.parametrize.register_parametrization(torch.nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        parametrizations = module.parametrizations[tensor_name]
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        _give_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    return module


def _check_next(module, name, parametrization):
    """One more parametrization has to keep the shape and the dtype, and so has its right inverse."""
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, jtensor.Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {_kind(after)}.")
    for what in ("dtype", "shape"):
        if getattr(after, what) != getattr(before, what):
            raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                             f"enabled.\nmodule.{name}.{what}: {getattr(before, what)}\n"
                             f"parametrization(module.{name}).{what}: {getattr(after, what)}")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, jtensor.Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {_kind(back)}")
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(before, what):
            raise ValueError(f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, unless the "
                             f"`unsafe` flag is enabled.\nmodule.{name}.{what}: {getattr(before, what)}\n"
                             f"returned {what}: {getattr(back, what)}")


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Takes all parametrizations off a tensor, which keeps its present value, or (``leave_parametrized=False``) what it was made from."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with jtensor.no_grad():
                original.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        present = getattr(module, tensor_name)
        original = Parameter(present) if present.requires_grad else present
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
                         "tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The module's class without what parametrizations added."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Parametrizations, and the tensors they start from, of one module for another of its kind; answers that one."""
    if not is_parametrized(from_module):
        return to_module
    names = from_module.parametrizations if tensor_name is None else [tensor_name]
    for name in names:
        theirs = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for module in theirs:
            register_parametrization(to_module, name, module)
        ours = to_module.parametrizations[name]
        kept = ["original"] if hasattr(theirs, "original") else [f"original{at}" for at in range(theirs.ntensors)]
        for one in kept:
            setattr(ours, one, getattr(theirs, one))
    return to_module
