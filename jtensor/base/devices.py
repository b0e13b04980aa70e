"""`torch.device`: device strings and the JAX devices they stand for.

Owns: parsing and comparing device names, the default device, and which JAX device an array goes to.
May not know: tensors. A JAX backend is started only when an array is first placed, never at import.
"""
import functools
import numbers
import re
import threading

from . import compat
from .naming import TorchNamed, attribute_of

_KINDS = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
          "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")


class device(metaclass=TorchNamed, module="torch", found_by=(attribute_of, (__name__, "device"))):
    """Where a tensor lives: ``device("cpu")``, ``device("cuda", 1)``, ``device("cuda:1")``, ``device("meta")``.

    Raises ``RuntimeError`` for a name that PyTorch does not know.

    >>> import jtensor
    >>> jtensor.device("cuda:1").index
    1
    """

    __slots__ = ("type", "index", "_hash", "__weakref__")
    _known = {}

    def __new__(cls, *args, **named):
        if len(args) == 1 and args[0].__class__ is cls:
            return args[0]
        plain = not named and args and args[0].__class__ is str and (len(args) == 1 or args[1].__class__ is int)
        known = cls._known.get(args) if plain else None
        if known is not None:
            return known
        name, index = _asked(args, named)
        if isinstance(name, device):
            return name
        if not isinstance(name, str):
            if not accelerators():
                raise RuntimeError(NONE_THERE)
            name, index = "cuda", name
        name, index = _parse(name, index)
        known = cls._known.get((name, index))
        if known is None:
            known = cls._known[name, index] = object.__new__(cls)
            for field, value in (("type", name), ("index", index), ("_hash", hash((name, index)))):
                object.__setattr__(known, field, value)
        if plain:
            cls._known[args] = known
        return known

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __repr__(self):
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return self is other or (isinstance(other, device) and (self.type, self.index) == (other.type, other.index))

    def __hash__(self):
        return self._hash

    def __reduce__(self):
        return (device, (self.type,) if self.index is None else (self.type, self.index))

    def __enter__(self):
        _CHOICE.stack.append(self)
        return self

    def __exit__(self, *exc):
        _CHOICE.stack.pop()


NONE_THERE = "Cannot access accelerator device when none is available."
_NO_DEVICE = ("device() received an invalid combination of arguments - got ({}), but expected one of:\n * (torch.device device)\n{}"
              " * (str type, int index = -1)\n")
_UNLIKE = "      didn't match because some of the {}\n"


def _asked(args, named):
    """(name, device or number; index or None) of a call, or PyTorch's error: it takes a device alone, or a type and an index."""
    count = len(args) + len(named)
    if count == 1:
        word, given = ("", args[0]) if args else next(iter(named.items()))
        if isinstance(given, bytes):
            given = given.decode()
        alone = word in ("", "device")
        if isinstance(given, str) and (alone or word == "type") or alone and isinstance(given, device):
            return given, None
        if alone and isinstance(given, numbers.Integral) and not isinstance(given, bool):
            return _index(given), None
        text = f"{word}={_kind(given)}" if word else _kind(given)
        why = f"arguments have invalid types: (!{text}!{', ' * bool(word)})" if alone else f"keywords were incorrect: {word}"
        raise TypeError(_NO_DEVICE.format(text + ", " * bool(word), _UNLIKE.format(why)))
    if count != 2:
        got = ", ".join([*map(_kind, args), *(f"{word}={_kind(given)}" for word, given in named.items())])
        raise TypeError(_NO_DEVICE.format(got, ""))
    if not args and "type" not in named:
        raise TypeError('device() missing 1 required positional arguments: "type"')
    name = args[0] if args else named["type"]
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"device(): argument 'type'{' (position 1)' * bool(args)} must be str, not {_kind(name)}")
    for word in named:
        if args and word == "type":
            raise TypeError("device() got multiple values for argument 'type'")
        if word not in ("type", "index"):
            raise TypeError(f"device() got an unexpected keyword argument '{word}'")
    index = args[1] if len(args) == 2 else named["index"]
    if index is not None and (isinstance(index, bool) or not hasattr(index, "__index__")):
        raise TypeError(f"device(): argument 'index'{' (position 2)' * (len(args) == 2)} must be int, not {_kind(index)}")
    return name.decode() if isinstance(name, bytes) else name, None if index is None else _index(index)


def _kind(given):
    return "torch.device" if isinstance(given, device) else type(given).__name__


def _index(given):
    index = given.__index__()
    if not -(1 << 63) <= index < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return index


def _parse(text, index):
    if not text:
        raise RuntimeError("Device string must not be empty")
    name, colon, number = text.partition(":")
    if name not in _KINDS:
        if re.fullmatch(r"[a-zA-Z_]+(:\d+)?", text):
            raise RuntimeError("Expected one of " + ", ".join(_KINDS) + f" device type at start of device string: {name}")
        raise RuntimeError(f"Invalid device string: '{text}'")
    if colon:
        if not number.isdigit() or (len(number) > 1 and number[0] == "0"):
            raise RuntimeError(f"Invalid device string: '{text}'")
        if index is not None:
            raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {text}")
        index = int(number)
    return name, index


cpu = device("cpu")
meta = device("meta")


class _Choice(threading.local):
    """A thread's own choice of a device: another thread begins with none."""

    def __init__(self):
        self.stack = []                   # `with device(...)`: the innermost wins
        self.default = None


_CHOICE = _Choice()


def current():
    """The device a factory function uses when none is given."""
    choice = _CHOICE
    return choice.stack[-1] if choice.stack else choice.default or cpu


def chosen():
    """The device that this thread has asked for, None if none: a tensor or an array that is taken as data then stays where it is.

    >>> chosen()
    """
    choice = _CHOICE
    return choice.stack[-1] if choice.stack else choice.default


def set_default(d):
    """The device (or its name; None: the CPU) on which factory functions make tensors from now on, unless they are given another.

    >>> set_default("meta")
    >>> current()
    device(type='meta')
    >>> set_default(None)
    """
    _CHOICE.default = None if d is None else device(d)


def place(d):
    """The canonical device tensors report: ``cuda`` becomes ``cuda:0``; raises where there is no such accelerator."""
    if d is cpu or d is meta:
        return d
    if d.type in ("cpu", "meta"):
        return cpu if d.type == "cpu" else meta
    if d.type == "cuda":
        count = len(accelerators())
        if count == 0 and _accelerators():
            raise RuntimeError(compat.NO_ACCELERATOR)
        if count == 0:
            raise AssertionError("Torch not compiled with CUDA enabled")
        if (d.index or 0) >= count:
            raise RuntimeError("CUDA error: invalid device ordinal\n"
                               f"jtensor sees {count} GPU(s) through JAX")
        return device("cuda", d.index or 0)
    raise NotImplementedError(f"jtensor has no device of type '{d.type}': it runs on cpu, cuda (through JAX) and meta")


@functools.cache
def _accelerators():
    import jax
    try:
        return tuple(jax.devices("gpu"))
    except RuntimeError:
        return ()


def accelerators():
    """The GPUs that JAX can use, in order; starts the JAX backend. None in a child of fork: they stay with the parent."""
    return () if compat.is_forked() else _accelerators()


def index_of(d):
    """The index of the GPU that a number or a device names, which must be there; None for None."""
    if d is None:
        return None
    return place(device("cuda", d) if isinstance(d, int) else device(d)).index


def memory_statistic(name, index):
    """A number of bytes that XLA's allocator of a GPU tells, 0 where it does not."""
    return (accelerators()[index or 0].memory_stats() or {}).get(name, 0)


@functools.cache
def _last():
    import jax
    return jax.jit(lambda x: x + 1)


def wait(index):
    """Waits until a GPU has done what it was asked to do: it works in order, so that one thing more is done last."""
    import jax
    jax.block_until_ready(_last()(jax.device_put(0, accelerators()[index or 0])))


def settle():
    """Waits until every GPU, and the CPU, has done what it was asked to do."""
    for index in range(len(accelerators())):
        wait(index)
    compat.settle()


@compat.of_backend
def jax_device(d):
    """The `jax.Device` of a canonical device."""
    import jax
    if d.type == "cuda":
        if compat.is_forked():
            raise RuntimeError(compat.NO_ACCELERATOR)
        return accelerators()[d.index or 0]
    return jax.devices("cpu")[0]
