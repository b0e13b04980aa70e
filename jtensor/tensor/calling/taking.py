"""Which arguments PyTorch's parser takes: its signatures, and whether a call fits one of them.

Owns: the signatures in ``signatures.txt`` as objects, what counts as an int, an index, a number and so on (`TAKES`), the names that
parameters have besides (`ALSO`, `ELSEWHERE`), `fit`. May not know: when a call is asked about, nor what is said of several signatures,
which is in `refusals`.
"""
import functools
import operator
import re
from pathlib import Path

import numpy as np

from ...base import devices, dtypes
from ...base.naming import type_name
from ..core import Tensor

# -- signatures -------------------------------------------------------------------------------------------------------


class Parameter:
    """One parameter of a signature: the ``kind`` of what it takes, whether None will do, its default as text."""

    __slots__ = ("kind", "name", "default", "none", "one", "number", "keyword_only")

    def __init__(self, text, keyword_only):
        words, _, default = text.partition("=")
        kind, _, self.name = words.rpartition(" ")
        self.none, self.one, self.number = "?" in kind, "1" in kind, "#" in kind
        self.kind, self.default, self.keyword_only = kind.rstrip("?1#"), default, keyword_only

    @property
    def required(self):
        return not self.default

    def shown(self):
        """As PyTorch's list of signatures has it."""
        return f"{NAMES.get(self.kind, self.kind)} {self.name}" + (f" = {self.default}" if self.default else "")


class Signature:
    """The parameters of one way to call a function; ``hidden``: PyTorch takes it, and does not show it."""

    __slots__ = ("parameters", "hidden", "positional", "least", "text")

    def __init__(self, text):
        self.hidden, self.parameters, starred, shown = text[0] == "~", [], False, []
        inside = text.removeprefix("~")[1:-1]
        for part in re.split(r", (?![^(\[]*[)\]])", inside) if inside else ():
            if part == "*":
                starred = True
                shown.append(part)
            else:
                self.parameters.append(Parameter(part, starred))
                shown.append(self.parameters[-1].shown())
        self.positional = sum(not p.keyword_only for p in self.parameters)
        self.least = sum(p.required for p in self.parameters)
        self.text = f"({', '.join(shown)})"


NAMES = {"symint": "int", "ints": "tuple of ints",
         "Tensors": "tuple of Tensors", "floats": "tuple of floats", "numbers": "tuple of Scalars"}
WITHOUT = "-"                       # a method without arguments, which Python itself refuses


@functools.cache
def _file():
    return "\n" + Path(__file__).with_name("signatures.txt").read_text()


@functools.cache
def line_of(name):
    """The signatures of a function, or of a method (``Tensor.name``), as text; None where PyTorch does not parse them so.

    A script asks for few of the thousand there are: to find a line takes less than to take the file apart.
    """
    text = _file()
    at = text.find(f"\n{name} ")
    return None if at < 0 else text[at + len(name) + 2:text.find("\n", at + 1)]


@functools.cache
def signatures(name):
    """The `Signature`s of a function, or of a method (``Tensor.name``); `WITHOUT`; None where PyTorch does not parse them so."""
    text = line_of(name)
    if text is None or text == WITHOUT:
        return text
    return [Signature(part) for part in re.findall(r"~?\((?:[^()]|\([^()]*\))*\)", text)]


# -- which arguments are taken ----------------------------------------------------------------------------------------


def _number_like(given):
    return isinstance(given, Tensor) and given._spec.ndim == 0 and not given.requires_grad


def is_int(given):
    """Whether PyTorch takes something for an int."""
    return isinstance(given, (int, np.integer)) and not isinstance(given, (bool, np.bool_)) or (
        _number_like(given) and given._spec.dtype.category == 1)


def is_index(given):
    """Whether PyTorch takes something for an int of a size: of tensors those of one int."""
    if isinstance(given, Tensor):
        return given._spec.numel == 1 and given._spec.dtype.category == 1 and not given.requires_grad
    return is_int(given) or is_whole(given) or stands_for_int(given)


def stands_for_int(given):
    """Whether an object of a class of the program's says which int it is: PyTorch takes it for a size and in a list of ints."""
    if isinstance(given, (int, np.generic, np.ndarray, Tensor)) or not hasattr(type(given), "__index__"):
        return False
    try:
        operator.index(given)
    except TypeError:
        return False
    return True


def is_whole(given):
    """Whether something is one of NumPy's arrays of one int, which Python takes for an index."""
    return isinstance(given, np.ndarray) and not given.ndim and given.dtype.kind in "iu"


def in_plain_words(name, given):
    """An argument with a dtype for Python's type, an int or a truth for one of NumPy's (or its array of one), and a text for bytes: the
    same object where there is nothing to be put so. A truth value that follows an int stands for one: of a list PyTorch asks what its
    first item is. ``name`` is the place in the list where the ints are given one by one."""
    if name == "dtype" and isinstance(given, type):
        return dtypes.OF_PYTHON.get(given, given)
    if is_whole(given) or isinstance(given, np.integer) or isinstance(given, np.bool_) and name not in ("data", "obj"):
        return given.item()
    if given.__class__ is bytes and name not in ("data", "obj"):           # of numbers, which bytes are not
        return given.decode()
    if given.__class__ is bool and name.__class__ is int and name:
        return int(given)
    if given.__class__ is tuple or given.__class__ is list:
        of_ints = given and given[0].__class__ is int and name not in ("data", "obj")
        plain = given.__class__([int(one) if of_ints and one.__class__ is bool else in_plain_words(name, one) for one in given])
        return given if all(a is b for a, b in zip(plain, given, strict=True)) else plain
    return given


def _is_number(given):
    return isinstance(given, (int, float, complex, np.number, np.bool_)) or _number_like(given)


def _is_float(given):
    return isinstance(given, (int, float, np.floating, np.integer, np.bool_)) or _number_like(given)


def _begins_with(test):
    return lambda given: isinstance(given, (list, tuple)) and (not given or test(given[0]))


def _named(module_name):
    return lambda given: type_name(type(given)) == module_name


TAKES = {
    "Tensor": lambda given: isinstance(given, Tensor),
    "Number": _is_number,
    "int": is_int,
    "symint": is_index,
    "float": _is_float,
    "bool": lambda given: type_name(type(given)) in ("bool", "numpy.bool_"),              # since NumPy 2 they are `numpy.bool`
    "str": lambda given: isinstance(given, (str, bytes)),
    "torch.dtype": lambda given: isinstance(given, dtypes.dtype) or isinstance(given, type) and given in dtypes.OF_PYTHON,
    "torch.device": lambda given: isinstance(given, (devices.device, str, int)) and not isinstance(given, bool),
    "torch.Generator": lambda given: (type(given).__module__, type(given).__name__) == ("torch._C", "Generator"),
    "torch.memory_format": lambda given: (type_name(type(given)) == "torch.memory_format"
                                          or isinstance(given, str) and given.endswith("_format")),
    "ints": _begins_with(is_index),
    "floats": _begins_with(_is_float),
    "numbers": _begins_with(_is_number),
    "Tensors": lambda given: isinstance(given, (list, tuple)),
}
_SPLIT = dict.fromkeys(("sections", "indices", "tensor_indices_or_sections"), "indices_or_sections")
# PyTorch's names for parameters that are called otherwise here: {function or method: {its name: ours}}.
ALSO = {
    **dict.fromkeys(("hsplit", "vsplit", "dsplit", "tensor_split"), _SPLIT), "copy_": {"other": "src"},
    "orgqr": {"input2": "tau"}, "ormqr": {"input2": "tau", "input3": "other"},
    "swapaxes": {"axis0": "dim0", "axis1": "dim1"}, "resize_as_": {"the_template": "other"},
    **dict.fromkeys("""linalg_cholesky linalg_cond linalg_householder_product linalg_matrix_rank linalg_pinv
                       linalg_solve_triangular""".split(), {"input": "A"}),
    **dict.fromkeys("""linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_matrix_norm linalg_norm
                       linalg_tensorinv""".split(), {"input": "A"}), "linalg_det": {"A": "input"},
    "linalg_lstsq": {"input": "A", "b": "B"}, "linalg_tensorsolve": {"input": "A", "other": "B"},
    "isin": {"element": "elements", "test_element": "test_elements"}, "affine_grid_generator": {"theta": "input"},
    "unsafe_split": {"input": "tensor"},
    "result_type": {"tensor": "tensor1", "other": "tensor2", "scalar": "tensor2", "scalar1": "tensor1", "scalar2": "tensor2"},
    "searchsorted": {"self": "input"}, "bucketize": {"self": "input"},
    **dict.fromkeys("""bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift float_power pow remainder special_xlog1py
                       special_xlogy special_zeta xlogy""".split(), {"self": "input"}),
}


ELSEWHERE = {"x": "input", "a": "input", "x1": "input", "x2": "other", "axis": "dim", "keepdims": "keepdim"}      # NumPy's names


def takes(parameter, given):
    """Whether an argument is one for a parameter."""
    if given is None and parameter.none:
        return True
    if parameter.kind == "deprecated":          # there is one, which nobody uses
        return False
    test = TAKES.get(parameter.kind)
    if test is None or test(given):
        return True
    return parameter.one and (is_index(given) if parameter.kind == "ints" else _is_float(given)) or parameter.number and _is_number(given)


class Refused(Exception):
    """A signature does not fit; its text is what PyTorch says if no other could be meant."""


def fit(signature, name, args, kwargs):
    """Asks whether a call fits a signature; raises `Refused`."""
    parameters, given, left = signature.parameters, len(args), dict(kwargs)
    ints = signature.positional == 1 and parameters[0].kind == "ints" and (given < 2 or is_index(args[0]))
    if given > signature.positional and not ints:
        raise Refused(_too_many(signature, name, given))
    at = 0
    for place, p in enumerate(parameters):
        keyword = False
        if at < given and not p.keyword_only:
            value = args[at]
        elif at < given:
            raise Refused(_too_many(signature, name, given))
        else:
            key = next((k for k in left if k == p.name or ELSEWHERE.get(k) == p.name), None)
            if key is None:
                if p.required:
                    lacking = [q.name for q in parameters[place:] if q.required]
                    listed = ", ".join([f'"{n}"' for n in lacking])
                    many = "s" if len(lacking) == 1 else ""                    # PyTorch has it the other way round
                    raise Refused(f"{name}() missing {len(lacking)} required positional argument{many}: {listed}")
                continue
            value, keyword = left.pop(key), True
        if takes(p, value):
            at += not keyword
        elif ints and not place and not keyword and is_index(value):
            at = given
        else:
            raise Refused(unfit(p, value, name, keyword, place))
    if left:
        known = [p.name for p in parameters]
        for key in kwargs:                                       # in which PyTorch does not look for NumPy's names any more
            if key not in known:
                raise Refused(f"{name}() got an unexpected keyword argument '{key}'")
            if key in known[:given]:
                raise Refused(f"{name}() got multiple values for argument '{key}'")


def plain_numbers(name, args, kwargs):
    """The arguments of a call that fits, with numbers for tensors where a number is wanted, and for objects that stand for an int where a
    size or a list of ints is; None where there is none to be put so."""
    signature = _fitting(name, args, kwargs)
    if signature is None:
        return None
    wanted = {p.name: p for p in signature.parameters}
    by_place = [signature.parameters[at] for at in range(min(len(args), signature.positional))]
    plain = [_number_of(p, given) for p, given in zip(by_place, args)] + list(map(whole, args[len(by_place):]))      # x.view(2, 3)
    named = {key: _number_of(wanted[key], given) if key in wanted else given for key, given in kwargs.items()}
    changed = any(a is not b for a, b in zip((*plain, *named.values()), (*args, *kwargs.values()), strict=True))
    return (plain, named) if changed else None


def by_their_names(name, args, kwargs):
    """The arguments of a call that fits, but for a function's first, by the names that PyTorch gives them; numbers that are its one list
    of ints together. None where no signature is known to fit."""
    signature = _fitting(name, args, kwargs)
    if signature is None:
        return None
    names = [p.name for p in signature.parameters[:signature.positional]]
    if len(args) > len(names):
        args = [tuple(args)]
    first = not name.startswith("Tensor.")
    return dict(zip(names[first:], args[first:])) | kwargs


def _fitting(name, args, kwargs):
    """The first of PyTorch's signatures that takes a call, or None."""
    known = signatures(name)
    for signature in known if known and known != WITHOUT else ():
        try:
            fit(signature, name, args, kwargs)
        except Refused:
            continue
        return signature
    return None


def whole(given):
    """An int for an object that stands for one, also among others; else the same object."""
    if given.__class__ is int:
        return given
    if stands_for_int(given):
        return operator.index(given)
    if isinstance(given, (list, tuple)) and any(map(stands_for_int, given)):
        return tuple(map(whole, given))
    return given


def _number_of(parameter, given):
    if parameter.kind in ("symint", "ints") and (number := whole(given)) is not given:
        return number
    return given.item() if parameter.kind in ("int", "symint", "float") and isinstance(given, Tensor) else given


def unfit(parameter, value, name, keyword, place):
    position = "" if keyword else f" (position {place + 1})"
    wanted = f"{name}(): argument '{parameter.name}'{position} must be {NAMES.get(parameter.kind, parameter.kind)}"
    if isinstance(value, (list, tuple)) and value and parameter.kind in ("ints", "floats", "numbers"):
        return f"{wanted}, but found element of type {type_name(type(value[0]))} at pos 0"
    return f"{wanted}, not {type_name(type(value))}"


def _too_many(signature, name, given):
    most, least = signature.positional, signature.least
    if least != most:
        return f"{name}() takes from {least} to {most} positional arguments but {given} were given"
    return f"{name}() takes {most} positional argument{'' if most == 1 else 's'} but {given} {'was' if given == 1 else 'were'} given"
