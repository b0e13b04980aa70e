"""The random calls that are compared with PyTorch: one table, run on both sides by the law test and by the script that stores goldens.

Not a test itself. A case is (function, arguments, dtype name, size, seed, words used before, normals drawn one by one before).
``python tests/random/random_cases.py 100`` compares a hundred rounds of them, and of `tensor_cases`, with PyTorch.
"""

import hashlib
import random

import ml_dtypes
import numpy as np

from jtensor.random import continuous, discrete, integers, normals, permutation, rejection, uniforms
from jtensor.random.mt19937 import MT19937

FLOATS = ("float16", "bfloat16", "float32", "float64")
SMALL_INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
INTEGERS = SMALL_INTEGERS + ("uint16", "uint32", "uint64")
SIZES = (0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 100, 255, 257, 1000, 1003, 20011)
GOLDEN_SEED = 2113
SEEDS = (0, 1, 42, 2**32 - 1, 2**32, 2**63 + 11, 2**64 - 1)

# function -> (dtypes, choices of arguments)
TABLE = {
    "rand": (FLOATS + ("complex64", "complex128"), [()]),
    "uniform_": (FLOATS + ("complex64",), [(-0.25, 0.25), (0.0, 3.0), (-1.0, 2.5), (1e-3, 1.0), (0.1, 0.1001), (5.0, 5.0), (-3.0, -0.7)]),
    "randn": (FLOATS + ("complex64", "complex128"), [()]),
    "normal_": (FLOATS + ("complex64",), [(0.0, 0.02), (1.5, 1.0), (-0.3, 2.7), (1e4, 1e-3), (-0.0, 1.0), (2.0, 0.0)]),
    "normal_strided": (FLOATS, [(0.0, 1.0), (0.3, 0.7)]),
    "randint": (INTEGERS + FLOATS + ("bool",), [(0, 2)]),
    "randint_wide": (
        ("int32", "int64", "float32", "float64"),
        [(-5, 7), (0, 2**24 - 1), (0, 2**28 - 1), (3, 2**28 + 3), (-(2**30), 2**30 + 1)],
    ),
    "randint_wider": (("int64", "float32", "float64"), [(0, 2**40 + 1), (-(2**63), 2**63 - 1), (2**53 + 1, 2**54), (-(2**25) - 1, 2**25)]),
    "random_": (SMALL_INTEGERS + FLOATS + ("bool",), [()]),
    "random_from": (("uint8", "int64", "float16", "float32", "uint16"), [(0,), (3,)]),
    "random_full": (("int64", "float32", "float64", "bfloat16"), [()]),
    "randperm": (("int16", "int32", "int64", "float32", "float64"), [()]),
    "bernoulli_": (SMALL_INTEGERS + FLOATS + ("bool",), [(0.5,), (0.0,), (1.0,), (0.137,)]),
    "bernoulli": (FLOATS, [()]),
    "geometric_": (SMALL_INTEGERS + FLOATS, [(0.5,), (0.01,), (0.999,)]),
    "exponential_": (FLOATS, [(1.0,), (0.3,), (250.0,)]),
    "cauchy_": (FLOATS, [(0.0, 1.0), (-2.0, 0.5)]),
    "log_normal_": (FLOATS, [(1.0, 2.0), (0.0, 0.25)]),
    "dropout": (FLOATS, [(0.5,), (0.1,), (0.9,)]),
    "multinomial_again": (FLOATS, [(5,), (100,)]),
    "multinomial_once": (("float32", "float64"), [(1,), (3,)]),
    "poisson": (FLOATS, [(4.0,), (60.0,)]),
    "_standard_gamma": (("float32", "float64"), [(0.9,), (8.0,)]),
    "_sample_dirichlet": (("float32", "float64"), [(3.0,)]),
    "binomial": (("float32", "float64"), [(15.0,), (500.0,)]),
    "rrelu": (("bfloat16", "float32", "float64"), [(0.125, 1 / 3)]),
}
_SMALLER = {"poisson", "_standard_gamma", "_sample_dirichlet", "binomial"}  # number by number: small sizes only


def cases(seed=1, rounds=3):
    """The same cases for the same arguments, about 110 a round."""
    rng = random.Random(seed)
    for _ in range(rounds):
        for function, (dtypes, arguments) in TABLE.items():
            for dtype in dtypes:
                size = rng.choice(SIZES[:15] if function in _SMALLER else SIZES)
                used = rng.choice((0, 1, 3, 620, 624)), rng.choice((0, 1, 2))
                yield function, rng.choice(arguments), dtype, size, rng.choice(SEEDS), *used


def digest(values, state):
    """32 numbers that stand for the numbers and the state of a case."""
    return [*hashlib.sha256(values).digest()[:16], *hashlib.sha256(state).digest()[:16]]


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def weights(n, dtype, scale=1.0):
    """Parameters for the samplers that take an array: fixed numbers in (0, scale], float16 numbers so that every dtype holds them."""
    x = np.random.RandomState(n).rand(n).astype(np.float16).astype(np.float64)
    return ((x + 2.0**-10).astype(np.float16).astype(np.float32) * scale).astype(numpy_dtype(dtype))


_SAMPLERS = {
    "rand": lambda e, n, d: uniforms.rand(e, n, d),
    "uniform_": lambda e, n, d, low, high: uniforms.uniform(e, n, low, high, d),
    "randn": lambda e, n, d: normals.normal(e, n, dtype=d),
    "normal_": lambda e, n, d, mean, std: normals.normal(e, n, mean, std, d),
    "normal_strided": lambda e, n, d, mean, std: normals.normal(e, n, mean, std, d, contiguous=False),
    "randint": lambda e, n, d, low, high: integers.randint(e, n, low, high, d),
    "random_": lambda e, n, d: integers.random(e, n, d),
    "random_from": lambda e, n, d, low: integers.random_from(e, n, low, d),
    "random_full": lambda e, n, d: integers.random_from(e, n, -(2**63), d),
    "randperm": lambda e, n, d: permutation.randperm(e, n, d),
    "bernoulli_": lambda e, n, d, p: discrete.bernoulli(e, n, p, d),
    "bernoulli": lambda e, n, d: discrete.bernoulli_from(e, np.minimum(weights(n, d), d.type(1))),
    "geometric_": lambda e, n, d, p: discrete.geometric(e, n, p, d),
    "exponential_": lambda e, n, d, rate: continuous.exponential(e, n, rate, d),
    "cauchy_": lambda e, n, d, median, sigma: continuous.cauchy(e, n, median, sigma, d),
    "log_normal_": lambda e, n, d, mean, std: continuous.log_normal(e, n, mean, std, d),
    "dropout": lambda e, n, d, p: discrete.dropout_noise(e, n, p, d),
    "multinomial_again": lambda e, n, d, k: discrete.multinomial(e, weights(n + 1, d), k, True),
    "multinomial_once": lambda e, n, d, k: discrete.multinomial(e, weights(n + 3, d), k),
    "poisson": lambda e, n, d, scale: rejection.poisson(e, weights(n, d, scale)),
    "_standard_gamma": lambda e, n, d, scale: rejection.standard_gamma(e, weights(n, d, scale)),
    "_sample_dirichlet": lambda e, n, d, scale: rejection.dirichlet(e, weights(n + 1, d, scale)),
    "binomial": lambda e, n, d, scale: rejection.binomial(e, np.floor(weights(n, d, scale)), weights(n, d)),
    "rrelu": lambda e, n, d, low, high: continuous.rrelu_slopes(e, n, low, high, d),
}
_SAMPLERS["randint_wide"] = _SAMPLERS["randint_wider"] = _SAMPLERS["randint"]


def ours(case):
    """(bytes of the numbers, state bytes afterwards) from jtensor's samplers."""
    function, arguments, dtype, size, seed, words, normals_before = case
    engine = MT19937(seed)
    engine.words(words)
    if normals_before:
        normals.normal(engine, normals_before)
    values = _SAMPLERS[function](engine, size, numpy_dtype(dtype), *arguments)
    return np.ascontiguousarray(values).tobytes(), engine.state_bytes()


def theirs(case, torch):
    """The same from PyTorch."""
    function, arguments, dtype, size, seed, words, normals_before = case
    g = torch.Generator().manual_seed(seed)
    torch.rand(words, generator=g)
    if normals_before:
        torch.randn(normals_before, generator=g)
    values = _torch_call(torch, g, function, arguments, getattr(torch, dtype), size).contiguous().reshape(-1)
    if values.numel() == 0:
        return b"", g.get_state().numpy().tobytes()
    return values.clone(memory_format=torch.contiguous_format).view(torch.uint8).numpy().tobytes(), g.get_state().numpy().tobytes()


def _torch_call(torch, g, function, arguments, dtype, n):
    if function in ("rand", "randn"):
        return getattr(torch, function)(n, dtype=dtype, generator=g)
    if function == "randperm":
        return torch.randperm(n, dtype=dtype, generator=g)
    if function.startswith("randint"):
        return torch.randint(*arguments, (n,), dtype=dtype, generator=g)
    if function in ("random_from", "random_full"):
        return torch.empty(n, dtype=dtype).random_(*(arguments or (-(2**63),)), None, generator=g)
    if function == "normal_strided":
        return torch.empty(2 * n, dtype=dtype)[::2].normal_(*arguments, generator=g)
    if function.endswith("_"):
        return getattr(torch.empty(n, dtype=dtype), function)(*arguments, generator=g)
    if function == "dropout":
        return torch.empty(n, dtype=dtype).bernoulli_(1 - arguments[0], generator=g).div_(1 - arguments[0])
    if function == "rrelu":
        noise = torch.zeros(n, dtype=dtype)
        torch._C._nn.rrelu_with_noise(-torch.ones(n, dtype=dtype), noise, *arguments, True, g)
        return noise
    scale = arguments[0] if arguments else 1.0
    if function == "bernoulli":
        return torch.bernoulli(_weights(torch, n, dtype).clamp(max=1), generator=g)
    if function.startswith("multinomial"):
        again = function == "multinomial_again"
        return torch.multinomial(_weights(torch, n + (1 if again else 3), dtype), *arguments, again, generator=g)
    if function == "binomial":
        return torch.binomial(_weights(torch, n, dtype, scale).floor(), _weights(torch, n, dtype), generator=g)
    if function == "_sample_dirichlet":
        return torch._sample_dirichlet(_weights(torch, n + 1, dtype, scale), generator=g)
    return getattr(torch, function)(_weights(torch, n, dtype, scale), generator=g)


def _weights(torch, n, dtype, scale=1.0):
    x = weights(n, str(dtype).removeprefix("torch."), scale)
    return torch.from_numpy(x.view(np.int16)).view(dtype) if dtype is torch.bfloat16 else torch.from_numpy(x)


if __name__ == "__main__":
    import sys
    import warnings

    import tensor_cases
    import torch

    import jtensor

    warnings.simplefilter("ignore")
    rounds = int(sys.argv[1])
    for what, same in (("samplers", [ours(case) == theirs(case, torch) for case in cases(20261122, rounds)]),
                       ("public", [tensor_cases.run(jtensor, case) == tensor_cases.run(torch, case)
                                   for case in tensor_cases.cases(20261122, rounds)])):
        print(f"{what}: {same.count(False)} of {len(same)} cases differ")
