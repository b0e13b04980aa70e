"""In which words PyTorch refuses arguments.

Owns: `refusal`: the TypeError for a call that PyTorch's argument parser would not take; `check_statics` for arguments that an operator
would take as they are. None of it is on the way of a call that succeeds: a call is looked at again when it has failed, or when its plan is
made. May not know: what the functions do. What the parser takes is in `taking`.
"""
import functools

from ...base import devices, dtypes
from ...base.naming import type_name
from ...base.size import Size
from ...ops.operator import Static, TensorOrNumber
from ...trace.spec import Spec
from ..core import Tensor
from .taking import ELSEWHERE, WITHOUT, Parameter, Refused, fit, is_index, line_of, signatures, takes, unfit

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
            raise TypeError(unfit((known or [_ANY])[0], given, name, True, 0))


@functools.cache
def _known(name):
    """{parameter: what the function and the method of a name take for it}."""
    found = {}
    for one in (name, f"Tensor.{name}"):
        for signature in (line_of(one) or WITHOUT) != WITHOUT and signatures(one) or ():
            for p in signature.parameters:
                found.setdefault(p.name, []).append(p)
    return found


_ANY = Parameter("Number value", False)


# -- the texts --------------------------------------------------------------------------------------------------------


def _elements(signature, shown, args, kwargs):
    """What is wrong inside of lists that are taken for what they begin with: PyTorch finds it when it unpacks them."""
    at, kwargs = 0, {ELSEWHERE.get(name, name): value for name, value in kwargs.items()} | kwargs
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


# What PyTorch calls the function that it calls.
_KERNELS = {"logsigmoid": "log_sigmoid", "dsmm": "mm", "spmm": "mm", "hsmm": "hspmm", "saddmm": "sspaddmm"}


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
    shown = _KERNELS.get(shown, shown)
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
    got += f"{described(args, kwargs)}, but expected "
    return TypeError(got + "one of:\n" + "".join([f" * {s.text}\n{_mismatch(s, args, kwargs)}" for s in listed]))


def _against(signature, args, kwargs):
    """What PyTorch says where it shows one signature."""
    parts, strange = _compared(signature, kwargs)
    if strange:
        return f"unrecognized keyword arguments: {', '.join(strange)}"
    counted = len(args) + len(kwargs) == len(parts)
    return f"{_marked(parts, args, kwargs) if counted else described(args, kwargs)}, but expected {signature.text}"


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


def described(args, kwargs):
    """The types of a call's arguments as PyTorch's refusals list them."""
    types = [_type_of(a) for a in args]
    named = [f"{k}={_type_of(v)}" for k, v in kwargs.items()]
    return f"({', '.join(types + named)})" if types or not named else f"({', '.join(named)}, )"


def _type_of(given):
    name = type_name(type(given))
    return "torch." + name if name in ("dtype", "layout", "memory_format") else name


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
