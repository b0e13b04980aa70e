"""What a program of TorchScript means by ``torch.add(...)``, ``ops.prim.dtype(...)`` and their like: an operator on tensors, or a function
of Python's numbers, lists, texts and dictionaries, by what it is given.

A type is a number there (``dtype=6``), sizes are lists, what answers several tensors answers a list. Owns: these meanings. May not know:
how programs are read, or run.
"""
import builtins
import math
import operator
import re
import warnings

import jtensor

from ..base import devices, dtypes
from ..base.errors import missing
from ..library import aten
from ..tensor.core import Tensor
from . import Error
from .text import number

CODES = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64, None,
         dtypes.complex64, dtypes.complex128, dtypes.bool, None, None, None, dtypes.bfloat16)
FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
_LISTS = frozenset("""split chunk unbind tensor_split hsplit vsplit dsplit split_with_sizes unsafe_split
                      unsafe_split_with_sizes unsafe_chunk broadcast_tensors meshgrid nonzero_numpy atleast_1d atleast_2d
                      atleast_3d""".split())
"""What answers a list of tensors in PyTorch's schemas, and a tuple in Python."""


def dtype_of(code):
    """The dtype that a number stands for; None and dtypes as they are."""
    if not isinstance(code, int):
        return code
    found = CODES[code] if 0 <= code < len(CODES) else None
    if found is None:
        raise missing(f"the type with the number {code} of TorchScript", "a type that torch.tensor takes")
    return found


# -- numbers, texts, lists ----------------------------------------------------------------------------------------------

def shown(x):
    """A value as programs write it into texts: ``2.``, ``[a, b]``.

    >>> shown([1.0, 2.5]), shown({"a": ("b", None)})
    ('[1., 2.5]', '{a: (b, None)}')
    """
    if x.__class__ is float:
        return number(x)
    if x.__class__ is list:
        return f"[{', '.join(map(shown, x))}]"
    if x.__class__ is tuple:
        return f"({', '.join(map(shown, x))}{',' * (len(x) == 1)})"
    if x.__class__ is dict:
        return "{" + ", ".join([f"{shown(key)}: {shown(value)}" for key, value in x.items()]) + "}"
    return str(x)


def _format(text, *args):
    pieces = text.split("{}")
    return pieces[0] + "".join([shown(x) + piece for x, piece in zip(args, pieces[1:], strict=False)])


def _percent(text, *args):
    given = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    words = re.findall(r"%(.)", text.replace("%%", ""))
    return text % tuple([shown(x) if word == "s" else x for x, word in zip(given, words, strict=True)])


def _slice(x, start=None, end=None, step=1):
    return x[start:end:step]


def _add_in_place(a, b):
    a += b
    return a


def _set_item(container, key, value):
    container[key] = value
    return container


def _delete(container, key):
    del container[key]


def _sort(items, reverse=False):
    items.sort(reverse=bool(reverse))


def _round(x, digits=0):
    return float(round(x, digits)) if digits else float(round(x))


def _power(a, b):
    return a ** b if isinstance(a, complex) or isinstance(b, complex) else float(a) ** b


def _copied(x):
    return x.copy()


_PLAIN = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "floordiv": operator.floordiv,
    "remainder": operator.mod, "mod": operator.mod, "fmod": math.fmod, "mathremainder": math.remainder, "pow": _power, "neg": operator.neg,
    "__round_to_zero_floordiv": lambda a, b: int(a / b) if abs(a) < 1 << 53 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1),
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "__and__": operator.and_, "__or__": operator.or_, "__xor__": operator.xor, "__lshift__": operator.lshift, "__rshift__": operator.rshift,
    "__not__": operator.not_, "__contains__": lambda container, x: x in container, "__getitem__": operator.getitem,
    "add_": _add_in_place, "mul_": operator.imul, "slice": _slice, "len": len, "list": list, "str": shown, "format": _format,
    "append": lambda items, x: _add_in_place(items, [x]), "extend": lambda items, more: items.extend(more),
    "insert": lambda items, at, x: items.insert(at, x), "pop": lambda items, *at: items.pop(*at), "clear": lambda items: items.clear(),
    "remove": lambda items, x: items.remove(x), "reverse": lambda items: items.reverse(), "index": lambda items, x, *b: items.index(x, *b),
    "count": lambda items, *x: items.count(*x), "copy": _copied, "sort": _sort, "sorted": sorted,
    "keys": lambda d: list(d.keys()), "values": lambda d: list(d.values()), "items": lambda d: list(d.items()),
    "get": lambda d, key, *default: d.get(key, *default), "update": lambda d, other: d.update(other), "dict": dict,
    "setdefault": lambda d, key, default: d.setdefault(key, default), "popitem": lambda d: d.popitem(), "_set_item": _set_item,
    "Delete": _delete, "Int": int, "Float": float, "Bool": bool, "Complex": complex, "abs": abs, "round": _round, "ceil": math.ceil,
    "floor": math.floor, "hash": hash, "ord": ord, "chr": chr, "hex": hex, "oct": oct, "bin": bin, "all": all, "any": any, "sum": sum,
    "percentFormat": _percent, "divmod": divmod,
    "asinh": math.asinh, "acosh": math.acosh, "atanh": math.atanh,
    **{name: getattr(math, name) for name in """
        sqrt exp log log2 log10 log1p expm1 sin cos tan asin acos atan atan2 sinh cosh tanh fabs gcd isnan isinf isfinite copysign
        degrees radians factorial gamma lgamma erf erfc frexp modf ldexp""".split()},
}
_IN_TEXTS = frozenset("""lower upper strip lstrip rstrip split rsplit splitlines join replace startswith endswith find rfind
                         rindex isdigit isalpha isalnum islower isupper isspace isnumeric isdecimal isidentifier isprintable
                         istitle capitalize title center ljust rjust zfill swapcase expandtabs partition rpartition casefold
                         count index""".split())


def _unwrapped(x):
    if x is None:
        raise Error("Unwrapping null optional")
    return x


def _range_length(low, high, step):
    return len(range(low, high, step))


_ALWAYS = {
    "__is__": operator.is_, "__isnot__": operator.is_not, "__range_length": _range_length,
    "__derive_index": lambda at, start, step: start + at * step, "warn": lambda text, *rest: warnings.warn(str(text), stacklevel=3),
    "device": devices.device, "ScalarImplicit": lambda x: x.item(), "IntImplicit": lambda x: int(x.item()),
    "FloatImplicit": lambda x: float(x.item()), "ComplexImplicit": lambda x: complex(x.item()), "is_scripting": lambda: True,
    "set_grad_enabled": lambda on: jtensor.set_grad_enabled(on), "is_grad_enabled": jtensor.is_grad_enabled,
    "is_autocast_enabled": lambda *device: jtensor.is_autocast_enabled(*device),
    "is_autocast_cpu_enabled": lambda: jtensor.is_autocast_enabled("cpu"),
    "get_autocast_dtype": lambda device: CODES.index(jtensor.get_autocast_dtype(device)), "manual_seed": jtensor.manual_seed,
    "wait": lambda future: future.wait(),
    "dim": lambda x: x.dim(), "cpu": lambda x: x.cpu(), "cuda": lambda x: x.cuda(), "_unwrap_optional": _unwrapped,
}


# -- tensors ------------------------------------------------------------------------------------------------------------

def _to(x, *args, **kwargs):
    """The overloads of ``aten::to``: (device, dtype, ...), (dtype, ...), (other, ...), (...) with two or three flags behind."""
    args, named = list(args), {name: value for name, value in kwargs.items() if value is not None and name not in ("layout", "pin_memory")}
    if "dtype" in named:
        named["dtype"] = dtype_of(named["dtype"])
    first = args[0] if args else None
    if isinstance(first, Tensor):
        del args[0]
        named.update(device=first.device, dtype=first.dtype)
    elif isinstance(first, devices.device) or first is None and len(args) > 1 and type(args[1]) is not bool:
        device, dtype = args.pop(0), args.pop(0) if args and type(args[0]) is not bool else None
        named.update({name: value for name, value in (("device", device), ("dtype", dtype_of(dtype))) if value is not None})
    elif type(first) is not bool and args:
        del args[0]
        if first is not None:
            named["dtype"] = dtype_of(first)
    named.update(zip(("non_blocking", "copy"), args[:2]))
    if len(args) > 2 and args[2] is not None:
        named["memory_format"] = args[2]
    if isinstance(named.get("memory_format"), int):
        named["memory_format"] = getattr(jtensor, FORMATS[named["memory_format"]])
    return x.to(**named) if named.keys() & {"device", "dtype", "memory_format"} or named.get("copy") else x


def _tensor(data, *, dtype=None, device=None, requires_grad=False, **_):
    return jtensor.tensor(data, dtype=dtype_of(dtype), device=device, requires_grad=requires_grad)


def _view(x, size):
    return x.view(dtype_of(size)) if isinstance(size, int) else x.view(size)


def _softmax(function):
    return lambda x, dim, dtype=None, **_: function(x, dim, dtype=dtype_of(dtype))


def _unique(x, sorted=True, return_inverse=False, return_counts=False):
    made = jtensor.unique(x, sorted, return_inverse or return_counts, return_counts)
    if not isinstance(made, tuple):
        return made, x.new_empty(0, dtype=jtensor.int64), x.new_empty(0, dtype=jtensor.int64)
    return (*made, x.new_empty(0, dtype=jtensor.int64))[:3]


def _unique_consecutive(x, return_inverse=False, return_counts=False, dim=None):
    values, inverse, counts = jtensor.unique_consecutive(x, True, True, dim)
    none = x.new_empty(0, dtype=jtensor.int64)
    return values, inverse if return_inverse or dim is not None else none, counts if return_counts or dim is not None else none


_TENSORS = {
    "to": _to, "tensor": _tensor, "as_tensor": _tensor, "view": _view, "softmax": _softmax(jtensor.softmax),
    "log_softmax": _softmax(jtensor.log_softmax), "special_softmax": _softmax(jtensor.softmax), "_unique2": _unique,
    "unique_dim": lambda x, dim, sorted=True, inverse=False, counts=False: jtensor.unique(x, sorted, True, True, dim),
    "unique_consecutive": _unique_consecutive,
    "size": lambda x, *dim: x.size(*dim) if dim else list(x.size()), "stride": lambda x, *dim: x.stride(*dim) if dim else list(x.stride()),
    "len": len, "nonzero_numpy": lambda x: x.nonzero(as_tuple=True), "equal": jtensor.equal, "Int": int, "Float": float, "Bool": bool,
    "is_contiguous": lambda x, format=0: x.is_contiguous(memory_format=getattr(jtensor, FORMATS[format])),
    "list": lambda x: list(x), "str": shown, "format": _format, "percentFormat": _percent, "append": _PLAIN["append"],
    "__contains__": lambda x, one: bool((x == one).any()),
    "_shape_as_tensor": lambda x: jtensor.tensor(list(x.size())), "normal": lambda *args, **kwargs: jtensor.normal(*args, **kwargs),
}
_OF_CONTAINERS = frozenset("""append extend insert pop clear remove reverse copy sort len list format keys values items get update dict
                              _set_item __getitem__ __contains__ Delete str setdefault popitem""".split())
"""Functions of a container, whatever is in it."""


def _kept(kwargs):
    """Arguments as Python's functions take them."""
    named = {}
    for name, value in kwargs.items():
        if name in ("dtype", "out_dtype"):
            value = dtype_of(value)
        elif name == "memory_format" and isinstance(value, int):
            value = getattr(jtensor, FORMATS[value])
        elif name in ("layout", "pin_memory"):
            continue
        if value is not None or name not in ("dtype", "device", "generator", "memory_format"):
            named[name] = value
    return named


def _has_tensors(args):
    for x in args:
        if isinstance(x, Tensor) or x.__class__ in (list, tuple) and any(isinstance(one, Tensor) for one in x):
            return True
    return False


def torch(name):
    """What ``torch.name`` is: a function of positional arguments in a schema's order, and of its keywords."""
    if name in _ALWAYS:
        return _ALWAYS[name]
    plain = _PLAIN.get(name)
    of_tensors = _TENSORS.get(name) or _of_tensors(name)

    def called(*args, **kwargs):
        if args:
            first = args[0]
            if first.__class__ is str and name in _IN_TEXTS:
                return getattr(first, name)(*args[1:])
            if plain is not None and (name in _OF_CONTAINERS and not isinstance(first, Tensor) or not _has_tensors(args) or name in (
                    "add", "add_", "eq", "ne", "slice", "mul", "index", "count") and first.__class__ is list):
                return plain(*args, **kwargs)
        return of_tensors(*args, **kwargs)
    called.__name__ = called.__qualname__ = name
    return called


def _of_tensors(name):
    function = aten.function_of(name) if name in aten.operators() else None
    if function is None:
        def absent(*args, **kwargs):
            raise missing(f"the operator aten::{name} of TorchScript", "the same in Python")
        return absent
    if name in _LISTS:
        return lambda *args, **kwargs: list(function(*args, **_kept(kwargs)))
    return lambda *args, **kwargs: function(*args, **_kept(kwargs)) if kwargs else function(*args)


# -- ops ----------------------------------------------------------------------------------------------------------------

def _raised(text, kind=None):
    raise Error(f"{kind or 'RuntimeError'}: {text}")


def _print(*args):
    print(*map(shown, args))


def _least(name):
    def called(*args):
        return getattr(jtensor, name)(*args) if any(isinstance(x, Tensor) for x in args) else getattr(builtins, name)(*args)
    return called


_PRIM = {
    "RaiseException": _raised, "NumToTensor": lambda x: jtensor.tensor(x), "data": lambda x: x.data, "grad": lambda x: x.grad,
    "device": lambda x: x.device, "dtype": lambda x: CODES.index(x.dtype), "layout": lambda x: 0, "is_cuda": lambda x: x.is_cuda,
    "is_cpu": lambda x: x.is_cpu, "is_meta": lambda x: x.is_meta, "is_sparse": lambda x: x.is_sparse, "is_mkldnn": lambda x: False,
    "is_quantized": lambda x: False, "is_nested": lambda x: False, "is_mps": lambda x: False, "is_xpu": lambda x: False,
    "requires_grad": lambda x: x.requires_grad, "itemsize": lambda x: x.element_size(), "name": lambda x: None,
    "nbytes": lambda x: x.nbytes,
    "type": lambda d: d.type, "index": lambda d: d.index, "unchecked_unwrap_optional": lambda x: x, "unchecked_cast": lambda x: x,
    "Print": _print, "rangelist": lambda n: list(range(n)), "min": _least("min"), "max": _least("max"), "abs": abs,
    "shape": lambda x: list(x.size()), "ndim": lambda x: x.dim(), "id": id, "is_leaf": lambda x: x.is_leaf,
    "tolist": lambda x, *_: x.tolist(),
}


def ops(space, name):
    """What ``ops.space.name`` is: of PyTorch's own, or of a library that has been loaded."""
    if space == "aten":
        return torch(name)
    if space == "prim":
        found = _PRIM.get(name)
        if found is None:
            raise missing(f"the operator prim::{name} of TorchScript", "the same in Python")
        return found
    if space.startswith("__") or name.startswith("__"):                 # of Python's, which are nobody's operators
        raise missing(f"the name ops.{space}.{name} of TorchScript", "the same in Python")
    return lambda *args, **kwargs: getattr(getattr(jtensor.ops, space), name)(*args, **kwargs)
