"""The random functions over tensors: `rand`, `randn`, `randint`, ..., their ``_like`` and in-place forms.

Numbers are drawn on the host, in PyTorch's order, and enter the tape as inputs: a new mask each step never recompiles. Owns argument forms and
where drawn numbers lie in memory; the samplers below know only NumPy. On an accelerator the numbers are the CPU stream's, sent over.
"""
import numpy as np

from ..base import compat, devices, dtypes
from ..ops.operator import Tensor as TensorKind
from ..ops.operator import op
from ..storage import cell
from ..tensor import convert
from ..tensor.core import Tensor, make_tensor
from ..tensor.create import _device, _finish, _type, size_of
from ..tensor.dispatch import call_inplace
from ..trace import spec as specs
from ..trace.tape import LOCAL, ready
from . import continuous, discrete, integers, normals, permutation, rejection, uniforms
from .generator import default_generator


def engine_of(generator):
    return (default_generator if generator is None else generator).engine


# -- from drawn numbers to tensors ------------------------------------------------------------------------------------


def placed(flat, spec):
    """An ndarray of the spec's shape from numbers drawn in memory order."""
    size = tuple(spec.size)
    if spec.contiguous or len(size) < 2:
        return flat.reshape(size)
    order = sorted(range(len(size)), key=lambda d: (-spec.stride[d], d))
    return flat.reshape([size[d] for d in order]).transpose(np.argsort(order))


def drawn(flat, size, dtype, device, requires_grad=False, stride=None):
    """A fresh tensor of drawn numbers; the array is not copied."""
    spec = specs.spec(tuple(size), stride, dtype, device)
    array = compat.put(np.ascontiguousarray(placed(flat, spec)), devices.jax_device(device)) if device is not devices.meta else None
    out = make_tensor(cell.new(ready(array, spec.aval), spec), spec, inference=LOCAL.inference)
    return _finish(out, requires_grad)


_operators = {}


def _overwrite(name, backward):
    """The in-place operator that puts drawn numbers in a tensor's place; its gradient is zero."""
    @op(layout="like", saves=(), nondiff=("values",), inplace=True, name="drawn_" + name, backward=backward, function=False, method=False)
    def overwrite(self: TensorKind, values: TensorKind):
        return values
    _operators[name] = overwrite


for _name, _backward in (("uniform", "UniformBackward0"), ("normal", "NormalBackward0"), ("random", "RandomBackward0"),
                         ("bernoulli", "BernoulliBackward2"), ("exponential", "ExponentialBackward0"), ("geometric", "GeometricBackward0"),
                         ("cauchy", "CauchyBackward0"), ("log_normal", "LogNormalBackward0")):
    _overwrite(_name, _backward)


def fill(self, name, draw):
    """``draw(n, numpy dtype)`` gives numbers in memory order; they become the tensor's values."""
    from ..autograd import gradmode_checks as checks
    if LOCAL.grad_enabled:
        checks.before_inplace(self, self.requires_grad)
    checks.no_internal_overlap(self)
    spec = self._spec
    if spec.device is devices.meta or not spec.numel:
        return self
    values = drawn(draw(spec.numel, spec.dtype.numpy), spec.size, spec.dtype, spec.device,
                   stride=spec.stride if spec.dense else _packed(spec))
    return call_inplace(_operators[name], (self, values))


def _packed(spec):
    from ..ops.layout import like
    return like(tuple(spec.size), spec.stride)


# -- factories --------------------------------------------------------------------------------------------------------


def _factory(size, name, out, dtype, device, default=None):
    size = size_of(size, name)
    return size, _type(dtype, out.dtype if out is not None else default), _device(device)


def _answer(made, out):
    if out is None:
        return made
    from ..tensor.dispatch import write_out
    write_out(made, out)
    return out


def _count(size):
    n = 1
    for m in size:
        n *= m
    return n


def rand(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, names=None, **kw):
    """Uniform numbers of [0, 1).

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2)
    tensor([0.4963, 0.7682])
    """
    size, dtype, device = _factory(size or (kw.pop("size"),), "rand", out, dtype, device)
    _floating(dtype, "check_uniform_bounds")
    return _answer(drawn(uniforms.rand(engine_of(generator), _count(size), dtype.numpy), size, dtype, device, requires_grad), out)


def randn(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, names=None, **kw):
    """Standard normal numbers.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn(2)
    tensor([ 1.5410, -0.2934])
    """
    size, dtype, device = _factory(size or (kw.pop("size"),), "randn", out, dtype, device)
    _floating(dtype, "normal_kernel_cpu")
    return _answer(drawn(normals.normal(engine_of(generator), _count(size), 0.0, 1.0, dtype.numpy), size, dtype, device, requires_grad), out)


def _floating(dtype, kernel):
    if dtype.category < 2:
        raise NotImplementedError(f'"{kernel}" not implemented for \'{dtypes.scalar_name(dtype)}\'')


def randint(low=0, high=None, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
            pin_memory=False):
    """Integers of [low, high): ``randint(high, size)`` or ``randint(low, high, size)``."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    size, dtype, device = _factory((size,), "randint", out, dtype, device, dtypes.int64)
    low, high = int(low), int(high)
    _range(low, high)
    return _answer(drawn(integers.randint(engine_of(generator), _count(size), low, high, dtype.numpy), size, dtype, device, requires_grad), out)


def _range(low, high):
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")


def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A random permutation of 0 .. n-1."""
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got{n}")
    dtype = _type(dtype, dtypes.int64)
    return _answer(drawn(permutation.randperm(engine_of(generator), int(n), dtype.numpy), (int(n),), dtype, _device(device), requires_grad), out)


def normal(mean=0.0, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
           pin_memory=False):
    """Normal numbers: of given mean and std in a given size, or one for each element of tensors of them."""
    if size is not None:
        size, dtype, device = _factory((size,), "normal", out, dtype, device)
        _std(float(std))
        made = drawn(normals.normal(engine_of(generator), _count(size), float(mean), float(std), dtype.numpy), size, dtype, device, requires_grad)
        return _answer(made, out)
    if not isinstance(std, Tensor):
        made = mean.new_empty(mean.shape)
        normal_(made, 0.0, float(std), generator=generator)
        return _answer(made.add_(mean), out)
    if (std < 0).any().item():
        raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = std.shape if not isinstance(mean, Tensor) else (mean.new_empty(()).expand(mean.shape) + std.new_empty(()).expand(std.shape)).shape
    made = std.new_empty(shape)
    normal_(made, 0.0, 1.0, generator=generator)
    return _answer(made.mul_(std).add_(mean), out)


def _std(std):
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")


def _liked(input, dtype, device):
    from ..ops.layout import like
    spec = input._spec
    dtype = _type(dtype, spec.dtype)
    return dtype, spec.device if device is None else _device(device), like(tuple(spec.size), spec.stride)


def rand_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Uniform numbers of the input's size and strides."""
    dtype, device, stride = _liked(input, dtype, device)
    return drawn(uniforms.rand(engine_of(generator), input.numel(), dtype.numpy), input.shape, dtype, device, requires_grad, stride)


def randn_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Standard normal numbers of the input's size and strides."""
    dtype, device, stride = _liked(input, dtype, device)
    contiguous = specs.spec(input.shape, stride, dtype, device).contiguous
    return drawn(normals.normal(engine_of(generator), input.numel(), 0.0, 1.0, dtype.numpy, contiguous), input.shape, dtype, device,
                 requires_grad, stride)


def randint_like(input, low=0, high=None, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None):
    """Integers of [low, high) in the input's size, dtype and strides."""
    low, high = (0, int(low)) if high is None else (int(low), int(high))
    _range(low, high)
    dtype, device, stride = _liked(input, dtype, device)
    return drawn(integers.randint(engine_of(generator), input.numel(), low, high, dtype.numpy), input.shape, dtype, device, requires_grad, stride)


# -- in place ---------------------------------------------------------------------------------------------------------


def uniform_(self, from_=0.0, to=1.0, *, generator=None, **kw):
    """Fills with uniform numbers of [from, to)."""
    low, high = float(kw.pop("from", from_)), float(to)
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    return fill(self, "uniform", lambda n, dtype: uniforms.uniform(engine_of(generator), n, low, high, dtype))


def normal_(self, mean=0.0, std=1.0, *, generator=None):
    """Fills with normal numbers."""
    _std(float(std))
    contiguous = self._spec.contiguous
    return fill(self, "normal", lambda n, dtype: normals.normal(engine_of(generator), n, float(mean), float(std), dtype, contiguous))


def random_(self, *bounds, generator=None, **kw):
    """Fills with integers: of the dtype's range, of [0, to), or of [from, to)."""
    low, high = kw.get("from"), kw.get("to")
    if len(bounds) == 1:
        low, high = 0, bounds[0]
    elif bounds:
        low, high = bounds
    engine = engine_of(generator)
    if low is None and high is None:
        return fill(self, "random", lambda n, dtype: integers.random(engine, n, dtype))
    if high is None:
        return fill(self, "random", lambda n, dtype: integers.random_from(engine, n, int(low), dtype))
    _range(int(low or 0), int(high))
    return fill(self, "random", lambda n, dtype: integers.randint(engine, n, int(low or 0), int(high), dtype))


def bernoulli_(self, p=0.5, *, generator=None):
    """Fills with zeros and ones; ``p`` (a number or a tensor) is the probability of a one."""
    if isinstance(p, Tensor):
        probabilities = convert.host_copy(p.expand(self.shape), "bernoulli_")
        _probability(probabilities)
        return fill(self, "bernoulli", lambda n, dtype: _in_memory_order(
            self, discrete.bernoulli_from(engine_of(generator), np.ascontiguousarray(probabilities), dtype)))
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return fill(self, "bernoulli", lambda n, dtype: discrete.bernoulli(engine_of(generator), n, float(p), dtype))


def _in_memory_order(self, array):
    """Numbers of the logical order as `fill` takes them."""
    spec = self._spec
    order = sorted(range(spec.ndim), key=lambda d: (-spec.stride[d], d))
    return np.ascontiguousarray(array.transpose(order)).reshape(-1)


def _probability(p):
    if p.size and not (p.min() >= 0 and p.max() <= 1):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report "
                           "an enhancement request to PyTorch.)")


def bernoulli(input, p=None, *, generator=None, out=None):
    """Zeros and ones, each a one with the probability that the input holds there."""
    if p is not None:
        made = drawn(discrete.bernoulli(engine_of(generator), input.numel(), float(p), input.dtype.numpy), input.shape, input.dtype, input.device)
        return _answer(made, out)
    probabilities = convert.host_copy(input, "bernoulli")
    _probability(probabilities)
    made = drawn(discrete.bernoulli_from(engine_of(generator), np.ascontiguousarray(probabilities)).reshape(-1), input.shape, input.dtype,
                 input.device)
    if LOCAL.grad_enabled and input.requires_grad:
        made = input * 0 + made if False else _zero_gradient(input, made)
    return _answer(made, out)


@op(layout="contiguous", saves=(), nondiff=("values",), name="bernoulli_of", backward="BernoulliBackward0", function=False, method=False)
def bernoulli_of(self: TensorKind, values: TensorKind):
    return values


def _zero_gradient(input, made):
    return bernoulli_of(input, made)


def _positive(name):
    def check(x, shown):
        if not x > 0:
            raise RuntimeError(f"{name} expects {shown} > 0.0, but found {shown}={x:g}")
    return check


def exponential_(self, lambd=1.0, *, generator=None):
    """Fills with numbers of the exponential distribution."""
    _positive("exponential_")(lambd, "lambda")
    return fill(self, "exponential", lambda n, dtype: continuous.exponential(engine_of(generator), n, float(lambd), dtype))


def geometric_(self, p, *, generator=None):
    """Fills with numbers of the geometric distribution."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return fill(self, "geometric", lambda n, dtype: discrete.geometric(engine_of(generator), n, float(p), dtype))


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Fills with numbers of the Cauchy distribution."""
    _positive("cauchy_")(sigma, "sigma")
    return fill(self, "cauchy", lambda n, dtype: continuous.cauchy(engine_of(generator), n, float(median), float(sigma), dtype))


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Fills with numbers whose logarithms are normal."""
    _positive("log_normal_")(std, "std")
    return fill(self, "log_normal", lambda n, dtype: continuous.log_normal(engine_of(generator), n, float(mean), float(std), dtype))


# -- drawn for each element -------------------------------------------------------------------------------------------


def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """``num_samples`` category numbers for each row of probabilities."""
    if input.dim() not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    p = np.ascontiguousarray(convert.host_copy(input, "multinomial"))
    if not np.isfinite(p.astype(np.float64)).all() or (p < 0).any():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (p.astype(np.float64).sum(-1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    chosen = discrete.multinomial(engine_of(generator), p, int(num_samples), bool(replacement))
    return _answer(drawn(np.ascontiguousarray(chosen).reshape(-1), chosen.shape, dtypes.int64, input.device), out)


def poisson(input, generator=None):
    """Numbers of the Poisson distribution, one for each rate."""
    rates = np.ascontiguousarray(convert.host_copy(input, "poisson"))
    counts = rejection.poisson(engine_of(generator), rates)
    return drawn(np.ascontiguousarray(counts).reshape(-1), input.shape, input.dtype, input.device)


def binomial(count, prob, generator=None):
    """Numbers of the binomial distribution."""
    n = np.ascontiguousarray(convert.host_copy(count, "binomial"))
    p = np.ascontiguousarray(convert.host_copy(prob, "binomial"))
    n, p = (np.ascontiguousarray(x) for x in np.broadcast_arrays(n, p))
    made = rejection.binomial(engine_of(generator), n, p)
    return drawn(np.ascontiguousarray(made).reshape(-1), made.shape, count.dtype, count.device)


def dropout_noise(input, p, scaled=True, generator=None):
    """The noise tensor of dropout: zero with probability ``p``, else 1 / (1 - p) (1 if not ``scaled``), in the input's memory order."""
    dtype, device, stride = _liked(input, None, None)
    draw = discrete.dropout_noise if scaled else discrete.dropout_mask
    return drawn(draw(engine_of(generator), input.numel(), float(p), dtype.numpy), input.shape, dtype, device, stride=stride)


METHODS = {"uniform_": uniform_, "normal_": normal_, "random_": random_, "bernoulli_": bernoulli_, "exponential_": exponential_,
           "geometric_": geometric_, "cauchy_": cauchy_, "log_normal_": log_normal_, "bernoulli": bernoulli, "multinomial": multinomial}
FUNCTIONS = ("rand", "randn", "randint", "randperm", "normal", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial", "poisson",
             "binomial")


def install():
    """Gives the Tensor its random methods."""
    for name, method in METHODS.items():
        setattr(Tensor, name, method)
