"""The argument forms of the random functions, and PyTorch's words where a call fits none of them.

Owns the signatures as PyTorch lists them. Knows tensors and generators by their classes; draws nothing.
"""
from ..base import devices
from ..tensor.calling.taking import is_index
from ..tensor.core import Tensor
from . import counter
from .generator import Generator, default_generator

_FACTORY = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False"
)
_LIKE = "torch.memory_format memory_format = None, " + _FACTORY


def _twice(*heads, tail):
    """Each signature with a generator and without."""
    return tuple(f"({head}, *, {middle}{tail})" for head in heads for middle in ("torch.Generator generator, ", ""))


_GIVEN = "*, torch.Generator generator = None, Tensor out = None"
SIGNATURES = {
    "rand": _twice("tuple of ints size", tail="Tensor out = None, " + _FACTORY),
    "randint": _twice("int high, tuple of ints size", "int low, int high, tuple of ints size", tail="Tensor out = None, " + _FACTORY),
    "randperm": _twice("int n", tail="Tensor out = None, " + _FACTORY),
    "rand_like": _twice("Tensor input", tail=_LIKE),
    "randint_like": _twice("Tensor input, int low, int high", "Tensor input, Tensor high", "Tensor input, int high", tail=_LIKE),
    "bernoulli": ("(Tensor input, *, torch.Generator generator = None, Tensor out = None)",
                  "(Tensor input, float p, *, torch.Generator generator = None)"),
    "normal": (f"(Tensor mean, Tensor std, {_GIVEN})", f"(Tensor mean, float std = 1, {_GIVEN})", f"(float mean, Tensor std, {_GIVEN})",
               f"(float mean, float std, tuple of ints size, {_GIVEN}, {_FACTORY})"),
    "random_": ("(*, torch.Generator generator = None)", "(int from, int to, *, torch.Generator generator = None)",
                "(int to, *, torch.Generator generator = None)"),
}
SIGNATURES["randn"], SIGNATURES["randn_like"] = SIGNATURES["rand"], SIGNATURES["rand_like"]


def invalid(name, args, given):
    """The TypeError of a call that fits no signature; ``given``: its keyword arguments."""
    got = [type(x).__name__ for x in args] + [f"{key}={type(x).__name__}" for key, x in given.items()]
    shown = ", ".join(got) + (", " if given and not args and name == "random_" else "")
    choices = "".join(f" * {one}\n" for one in SIGNATURES[name])
    return TypeError(f"{name}() received an invalid combination of arguments - got ({shown}), but expected one of:\n{choices}")


INSIDE = [None]          # asks whether numbers may be drawn here and now, once there has been a `vmap` (`batched`)


def engine_of(generator, name=None, args=(), given=None, device=devices.cpu):
    """The stream to draw from for a tensor on ``device``: of the CPU, or (on an accelerator) counter-based.

    TypeError if ``generator`` is none, in the words of the function ``name`` called with the rest; RuntimeError if it is of another device.
    """
    if INSIDE[0] is not None:
        INSIDE[0]()
    ours = device is devices.cpu or device is devices.meta
    if generator is None:
        return default_generator.engine if ours or counter.uses_cpu_stream() else counter.default(device.index or 0)
    a_generator(generator, name, args, given)
    engine = generator.engine
    if type(engine) is counter.Counter:
        if device is devices.cpu:
            raise RuntimeError(f"Expected a 'cpu' device type for generator but found '{generator.device.type}'")
    elif not ours and not counter.uses_cpu_stream():
        raise RuntimeError(f"Expected a '{device.type}' device type for generator but found 'cpu'")
    return engine


def host_engine_of(generator, name, device):
    """The same for what has no counter-based form: on an accelerator an engine of the host for this one draw."""
    engine = engine_of(generator, name, device=device)
    return engine.on_host() if type(engine) is counter.Counter else engine


def a_generator(generator, name=None, args=(), given=None):
    """TypeError unless ``generator`` is one, or None."""
    if generator is None or isinstance(generator, Generator):
        return
    if name in SIGNATURES and name != "random_":
        raise invalid(name, args, {**(given or {}), "generator": generator})
    raise TypeError(f"{name}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}")


def a_tensor(input, name, what="input", position=1):
    """TypeError unless ``input`` is a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument '{what}' (position {position}) must be Tensor, not {type(input).__name__}")
    return input


def whole(x):
    """Whether PyTorch takes ``x`` for an integer argument; of tensors those of one."""
    if isinstance(x, Tensor):
        return is_index(x)
    return isinstance(x, int) and not isinstance(x, bool) or hasattr(x, "__index__") and not isinstance(x, (bool, float))


def an_integer(x, name, what, position):
    """An integer argument of 64 bits: TypeError for other kinds, ValueError for larger ones."""
    if not whole(x):
        raise TypeError(f"{name}(): argument '{what}' (position {position}) must be int, not {type(x).__name__}")
    x = int(x)
    if not -(1 << 63) <= x < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    return x


def a_number(x, name, what, position):
    """A float argument. TypeError for what is no number."""
    try:
        if not isinstance(x, str):
            return float(x)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name}(): argument '{what}' (position {position}) must be float, not {type(x).__name__}")
