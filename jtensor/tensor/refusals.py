"""How PyTorch binds the arguments of its functions, and in which words it refuses them.

Owns: `refusal`: the TypeError for a call that PyTorch's argument parser would not take, by the signatures in ``signatures.txt``; `guarded`,
which gives a function of ours that way of failing; `check_statics` for arguments that an operator would take as they are. None of it is on
the way of a call that succeeds: a call is looked at again when it has failed, or when its plan is made.
May not know: what the functions do.
"""
import functools
import re
from pathlib import Path

import numpy as np

from ..base import devices, dtypes
from ..base.naming import type_name
from ..base.size import Size
from ..ops.operator import Static, TensorOrNumber
from ..trace.spec import Spec
from .core import Tensor

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
def table():
    """{name: its signatures as text} of the file."""
    lines = Path(__file__).with_name("signatures.txt").read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines)


@functools.cache
def signatures(name):
    """The `Signature`s of a function, or of a method (``Tensor.name``); `WITHOUT`; None where PyTorch does not parse them so."""
    text = table().get(name)
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
    return is_int(given) or is_whole(given)


def is_whole(given):
    """Whether something is one of NumPy's arrays of one int, which Python takes for an index."""
    return isinstance(given, np.ndarray) and not given.ndim and given.dtype.kind in "iu"


def in_plain_words(name, given):
    """An argument with a dtype for Python's type, and with ints for NumPy's arrays of one: the same object where there are none."""
    if name == "dtype" and isinstance(given, type):
        return dtypes.OF_PYTHON.get(given, given)
    if is_whole(given):
        return given.item()
    if given.__class__ is tuple or given.__class__ is list:
        plain = given.__class__([in_plain_words(name, one) for one in given])
        return given if all(a is b for a, b in zip(plain, given, strict=True)) else plain
    return given


def _is_number(given):
    return isinstance(given, (int, float, complex, np.number, np.bool_)) or _number_like(given)


def _is_float(given):
    return isinstance(given, (int, float, np.floating, np.integer)) or _number_like(given)


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
    "str": lambda given: isinstance(given, str),
    "torch.dtype": lambda given: isinstance(given, dtypes.dtype) or isinstance(given, type) and given in dtypes.OF_PYTHON,
    "torch.device": lambda given: isinstance(given, (devices.device, str, int)) and not isinstance(given, bool),
    "torch.memory_format": lambda given: type_name(type(given)) == "memory_format" or isinstance(given, str) and given.endswith("_format"),
    "ints": _begins_with(is_index),
    "floats": _begins_with(_is_float),
    "numbers": _begins_with(_is_number),
    "Tensors": lambda given: isinstance(given, (list, tuple)),
}
_SPLIT = dict.fromkeys(("sections", "indices", "tensor_indices_or_sections"), "indices_or_sections")
# PyTorch's names for parameters that are called otherwise here: {function or method: {its name: ours}}.
ALSO = {
    **dict.fromkeys(("hsplit", "vsplit", "dsplit", "tensor_split"), _SPLIT), "orgqr": {"input2": "tau"}, "copy_": {"other": "src"},
    "swapaxes": {"axis0": "dim0", "axis1": "dim1"}, "resize_as_": {"the_template": "other"},
    **dict.fromkeys("""linalg_cholesky linalg_cond linalg_householder_product linalg_matrix_rank linalg_pinv
                       linalg_solve_triangular""".split(), {"input": "A"}),
    **dict.fromkeys("linalg_eigh linalg_eigvalsh linalg_norm linalg_matrix_norm".split(), {"input": "A"}), "linalg_det": {"A": "input"},
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
            raise Refused(_unfit(p, value, name, keyword, place))
    if left:
        key = next(iter(left))
        known = [p.name for p in parameters]
        if key in known[:given]:
            raise Refused(f"{name}() got multiple values for argument '{key}'")
        raise Refused(f"{name}() got an unexpected keyword argument '{key}'")


def _unfit(parameter, value, name, keyword, place):
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


# -- what an operator is given ----------------------------------------------------------------------------------------

_ORDINARY = {int, bool, type(None), tuple, Size, dtypes.dtype, devices.device}


def check_statics(operator, name, template):
    """Refuses static arguments of a type that PyTorch's function ``name`` does not take. Asked once for each new plan."""
    if operator.parameters[:1] and operator.parameters[0].kind is TensorOrNumber and not any(type(given) is Spec for given in template):
        known = signatures(name)
        if known and known != WITHOUT and all(any(p.kind == "Tensor" and not p.number and p.required for p in one.parameters)
                                              for one in known):
            raise TypeError(f"{name}(): a tensor is wanted among the numbers")            # PyTorch's words: `refusal`
    for parameter, given in zip(operator.parameters, template, strict=True):
        if parameter.kind is not Static or given is parameter.default:
            continue
        kind, default = type(given), type(parameter.default)
        if kind in _ORDINARY and not (kind is int and default is bool or kind is bool and default is not bool) and not (
                kind is tuple and given and type(given[0]) not in _ORDINARY) or kind is str and default is str:
            continue
        known = _known(name.lstrip("_")).get(parameter.name)
        if known is None and isinstance(given, Tensor) and not is_index(given) or known and not any(takes(p, given) for p in known):
            raise TypeError(_unfit((known or [_ANY])[0], given, name, True, 0))


@functools.cache
def _known(name):
    """{parameter: what the function and the method of a name take for it}."""
    found = {}
    for one in (name, f"Tensor.{name}"):
        for signature in table().get(one, WITHOUT) != WITHOUT and signatures(one) or ():
            for p in signature.parameters:
                found.setdefault(p.name, []).append(p)
    return found


_ANY = Parameter("Number value", False)


# -- the texts --------------------------------------------------------------------------------------------------------


def _elements(signature, shown, args, kwargs):
    """What is wrong inside of lists that are taken for what they begin with: PyTorch finds it when it unpacks them."""
    at = 0
    for p in signature.parameters:
        value = args[at] if at < len(args) else kwargs.get(p.name)
        at += 1
        if p.kind == "Tensors" and isinstance(value, (list, tuple)) and not p.none:
            for k, t in enumerate(value):
                if not isinstance(t, Tensor):
                    return TypeError(f"expected Tensor as element {k} in argument {at - 1}, but got {type_name(type(t))}")
        if p.kind in ("int", "symint") and _large(value):
            return ValueError(TOO_LARGE.rstrip())
        if p.kind == "ints" and p.default == "" and at == 1 and signature.positional == 1 and args and is_index(args[0]):
            value = args
        if p.kind == "ints" and isinstance(value, (list, tuple)):
            for k, n in enumerate(value):
                if not (is_index(n) or isinstance(n, bool)) or _large(n):                  # the first alone must not be a bool
                    what = TOO_LARGE if is_index(n) else f"type must be tuple of ints,but got {type_name(type(n))}"
                    return TypeError(f"{shown}(): argument '{p.name}' failed to unpack the object at pos {k + 1} with error \"{what}\"")
        elif p.kind == "ints" and p.one and _large(value):
            return ValueError(TOO_LARGE.rstrip())
    return None


TOO_LARGE = "Overflow when unpacking long long\n"


def _large(given):
    """Whether something is an int that 64 bits have no room for."""
    return isinstance(given, int) and not -(1 << 63) <= given < 1 << 63


def refusal(name, args, kwargs):
    """PyTorch's error for a call, or None where its parser would take it (or is not known)."""
    found = signatures(name)
    if found is None:
        return None
    shown = name.removeprefix("Tensor.").removeprefix("nn.")
    if found == WITHOUT:
        if kwargs:
            return TypeError(f"TensorBase.{shown}() takes no keyword arguments")
        return TypeError(f"TensorBase.{shown}() takes no arguments ({len(args)} given)") if args else None
    shown = "log_sigmoid" if shown == "logsigmoid" else shown              # what PyTorch calls its kernel
    texts = []
    for signature in found:
        try:
            fit(signature, shown, args, kwargs)
        except Refused as refused:
            texts.append(str(refused))
        else:
            return _elements(signature, shown, args, kwargs)
    if len(found) == 1:
        return TypeError(texts[0])
    many = len(args) + len(kwargs)
    plausible = [text for s, text in zip(found, texts, strict=True) if not s.hidden and s.least <= many <= len(s.parameters)]
    if len(plausible) == 1:
        return TypeError(plausible[0])
    listed = [s for s in found if not s.hidden]
    got = f"{shown}() received an invalid combination of arguments - got "
    kwargs = {k: kwargs[k] for k in listing(kwargs)}
    if len(listed) == 1:
        return TypeError(got + _against(listed[0], args, kwargs))
    got += f"{_described(args, kwargs)}, but expected "
    return TypeError(got + "one of:\n" + "".join([f" * {s.text}\n{_mismatch(s, args, kwargs)}" for s in listed]))


def _against(signature, args, kwargs):
    """What PyTorch says where it shows one signature."""
    parts, strange = _compared(signature, kwargs)
    if strange:
        return f"unrecognized keyword arguments: {', '.join(strange)}"
    counted = len(args) + len(kwargs) == len(parts)
    return f"{_marked(parts, args, kwargs) if counted else _described(args, kwargs)}, but expected {signature.text}"


def _compared(signature, kwargs):
    """A call's keywords against a signature: (its pieces as (type, name), the keywords that are none of the last ones).

    PyTorch reads its own text, in which a ``*`` is an argument, what has a default is called so, and there is nothing between two brackets.
    """
    parts = [part.rpartition(" ")[::2] for part in signature.text[1:-1].split(", ")]
    last = [name for _, name in parts[max(0, len(parts) - len(kwargs)):]]
    return parts, [k for k in kwargs if k not in last]


def listing(names):
    """The order in which PyTorch lists the keywords of a call: that of an ``unordered_map`` of libstdc++ with 13 buckets.

    A new entry comes first, but where its bucket has one already: then it comes before that.

    >>> listing(["foo", "bar", "dim", "keepdim", "a"])
    ['keepdim', 'dim', 'bar', 'a', 'foo']
    """
    order, buckets = [], {}
    for name in names:
        first = buckets.get(bucket := _hash(name.encode()) % 13)
        order.insert(0 if first is None else order.index(first), name)
        buckets[bucket] = name
    return order


_MIX, _WORD = 0xC6A4A7935BD1E995, (1 << 64) - 1


def _hash(text):
    """MurmurHash as libstdc++ has it for strings."""
    found = 0xC70F6907 ^ (len(text) * _MIX & _WORD)
    whole = len(text) & ~7
    for at in range(0, whole, 8):
        piece = int.from_bytes(text[at:at + 8], "little") * _MIX & _WORD
        found = (found ^ ((piece ^ piece >> 47) * _MIX & _WORD)) * _MIX & _WORD
    if len(text) > whole:
        found = (found ^ int.from_bytes(text[whole:], "little")) * _MIX & _WORD
    found = (found ^ found >> 47) * _MIX & _WORD
    return found ^ found >> 47


def _described(args, kwargs):
    types = [_type_of(a) for a in args]
    named = [f"{k}={_type_of(v)}" for k, v in kwargs.items()]
    return f"({', '.join(types + named)})" if types or not named else f"({', '.join(named)}, )"


def _type_of(given):
    name = type_name(type(given))
    return "torch.dtype" if name == "dtype" else name


def _mismatch(signature, args, kwargs):
    """Why one of the signatures does not fit, where as many arguments were given as it has pieces."""
    parts, strange = _compared(signature, kwargs)
    if len(args) + len(kwargs) != len(parts):
        return ""
    if strange:
        return f"      didn't match because some of the keywords were incorrect: {', '.join(strange)}\n"
    return f"      didn't match because some of the arguments have invalid types: {_marked(parts, args, kwargs)}\n"


def _marked(parts, args, kwargs):
    """The types of the arguments, with marks around those that are not called as the signature has it."""
    said = []
    for at, (kind, name) in enumerate(parts):
        given = args[at] if at < len(args) else kwargs[name]
        text = _type_of(given)
        if isinstance(given, (tuple, list)):
            inside = ", ".join([type_name(type(g)) for g in given])
            text += f" of [{inside}]" if isinstance(given, list) else f" of ({inside}{',' if len(given) == 1 else ''})"
        fits = text in ("int", "float") if kind == "float" else text == kind
        said.append(("" if fits else "!") + (f"{name}=" if at >= len(args) else "") + text + ("" if fits else "!"))
    return f"({', '.join(said)})" if args or not kwargs else f"({', '.join(said)}, )"
