"""The random functions over tensors: `rand`, `randn`, `randint`, ..., and their ``_like`` forms.

On the CPU numbers are drawn on the host, in PyTorch's order, and enter the tape as inputs: a new mask each step never recompiles. On an
accelerator the program draws them (`by_counter`), except those that say `host_engine_of`, which are drawn on the host and sent over. Owns
argument forms; `fills` has the in-place methods, `per_element` what is drawn for each element of a tensor, `placing` knows where drawn
numbers lie in memory, the samplers below know only NumPy.
"""
import functools
import math

import numpy as np

from ..base import devices, dtypes
from ..base.geometry import channels_last_strides
from ..ops.layout import like
from ..tensor.core import Tensor
from ..tensor.creating.create import _device, _type, size_of
from ..tensor.dispatch import write_out
from ..trace import spec as specs
from . import by_counter, checks, discrete, fills, integers, normals, permutation, uniforms
from .arguments import a_generator, a_number, a_tensor, an_integer, engine_of, invalid, whole
from .counter import Counter
from .fills import bernoulli_, normal_, normal_on_meta, random_, uniform_, warn
from .per_element import _sample_dirichlet, _standard_gamma, bernoulli, binomial, multinomial, normal_for, poisson
from .placing import counted, drawn, fresh, target, undrawn

# -- factories --------------------------------------------------------------------------------------------------------


def _sized(name, args, given, generator):
    """The size that a call of ``rand`` or ``randn`` asks for."""
    if args and generator is None and not given:
        return size_of(args, name)
    if not args and "size" in given:
        args = (given.pop("size"),)
    elif not args:
        raise invalid(name, args, given)
    if given:
        raise invalid(name, args, given)
    a_generator(generator, name, args)
    return size_of(args, name)


def rand(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, **kw):
    """Uniform numbers of [0, 1).

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2)
    tensor([0.4963, 0.7682])
    """
    size = _sized("rand", size, kw, generator)
    checks.dense(layout, "uniform_")
    if out is not None:
        return uniform_(target(out, "rand", size, dtype), generator=generator)
    dtype, device = _type(dtype), _device(device)
    if device is devices.meta:
        return undrawn(size, dtype, device, requires_grad)
    checks.kernel_has("uniform_", dtype)
    engine = engine_of(generator, "rand", device=device)
    return fresh(engine, _UNIT, lambda: uniforms.rand(engine, math.prod(size), dtype.numpy), size, dtype, device, requires_grad)


_UNIT = ("uniform", 0.0, 1.0)


def randn(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, **kw):
    """Standard normal numbers.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn(2)
    tensor([ 1.5410, -0.2934])
    """
    size = _sized("randn", size, kw, generator)
    checks.dense(layout, "normal_")
    if out is not None:
        return normal_(target(out, "randn", size, dtype), generator=generator)
    return _normals(generator, 0.0, 1.0, size, _type(dtype), _device(device), requires_grad)


def normal(mean=0.0, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
           pin_memory=False):
    """Normal numbers: of given mean and std in a given size, or one for each element of tensors of them.

    >>> _ = torch.manual_seed(0)
    >>> torch.normal(2.0, 3.0, (2,))
    tensor([6.6230, 1.1197])
    """
    if size is not None:                                     # beside which a tensor of one number is that number
        mean, std = (x.item() if isinstance(x, Tensor) and not x._spec.ndim and not x.requires_grad else x for x in (mean, std))
    tensors = isinstance(mean, Tensor), isinstance(std, Tensor)
    if any(tensors) == (size is not None) or size is not None and not isinstance(size, (tuple, list)):
        raise invalid("normal", [x for x in (mean, std, size) if x is not None], {})
    a_generator(generator, "normal", (mean, std))
    if size is None:
        return normal_for(mean, std, tensors, generator, out)
    mean, std = a_number(mean, "normal", "mean", 1), a_number(std, "normal", "std", 2)
    size = size_of((size,), "normal")
    if out is not None:
        return normal_(target(out, "normal", size, dtype), mean, std, generator=generator)
    return _normals(generator, mean, std, size, _type(dtype), _device(device or devices.cpu), requires_grad)   # not the chosen one


def _normals(generator, mean, std, size, dtype, device, requires_grad, stride=None):
    if device is devices.meta:
        normal_on_meta(std, dtype)
        return undrawn(size, dtype, device, requires_grad, stride)
    count = math.prod(size)
    checks.normal(std, dtype, count)
    engine = engine_of(generator, device=device)
    if type(engine) is Counter:
        return counted(engine, ("normal", mean, std), size, dtype, device, requires_grad, stride)
    contiguous = stride is None or specs.spec(size, stride, dtype, device).contiguous
    values = normals.normal(engine, count, mean, std, dtype.numpy, contiguous) if count else np.empty(0, dtype.numpy)
    return drawn(values, size, dtype, device, requires_grad, stride)


_LARGE = 1 << 62


def randint(*args, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, **kw):
    """Integers of [low, high): ``randint(high, size)`` or ``randint(low, high, size)``.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint(3, 10, (4,))
    tensor([7, 6, 3, 5])
    """
    if not kw and len(args) > 1 and args[-1].__class__ is tuple and args[0].__class__ is int is args[-2].__class__ and len(args) < 4 \
            and generator is None and out is None and -_LARGE < args[0] < _LARGE and -_LARGE < args[-2] < _LARGE:
        size = size_of(args[-1:], "randint")
        return _integers(None, args[0] if len(args) == 3 else 0, args[-2], size, _type(dtype, dtypes.int64), _device(device), requires_grad)
    names = ("low", "high", "size") if len(args) == 3 or "low" in kw or "high" in kw and args else ("high", "size")
    if len(args) == 2 and "size" in kw:
        names = ("low", "high", "size")
    given = dict(zip(names, args)) | kw
    if set(given) != set(names) or len(args) > len(names) or len(args) + len(kw) != len(names):
        raise invalid("randint", args, kw)
    size = given["size"]
    if not isinstance(size, (tuple, list)):
        if len(names) == 3:
            raise invalid("randint", args, kw)
        raise TypeError(f"randint(): argument 'size' (position 2) must be tuple of ints, not {type(size).__name__}")
    low, high = (an_integer(given.get(name, 0), "randint", name, at) for name, at in (("low", 1), ("high", len(names) - 1)))
    size = size_of((size,), "randint")
    a_generator(generator, "randint", args, kw)
    if out is not None:
        return random_(target(out, "randint", size, dtype), low, high, generator=generator)
    dtype, device = _type(dtype, dtypes.int64), _device(device)
    return _integers(generator, low, high, size, dtype, device, requires_grad)


def _integers(generator, low, high, size, dtype, device, requires_grad, stride=None):
    if device is devices.meta:
        if low >= high:
            checks.integer_range(low, high, dtype)
        return undrawn(size, dtype, device, requires_grad, stride)
    warn(checks.integer_range(low, high, dtype))
    engine = engine_of(generator, device=device)
    if type(engine) is Counter:
        return counted(engine, by_counter.integers_of(low, high, dtype.numpy), size, dtype, device, requires_grad, stride)
    return drawn(integers.randint(engine, math.prod(size), low, high, dtype.numpy), size, dtype, device, requires_grad, stride)


def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A random permutation of 0 .. n-1.

    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(4)
    tensor([0, 1, 3, 2])
    """
    n = an_integer(n, "randperm", "n", 1)
    a_generator(generator, "randperm", (n,))
    kind = _type(dtype, dtypes.int64) if out is None else out.dtype
    device = _device(device)
    if device is devices.meta and n >= 0:
        return undrawn((n,), kind, device, requires_grad)
    checks.randperm(n, kind)
    if out is not None:
        target(out, "randperm", (n,), dtype)
    engine = engine_of(generator, device=device)
    order = fresh(engine, ("permutation", 0, 0), lambda: permutation.randperm(engine, n, kind.numpy), (n,), kind, device,
                  out is None and requires_grad)
    if out is None:
        return order
    write_out(order, out, fold="amax")                  # PyTorch exchanges numbers in the one place: the last that it put there stays
    return out


# -- like another tensor ----------------------------------------------------------------------------------------------


def _liked(input, dtype, device, memory_format=None, name="rand_like"):
    spec = a_tensor(input, name)._spec
    dtype, size = spec.dtype if dtype is None else _type(dtype), tuple(spec.size)
    if memory_format is None:
        return dtype, spec.device if device is None else _device(device), _like(size, spec.stride)
    wanted = str(memory_format).removeprefix("torch.")
    if wanted == "preserve_format":
        stride = _like(size, spec.stride)
    elif wanted == "contiguous_format":
        stride = None
    else:
        stride = _lasting(wanted, size)
    return dtype, spec.device if device is None else _device(device), stride


_like = functools.lru_cache(maxsize=4096)(like)


def _lasting(memory_format, size):
    """The strides of a channels-last tensor."""
    if memory_format not in ("channels_last", "channels_last_3d"):
        raise TypeError(f"rand_like(): argument 'memory_format' must be torch.memory_format, not {memory_format}")
    rank = 4 if memory_format == "channels_last" else 5
    if len(size) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {memory_format} format")
    return channels_last_strides(size)


def rand_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Uniform numbers of the input's size and strides."""
    checks.dense(layout, "empty_strided")
    dtype, device, stride = _liked(input, dtype, device, memory_format)
    engine = engine_of(generator, "rand_like", (input,), device=device)
    if device is devices.meta:
        return undrawn(input.shape, dtype, device, requires_grad, stride)
    checks.kernel_has("uniform_", dtype)
    return fresh(engine, _UNIT, lambda: uniforms.rand(engine, input.numel(), dtype.numpy), input.shape, dtype, device, requires_grad,
                 stride)


def randn_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Standard normal numbers of the input's size and strides."""
    checks.dense(layout, "empty_strided")
    dtype, device, stride = _liked(input, dtype, device, memory_format, "randn_like")
    a_generator(generator, "randn_like", (input,))
    return _normals(generator, 0.0, 1.0, input.shape, dtype, device, requires_grad, stride)


def randint_like(input, *args, generator=None, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None,
                 pin_memory=False, **kw):
    """Integers of [low, high) in the input's size, dtype and strides: ``randint_like(input, high)`` or ``(input, low, high)``."""
    names = ("low", "high") if len(args) + len(kw) == 2 else ("high",)
    given = dict(zip(names, args)) | kw
    if set(given) != set(names) or not all(whole(x) for x in given.values()):
        raise invalid("randint_like", (input, *args), kw)
    low, high = (an_integer(given.get(name, 0), "randint_like", name, 2) for name in ("low", "high"))
    checks.dense(layout, "empty_strided")
    dtype, device, stride = _liked(input, dtype, device, memory_format, "randint_like")
    a_generator(generator, "randint_like", (input, *args), kw)
    return _integers(generator, low, high, input.shape, dtype, device, requires_grad, stride)


def dropout_noise(input, p):
    """What dropout multiplies ``input`` by: zero with probability ``p``, else 1 / (1 - p), drawn in the input's memory order. 0 < p < 1."""
    dtype, device, stride = _liked(input, None, None)
    if device is devices.meta or dtype.category < 2 or dtype.is_complex:
        made = input.detach().new_empty(input.shape)
        return bernoulli_(made, 1 - p).div_(1 - p)
    engine, p = engine_of(None, device=device), float(p)
    return fresh(engine, ("dropout", p, 0.0), lambda: discrete.dropout_noise(engine, input.numel(), p, dtype.numpy), input.shape, dtype,
                 device, stride=stride)


METHODS = {**fills.METHODS, "bernoulli": bernoulli, "multinomial": multinomial}
FUNCTIONS = {f.__name__: f for f in (
    rand, randn, randint, randperm, normal, rand_like, randn_like, randint_like, bernoulli, multinomial, poisson, binomial, _standard_gamma,
    _sample_dirichlet)}


def install():
    """Gives the Tensor its random methods."""
    for name, method in METHODS.items():
        setattr(Tensor, name, method)
