"""Which axes of a model's inputs may change, and their names, as `torch.onnx.export` is told: ``dynamic_axes`` or ``dynamic_shapes``.

Owns: reading both. May not know: models, graphs.
"""
import warnings

from ..tensor.core import Tensor


class Symbol:
    """A size that may change: ``name``; ``places``: [(which input, axis)]; ``size`` as it was given, ``other`` as it was tried;
    ``shared``: whether another one was always of the same size."""

    def __init__(self, name, size):
        self.name, self.size, self.places, self.other, self.shared = name, size, [], None, False

    def __str__(self):
        return f"'{self.name}'"


def symbols(axes, names, tensors):
    """The `Symbol`s of {name of an input: {axis: name}}. ``ValueError`` for an axis that is not there, or two sizes of one name."""
    made = {}
    for at, (name, tensor) in enumerate(zip(names, tensors, strict=True)):
        for axis, called in axes.get(name, {}).items():
            if not -tensor.dim() <= axis < tensor.dim():
                raise ValueError(f"the input '{name}' has {tensor.dim()} dimensions and no axis {axis}")
            axis %= tensor.dim()
            size = tensor.shape[axis]
            symbol = made.setdefault(called, Symbol(called, size))
            if symbol.size != size:
                raise ValueError(f"the dynamic axis '{called}' is of size {symbol.size} and of size {size} in the examples")
            if size == 0:
                raise ValueError(f"the dynamic axis '{called}' is empty in the examples, which do not show what the model does then")
            symbol.places.append((at, axis))
    return list(made.values())


def from_dynamic_axes(given, names, by_number):
    """{name: {axis: its name}} of ``dynamic_axes``; ``names``: of the inputs and outputs there are. ``by_number``: whether a list's axes
    are told of in a warning, as PyTorch's older exporter does."""
    made = {}
    for key, axes in (given or {}).items():
        if key not in names:
            warnings.warn(f"Provided key {key} for dynamic axes is not a valid input/output name", stacklevel=4)
        if isinstance(axes, (list, tuple)):
            if by_number:
                warnings.warn("No names were found for specified dynamic axes of provided input.Automatically generated names will be "
                              f"applied to each dynamic axes of input {key}", stacklevel=4)
            if not all(type(axis) is int for axis in axes):
                raise ValueError("The type of axis index is expected to be an integer")
            axes = {axis: f"{key}_dynamic_axes_{at}" for at, axis in enumerate(axes, 1)}
        elif not isinstance(axes, dict):
            raise ValueError("Unsupported dynamic_axes format. Please provide a dict or a list.")
        elif not all(type(axis) is int for axis in axes):
            raise ValueError("The axis in dynamic_axes must be in the form of: dict[int, str] or list[int].")
        made[key] = dict(axes)
    return made


def from_dynamic_shapes(given, arguments, names):
    """{name: {axis: its name}} of ``dynamic_shapes``: of each argument, {axis: name}, a list of names by axis, or None.

    ``arguments``: {name: argument}; ``names``: of the tensors in them, in order.
    """
    if not given:
        return {}
    if isinstance(given, dict):
        for key in given:
            if key not in arguments:
                raise ValueError(f"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names "
                                 f"{list(arguments)} of `inputs`, but here they are {list(given)}")
        given = [given.get(key) for key in arguments]
    if len(given) != len(arguments):
        raise ValueError(f"`dynamic_shapes` has {len(given)} entries for {len(arguments)} arguments of the model")
    made, rest = {}, iter(names)
    for argument, one in zip(arguments.values(), given, strict=True):
        _of_argument(argument, one, rest, made)
    return made


def _of_argument(argument, given, names, made):
    if isinstance(argument, Tensor):
        name = next(names)
        axes = dict(enumerate(given)) if isinstance(given, (list, tuple)) else given or {}
        made[name] = {axis: called for axis, one in axes.items() if (called := _called(one, name, axis, argument)) is not None}
    elif isinstance(argument, (list, tuple, dict)):
        parts = list(argument.values()) if isinstance(argument, dict) else list(argument)
        if isinstance(given, dict):
            given = [given.get(key) for key in argument] if isinstance(argument, dict) else [given.get(at) for at in range(len(parts))]
        for part, one in zip(parts, given or [None] * len(parts), strict=True):
            _of_argument(part, one, names, made)


def _called(given, name, axis, tensor):
    """The name of an axis that may change; None of one that may not."""
    if given is None or isinstance(given, int):
        if isinstance(given, int) and tensor.shape[axis] != given:
            raise ValueError(f"the axis {axis} of the input '{name}' is of size {tensor.shape[axis]}, not {given}")
        return None
    if isinstance(given, str):
        return given
    called = getattr(given, "__name__", None)                     # of a torch.export.Dim
    if called is not None:
        return called
    return None if "STATIC" in repr(given) else f"{name}_dim_{axis}"
