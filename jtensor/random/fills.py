"""The in-place random methods: ``uniform_``, ``normal_``, ``random_``, ``bernoulli_``, ``exponential_``, ``geometric_``, ``cauchy_``,
``log_normal_``.

Owns their argument forms; what is refused is `checks`' affair, what lies where `placing`'s, the numbers the samplers'.
"""

import numpy as np

from ..base import sites
from ..tensor import looking
from ..tensor.core import Tensor
from . import by_counter, checks, continuous, discrete, integers, normals, uniforms
from .arguments import a_number, an_integer, engine_of, invalid, whole
from .counter import Counter
from .placing import counted_choices, fill, memory_order


def warn(texts):
    """PyTorch's warnings, said on the caller's line."""
    for text in texts or ():
        sites.warn(text)


def uniform_(self, from_=0.0, to=1.0, *, generator=None, **kw):
    """Fills with uniform numbers of [from, to).

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).uniform_(1, 3)
    tensor([1.9925, 2.5364])
    """
    low, high = a_number(kw.pop("from", from_), "uniform_", "from", 1), a_number(to, "uniform_", "to", 2)
    _no_more("uniform_", kw)
    engine = engine_of(generator, "uniform_", device=self._spec.device)
    return fill(self, "uniform", engine, lambda n, dtype: uniforms.uniform(engine, n, low, high, dtype), ("uniform", low, high),
                lambda dtype, numel: checks.uniform(low, high, dtype))


def _no_more(name, kw):
    if kw:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kw))}'")


def normal_(self, mean=0.0, std=1.0, *, generator=None):
    """Fills with normal numbers."""
    mean, std = a_number(mean, "normal_", "mean", 1), a_number(std, "normal_", "std", 2)
    engine, contiguous = engine_of(generator, "normal_", device=self._spec.device), self._spec.contiguous
    return fill(self, "normal", engine, lambda n, dtype: normals.normal(engine, n, mean, std, dtype, contiguous), ("normal", mean, std),
                lambda dtype, numel: checks.normal(std, dtype, numel), lambda dtype: normal_on_meta(std, dtype))


def normal_on_meta(std, dtype):
    """What ``normal_`` asks of a tensor without numbers."""
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if dtype.category < 2:
        raise RuntimeError(f"expected a floating-point or complex dtype, but got dtype={dtype}")


def random_(self, *bounds, generator=None, **kw):
    """Fills with integers: of the dtype's range, of [0, to), or of [from, to)."""
    given = dict(kw)
    named = dict(zip(("to",) if len(bounds) == 1 else ("from", "to"), bounds)) | kw
    if len(bounds) > 2 or set(named) not in (set(), {"to"}, {"from", "to"}) or not (
            all(whole(x) for x in named.values()) or len(named) == 2 and whole(named["from"]) and named["to"] is None):
        raise invalid("random_", bounds, given)
    engine = engine_of(generator, "random_", device=self._spec.device)
    if not named:
        return fill(self, "random", engine, lambda n, dtype: integers.random(engine, n, dtype), by_counter.all_integers,
                    lambda dtype, n: n and checks.kernel_has("random_", dtype))
    low = an_integer(named.get("from", 0), "random_", "from", 1)
    if named["to"] is None:
        return fill(self, "random_from_to", engine, lambda n, dtype: integers.random_from(engine, n, low, dtype),
                    lambda dtype: by_counter.integers_from(low, dtype), lambda dtype, n: n and warn(checks.integer_from(low, dtype)))
    high = an_integer(named["to"], "random_", "to", len(bounds) or 1)
    return fill(self, "random_from_to" if "from" in named else "random_to", engine,
                lambda n, dtype: integers.randint(engine, n, low, high, dtype), lambda dtype: by_counter.integers_of(low, high, dtype),
                lambda dtype, n: warn(checks.integer_range(low, high, dtype)))


def bernoulli_(self, p=0.5, *, generator=None):
    """Fills with zeros and ones; ``p`` (a number or a tensor) is the probability of a one."""
    engine = engine_of(generator, "bernoulli_", device=self._spec.device)
    if not isinstance(p, Tensor):
        p = a_number(p, "bernoulli_", "p", 1)
        return fill(self, "bernoulli", engine, lambda n, dtype: discrete.bernoulli(engine, n, p, dtype), ("bernoulli", p, 0.0),
                    lambda dtype, numel: checks.bernoulli(p, dtype, numel))
    probabilities = p if p._spec is self._spec else p.detach().expand(self.shape)
    if probabilities.is_meta or self.is_meta:
        return fill(self, "bernoulli_tensor", engine, None, None)
    if type(engine) is Counter:
        return counted_choices(self, engine, probabilities)
    ordered = looking.host_copy(probabilities, "bernoulli_")
    if self._spec.ndim > 1 or not ordered.flags.c_contiguous:
        ordered = np.ascontiguousarray(ordered.transpose(memory_order(self._spec)))
    ordered = ordered.reshape(-1)

    return fill(self, "bernoulli_tensor", engine, lambda n, dtype: discrete.bernoulli_from(engine, ordered, dtype), None,
                lambda dtype, numel: check_probabilities(engine, ordered, dtype))


def check_probabilities(engine, ordered, dtype):
    """What ``bernoulli`` of an array of probabilities refuses."""
    try:
        checks.bernoulli_probabilities(ordered, dtype)
    except RuntimeError as error:           # PyTorch finds a wrong probability when its turn comes, having drawn for those before it
        if not isinstance(error, NotImplementedError):
            wide = ordered.astype(np.float64)
            discrete.bernoulli_from(engine, ordered[:int(np.argmin((wide >= 0) & (wide <= 1)))])
        raise


def exponential_(self, lambd=1.0, *, generator=None):
    """Fills with numbers of the exponential distribution."""
    rate, engine = a_number(lambd, "exponential_", "lambd", 1), engine_of(generator, "exponential_", device=self._spec.device)

    def on_meta(dtype):
        if not rate > 0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    return fill(self, "exponential", engine, lambda n, dtype: continuous.exponential(engine, n, rate, dtype), ("exponential", rate, 0.0),
                lambda dtype, numel: checks.exponential(rate, dtype, numel), on_meta)


_NO_P = object()


def geometric_(self, p=_NO_P, *, generator=None):
    """Fills with numbers of the geometric distribution."""
    if p is _NO_P:
        raise TypeError('geometric_() missing 1 required positional arguments: "p"')
    p, engine = a_number(p, "geometric_", "p", 1), engine_of(generator, "geometric_", device=self._spec.device)
    return fill(self, "geometric", engine, lambda n, dtype: discrete.geometric(engine, n, p, dtype), ("geometric", p, 0.0),
                lambda dtype, numel: checks.geometric(p, dtype, numel))


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Fills with numbers of the Cauchy distribution."""
    median, sigma = a_number(median, "cauchy_", "median", 1), a_number(sigma, "cauchy_", "sigma", 2)
    engine = engine_of(generator, "cauchy_", device=self._spec.device)
    return fill(self, "cauchy", engine, lambda n, dtype: continuous.cauchy(engine, n, median, sigma, dtype), ("cauchy", median, sigma),
                lambda dtype, numel: checks.cauchy(median, sigma, dtype, numel))


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Fills with numbers whose logarithms are normal."""
    mean, std = a_number(mean, "log_normal_", "mean", 1), a_number(std, "log_normal_", "std", 2)
    engine = engine_of(generator, "log_normal_", device=self._spec.device)
    return fill(self, "log_normal", engine, lambda n, dtype: continuous.log_normal(engine, n, mean, std, dtype), ("log_normal", mean, std),
                lambda dtype, numel: checks.log_normal(std, dtype, numel))


def _rrelu_slopes_(self, lower, upper, generator=None):
    """Fills with slopes of ``rrelu``: uniform numbers of [lower, upper), drawn wide and rounded once."""
    engine = engine_of(generator, device=self._spec.device)
    return fill(self, "uniform", engine, lambda n, dtype: continuous.rrelu_slopes(engine, n, lower, upper, dtype),
                ("uniform", float(lower), float(upper)))


METHODS = {f.__name__: f for f in (uniform_, normal_, random_, bernoulli_, exponential_, geometric_, cauchy_, log_normal_, _rrelu_slopes_)}
