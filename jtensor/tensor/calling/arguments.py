"""The arguments of an operator's call: bound to its parameters, taken apart into a key, and refused in PyTorch's words.

Owns: `collect`, which sorts a call into what the plan depends on (operator, Specs, statics) and what it runs on (tensors, numbers);
`bind`; the `TypeError` for an argument of the wrong type. May not know: what becomes of the call.
"""
import numpy as np

from ...base import devices, dtypes
from ...base.naming import type_name
from ...ops import build
from ...ops.operator import Number, OptTensor, Static, TensorOrNumber, Tensors
from ..core import Tensor

_PLAIN = (int, str, type(None))
PLAIN = frozenset((*_PLAIN, dtypes.dtype))         # whose values say all that a static argument of theirs is


def _static(value):
    """(a hashable form, its key): equal keys mean the same operation, so 1, 1.0 and True are kept apart, and a tensor from its number,
    since PyTorch does not take the one wherever it takes the other."""
    kind = type(value)
    if kind in _PLAIN:
        return value, value
    if kind is bool or kind is float or kind is complex:
        return value, (kind, repr(value))
    if isinstance(value, (list, tuple)):
        value = tuple([_static(v)[0] for v in value])
        return value, (tuple, tuple([_static(v)[1] for v in value]))
    if isinstance(value, np.generic) and kind is not np.bool_:          # which PyTorch takes for a bool of no parameter
        return _static(value.item())
    if isinstance(value, Tensor) and value._spec.numel == 1 and (value._spec.dtype.category == 1 or value._spec.ndim == 0):
        return value, (Tensor, value._spec.ndim, _static(value.item())[1])
    return value, value


def settled(form):
    """A static form with the numbers of its tensors, once it is known that PyTorch takes them there."""
    if isinstance(form, Tensor):
        return form.item()
    return tuple(map(settled, form)) if form.__class__ is tuple else form


_TRUE, _FALSE = _static(True)[1], _static(False)[1]


def identity(value):
    """What a static argument is, as a part of a key, without its form: the short way for recorders."""
    kind = value.__class__
    if kind in PLAIN:
        return value
    if kind is bool:
        return _TRUE if value else _FALSE
    if kind is devices.device:
        return value.type, value.index             # its own hash is a Python function
    if isinstance(value, (tuple, list)):
        for n in value:
            if n.__class__ is not int:
                break
        else:
            return tuple(value)
    return _static(value)[1]


def collect(operator, args):
    """A call taken apart: (key, template, tensors, scalars)."""
    key, template, tensors, scalars = [operator], [], [], []
    for parameter, given in zip(operator.parameters, args):
        kind = parameter.kind
        if kind is Static:
            form, identity = _static(given)
            template.append(form)
            key.append(identity)
        elif isinstance(given, Tensor):
            if kind is Number:
                if given._spec.ndim or given.requires_grad:
                    raise wrong_argument(operator, parameter, given, args)
                template_number(operator, args, parameter, given.item(), key, template, scalars)
                continue
            tensors.append(given)
            template.append(given._spec)
            key.append(given._spec)
        elif kind is Tensors:
            listed = _tensor_list(operator, parameter, given)
            tensors.extend(listed)
            found = tuple([t._spec for t in listed])
            template.append(found)
            key.append(found)
        elif kind is OptTensor and given is None:
            template.append(None)
            key.append(None)
        elif given is None and kind is TensorOrNumber and parameter.required:
            raise wrong_argument(operator, parameter, given, args)
        elif kind is Number or kind is TensorOrNumber:
            template_number(operator, args, parameter, given, key, template, scalars)
        else:
            raise wrong_argument(operator, parameter, given, args)
    return tuple(key), template, tensors, scalars


def collect_on_one_device(operator, args):
    """`collect`, 0-d CPU tensors sent to the accelerator that the others are on: PyTorch admits them there, as numbers."""
    taken = collect(operator, args)
    tensors = taken[2]
    device = tensors[0]._spec.device if tensors else None
    if all(t._spec.device is device for t in tensors):
        return taken
    device = next((t._spec.device for t in tensors if t._spec.device.type == "cuda"), None)
    if device is None or any(t._spec.device is not device and (t._spec.ndim or t._spec.device is not devices.cpu) for t in tensors):
        return taken                                                    # as it stands, it is refused where its plan is made

    def sent(given):
        if isinstance(given, Tensor):
            return given if given._spec.device is device else given.to(device)
        return [sent(one) for one in given] if isinstance(given, (list, tuple)) else given
    return collect(operator, [given if p.kind is Static else sent(given) for p, given in zip(operator.parameters, args)])


def template_number(operator, args, parameter, given, key, template, scalars):
    """A Python number: a run-time input, but for a default that was left alone and for None."""
    dtypes.fits_a_word(given)
    if type(given) is int and given >= 1 << 63 and (operator.promote == "float" or any(
            isinstance(a, Tensor) and a._spec.dtype.category > 1 for a in args)):
        given = float(given)                                # among floats it is one; integers have it as uint64
    wrapped = build.WRAPPED.get(type(given))
    if wrapped is None:
        if given is parameter.default or given is None and parameter.kind is not Number:
            template.append(given)
            key.append(given)
            return
        if hasattr(given, "__float__") and not hasattr(given, "__len__"):
            number = given.item() if hasattr(given, "item") else float(given)
            return template_number(operator, args, parameter, number, key, template, scalars)
        raise wrong_argument(operator, parameter, given, args)
    if parameter.kind is Number and given is parameter.default:
        template.append(given)
        key.append((type(given), repr(given)))
        return
    template.append(wrapped)
    key.append(wrapped)
    scalars.append(_fits(given))


def _fits(number):
    if type(number) is int and not -(1 << 63) <= number < (1 << 63):
        return number - (1 << 64)
    return number


def _tensor_list(operator, parameter, given):
    if not isinstance(given, (list, tuple)):
        raise wrong_argument(operator, parameter, given)
    for at, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument {operator.by_name[parameter.name]}, but got {type_name(type(t))}")
    return given


def bind(operator, args, kwargs):
    """Arguments in the order of the declaration, defaults filled in; Python's TypeError in PyTorch's words."""
    parameters = operator.parameters
    bound = list(args)
    if len(bound) > len(parameters):
        raise TypeError(f"{operator.name}() takes {len(parameters)} positional arguments but {len(bound)} were given")
    for parameter in parameters[len(bound):]:
        name = parameter.name
        if name in kwargs:
            bound.append(kwargs.pop(name))
        elif name == "self" and "input" in kwargs:
            bound.append(kwargs.pop("input"))
        elif parameter.required:
            raise TypeError(f'{operator.name}() missing 1 required positional arguments: "{"input" if name == "self" else name}"')
        else:
            bound.append(parameter.default)
    if kwargs:
        raise TypeError(f"{operator.name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
    return bound


# -- errors -----------------------------------------------------------------------------------------------------------


def wrong_argument(operator, parameter, given, args=()):
    """PyTorch's TypeError for an argument of the wrong type; it knows what to say of a method, too (`of_method`)."""
    name, at = shown_name(operator), operator.by_name[parameter.name]
    shown = "input" if parameter.name == "self" else parameter.name
    kind = {"Tensors": "tuple of Tensors", "Number": "Number"}.get(parameter.kind.name, "Tensor")
    passed = [type_name(type(a)) for a, p in zip(args, operator.parameters) if p.required or a is not p.default]

    def text(name, left):
        if at and (name in _SEVERAL_SIGNATURES or name[:-1] in _SEVERAL_SIGNATURES):
            return f"{name}() received an invalid combination of arguments - got ({', '.join(passed[left:])}), but expected one of:"
        position = "" if parameter.keyword_only else f" (position {at + 1 - left})"
        return f"{name}(): argument '{shown}'{position} must be {kind}, not {type_name(type(given))}"
    error = TypeError(text(name, 0))
    error.text = text
    return error


# With a single signature the argument is named, with several the types that were given are listed.
_SEVERAL_SIGNATURES = frozenset((
    "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "clamp", "clamp_max", "clamp_min", "copysign",
    "eq", "fill", "floor_divide", "fmod", "ge", "gt", "index_fill", "le", "lerp", "lt", "masked_fill", "max", "mean", "min", "ne", "pow",
    "prod", "remainder", "scatter", "sum", "where", "xlogy"))


def of_method(error, name):
    """The same refusal for ``self.name(...)``, whose positions count from the first argument after ``self``."""
    return TypeError(error.text(name, 1)) if hasattr(error, "text") else error


def shown_name(operator):
    """An operator as PyTorch's users call it."""
    name = operator.name.split(".")[0]
    for tail in ("_Tensor", "_Scalar", "_Tensor", "_dim", "_dims", "_all", "_self", "_method"):
        name = name.removesuffix(tail)
    return name


_OF_PYTORCH = {"unique": "_unique2", "unique_runs": "unique_consecutive", "mask_places": "masked_select",
               "histogram_of": "histogram.bin_ct", "histogramdd_of": "_histogramdd_from_bin_cts"}
_ALL_COUNT = ("The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent "
              "implementation does not exist. This implementation returns a fake value, assuming all elements of the tensor are "
              "non-zero. To enable this registration, please set 'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True.")
NO_META_KERNEL = ("aten::{}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered. You "
                  "may have run into this message while using an operator with PT2 compilation APIs (torch.compile/torch.export); in order "
                  "to use this operator with those APIs you'll need to add a fake impl. Please see the following for next steps:  "
                  "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html")


def unknown_size(operator):
    """The error of an operator whose result's size follows from values, given a tensor that has none."""
    name = shown_name(operator)
    if name in ("nonzero", "mask_positions"):
        return NotImplementedError(_ALL_COUNT)
    if name == "repeat_places":
        return RuntimeError("cannot repeat_interleave a meta tensor without output_size")
    return NotImplementedError(NO_META_KERNEL.format(_OF_PYTORCH.get(name, name)))
