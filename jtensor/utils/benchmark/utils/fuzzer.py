"""Tensors of random sizes and layouts to time operations on: `Fuzzer`, from the same seed PyTorch's.

Owns: the order in which numbers are drawn from NumPy's generator, and tensors from ours. May not know: timers.
"""
import math

import numpy as np

import jtensor

__all__ = ["Fuzzer", "FuzzedParameter", "ParameterAlias", "FuzzedTensor"]

_TRIES = 1000


class FuzzedParameter:
    """A number that is drawn anew for each set of tensors.

    ``distribution``: ``"uniform"`` or ``"loguniform"`` between ``minval`` and ``maxval`` (both included), or ``{value: probability}``,
    which PyTorch 2.13 refuses where it is normalized. A ``strict`` one is drawn once, however often the others have to be drawn until
    everything fits. ``AssertionError`` of another distribution.
    """

    def __init__(self, name, minval=None, maxval=None, distribution=None, strict=False):
        self._name, self._minval, self._maxval, self.strict = name, minval, maxval, strict
        if isinstance(distribution, dict):
            if any(share < 0 for share in distribution.values()):
                raise AssertionError("Probabilities cannot be negative")
            if abs(sum(distribution.values()) - 1) > 1e-5:
                raise AssertionError("Distribution is not normalized")
            for end in ("minval", "maxval"):
                if getattr(self, f"_{end}") is not None:
                    raise AssertionError(f"When passing a custom distribution, '{end}' must be None")
        elif distribution not in ("loguniform", "uniform"):
            raise AssertionError(f"Unknown distribution: {distribution}")
        self._distribution = distribution

    @property
    def name(self):
        return self._name

    def sample(self, state):
        """A number, drawn from a ``numpy.random.RandomState``."""
        low, high = self._minval, self._maxval
        if isinstance(self._distribution, dict):
            at = state.choice(np.arange(len(self._distribution)), p=tuple(self._distribution.values()))
            return list(self._distribution)[at]                 # of the values themselves NumPy would make numbers of its own
        if self._distribution == "loguniform":
            drawn = int(2 ** state.uniform(low=np.log2(low), high=np.log2(high)))
            return min(max(drawn, low), high)
        if isinstance(low, int) and isinstance(high, int):
            return int(state.randint(low=low, high=high + 1))
        return state.uniform(low=low, high=high)


class ParameterAlias:
    """The value of another parameter, for a distribution: ``{1: 0.5, ParameterAlias("n"): 0.5}``."""

    def __init__(self, alias_to):
        self.alias_to = alias_to

    def __repr__(self):
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedTensor:
    """A tensor whose ``size`` and ``steps`` (every how many-th element of a larger one) are numbers or names of parameters.

    ``probability_contiguous``: else its dimensions lie in a random order. ``min_elements``, ``max_elements`` and ``max_allocation_bytes``:
    sets of numbers for which it is none of these sizes are drawn again. ``dim_parameter``: the parameter that says how many dimensions it
    has. ``tensor_constructor(size, dtype, **parameters)`` makes it; by default it has random numbers.
    """

    def __init__(self, name, size, steps=None, probability_contiguous=0.5, min_elements=None, max_elements=None, max_allocation_bytes=None,
                 dim_parameter=None, roll_parameter=None, dtype=jtensor.float32, cuda=False, tensor_constructor=None):
        self._name, self._size, self._steps, self._probability_contiguous = name, size, steps, probability_contiguous
        self._min_elements, self._max_elements, self._max_allocation_bytes = min_elements, max_elements, max_allocation_bytes
        self._dim_parameter, self._dtype, self._cuda, self._tensor_constructor = dim_parameter, dtype, cuda, tensor_constructor

    @property
    def name(self):
        return self._name

    @staticmethod
    def default_tensor_constructor(size, dtype, **kwargs):
        """Random numbers: between 0 and 1, or whole ones from 1 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return jtensor.rand(size=size, dtype=dtype, device="cpu")
        return jtensor.randint(1, 127, size=size, dtype=dtype, device="cpu")

    def _make_tensor(self, params, state):
        size, steps, whole = self._get_size_and_steps(params)
        tensor = (self._tensor_constructor or self.default_tensor_constructor)(size=whole, dtype=self._dtype, **params)
        if self._cuda:
            tensor = tensor.cuda()
        dims = len(size)
        order = straight = np.arange(dims)
        if state.rand() > self._probability_contiguous:
            while dims > 1 and (order == straight).all():
                order = state.permutation(dims)
            tensor = tensor.permute(tuple(order)).contiguous().permute(tuple(np.argsort(order)))
        tensor = tensor[tuple([slice(0, n * step, step) for n, step in zip(size, steps, strict=True)])]
        return tensor, {"numel": tensor.numel(), "order": order, "steps": steps, "is_contiguous": tensor.is_contiguous(),
                        "dtype": str(self._dtype)}

    def _get_size_and_steps(self, params):
        dims = len(self._size) if self._dim_parameter is None else params[self._dim_parameter]
        size, steps = ([params.get(one, one) for one in given][:dims] for given in (self._size, self._steps or ()))
        size, steps = (tuple(given + [1] * (dims - len(given))) for given in (size, steps))
        return size, steps, tuple([n * step for n, step in zip(size, steps, strict=True)])

    def satisfies_constraints(self, params):
        """Whether it would be of a size that is wanted."""
        size, _, whole = self._get_size_and_steps(params)
        count, room = math.prod(map(int, size)), math.prod(map(int, whole)) * self._dtype.itemsize
        for least, most in ((count, self._max_elements), (self._min_elements, count), (room, self._max_allocation_bytes)):
            if least is not None and most is not None and least > most:
                return False
        return True


class Fuzzer:
    """Sets of tensors of random sizes: ``take(n)`` gives ``({name: tensor}, {name: what it is}, {name: parameter})`` n times.

    ``constraints``: functions of the parameters, a dictionary, that say whether these are wanted. ``seed``: of the sizes and, by
    ``manual_seed``, of the numbers. Source: https://docs.pytorch.org/docs/stable/benchmark_utils.html

    >>> from jtensor.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer
    >>> some = Fuzzer([FuzzedParameter("n", 1, 9, "uniform")], [FuzzedTensor("x", ("n", 2))], seed=0)
    >>> [x["x"].shape for x, _, _ in some.take(2)]
    [torch.Size([6, 2]), torch.Size([5, 2])]
    """

    def __init__(self, parameters, tensors, constraints=None, seed=None):
        self._seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64)) if seed is None else seed
        self._parameters, self._tensors = _flat(parameters, FuzzedParameter), _flat(tensors, FuzzedTensor)
        self._constraints = constraints or ()
        twice = {p.name for p in self._parameters} & {t.name for t in self._tensors}
        if twice:
            raise ValueError(f"Duplicate names in parameters and tensors: {twice}")
        self._rejections = self._total_generated = 0

    @property
    def rejection_rate(self):
        """The share of the sets of numbers that were not wanted."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def take(self, n):
        """A generator of ``n`` sets; begins anew each time."""
        state = np.random.RandomState(self._seed)
        jtensor.manual_seed(state.randint(low=0, high=2**63, dtype=np.int64))
        for _ in range(n):
            params = self._generate(state)
            made = {t.name: t._make_tensor(params, state) for t in self._tensors}
            yield {name: t for name, (t, _) in made.items()}, {name: what for name, (_, what) in made.items()}, params

    def _generate(self, state):
        kept = {}
        for _ in range(_TRIES):
            drawn = {p.name: kept[p.name] if p.name in kept else p.sample(state) for p in self._parameters}
            kept.update({p.name: drawn[p.name] for p in self._parameters if p.strict})
            params = _resolved(drawn)
            self._total_generated += 1
            if all(wanted(params) for wanted in self._constraints) and all(t.satisfies_constraints(params) for t in self._tensors):
                return params
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")


def _flat(given, kind):
    return tuple([one for some in given for one in ([some] if isinstance(some, kind) else some)])


def _resolved(params):
    """Parameters with what aliases stand for; ``ValueError`` of those that go in a circle."""
    made = {}
    for name, value in params.items():
        passed = {name}
        while isinstance(value, ParameterAlias):
            if value.alias_to in passed:
                raise ValueError(f"ParameterAlias cycle detected\n{params}")
            passed.add(value.alias_to)
            value = params[value.alias_to]
        made[name] = value
    return made
