"""Programs that draw through the public tensor API: one table, run with either library and compared bit for bit.

Not a test itself. A case is (program, dtype name, size, layout, seed). ``python tests/random/tensor_cases.py`` writes the goldens, with
PyTorch, for test runs without it.
"""
import hashlib
import json
import random
import sys
from pathlib import Path

import numpy as np

GOLDENS = Path(__file__).resolve().parent.parent / "goldens" / "tensor_draws.json"
FLOATS = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
SIZES = ((0,), (1,), (15,), (16,), (17,), (33,), (3, 5), (4, 8), (2, 3, 4), (2, 3, 2, 3), (65,), (7, 11), ())
SEEDS = (0, 1, 7, 2**32 + 5, 2**63 + 11, 2**64 - 1)
LAYOUTS = ("contiguous", "transposed", "steps", "columns", "offset")


def layers(nn, d):
    """Layers of all kinds of default initialisation."""
    return (nn.Linear(3, 2, dtype=d), nn.Conv2d(2, 3, 2, dtype=d), nn.Embedding(4, 3, dtype=d), nn.GRU(2, 3, dtype=d),
            nn.BatchNorm1d(2, dtype=d), nn.MultiheadAttention(4, 2, dtype=d), nn.Bilinear(2, 2, 2, dtype=d))


def forked(T):
    with T.random.fork_rng():
        T.randn(40)


# name -> (dtypes, body over T: the library, g: a generator, t: a target, n: its size, d: its dtype)
PROGRAMS = {
    "rand": (FLOATS + COMPLEX, lambda T, g, t, n, d: T.rand(n, dtype=d, generator=g)),
    "rand_out": (FLOATS, lambda T, g, t, n, d: T.rand(n, generator=g, out=t)),
    "randn": (FLOATS + COMPLEX, lambda T, g, t, n, d: T.randn(*n or [n], dtype=d, generator=g)),
    "randn_out": (FLOATS, lambda T, g, t, n, d: T.randn(n, generator=g, out=t)),
    "randint": (INTEGERS + FLOATS, lambda T, g, t, n, d: T.randint(3, 100, n, dtype=d, generator=g)),
    "randint_out": (INTEGERS, lambda T, g, t, n, d: T.randint(7, n, generator=g, out=t)),
    "randperm": (("int64", "int32", "float32"), lambda T, g, t, n, d: T.randperm(t.numel(), dtype=d, generator=g)),
    "rand_like": (FLOATS, lambda T, g, t, n, d: T.rand_like(t)),
    "randn_like": (FLOATS, lambda T, g, t, n, d: T.randn_like(t)),
    "channels_last": (FLOATS[:2], lambda T, g, t, n, d: T.randn_like(T.ones(2, 3, 4, 5, dtype=d), memory_format=T.channels_last)),
    "randperm_out": (("int64",), lambda T, g, t, n, d: T.randperm(9, generator=g, out=T.empty(0, dtype=d))),
    "randint_like": (INTEGERS, lambda T, g, t, n, d: T.randint_like(t, -3, 20) if d != T.uint8 else T.randint_like(t, 20)),
    "uniform_": (FLOATS + COMPLEX, lambda T, g, t, n, d: t.uniform_(-0.3, 2, generator=g)),
    "normal_": (FLOATS + COMPLEX, lambda T, g, t, n, d: t.normal_(0.7, 1.3, generator=g)),
    "random_": (INTEGERS + FLOATS, lambda T, g, t, n, d: t.random_(generator=g)),
    "random_to": (INTEGERS + FLOATS, lambda T, g, t, n, d: t.random_(19, generator=g)),
    "random_from": (INTEGERS, lambda T, g, t, n, d: t.random_(2, None, generator=g)),
    "bernoulli_": (INTEGERS + FLOATS + ("bool",), lambda T, g, t, n, d: t.bernoulli_(0.3, generator=g)),
    "bernoulli_of": (FLOATS + ("int64",), lambda T, g, t, n, d: t.bernoulli_(T.rand(n), generator=g)),
    "bernoulli": (FLOATS, lambda T, g, t, n, d: T.bernoulli(t.uniform_(), generator=g)),
    "bernoulli_out": (FLOATS, lambda T, g, t, n, d: T.bernoulli(T.rand(n, dtype=d), generator=g, out=t)),
    "bernoulli_p": (FLOATS, lambda T, g, t, n, d: T.bernoulli(t, 0.2, generator=g)),
    "exponential_": (FLOATS, lambda T, g, t, n, d: t.exponential_(0.6, generator=g)),
    "geometric_": (INTEGERS + FLOATS, lambda T, g, t, n, d: t.geometric_(0.4, generator=g)),
    "cauchy_": (FLOATS, lambda T, g, t, n, d: t.cauchy_(1, 0.5, generator=g)),
    "log_normal_": (FLOATS, lambda T, g, t, n, d: t.log_normal_(0.1, 0.4, generator=g)),
    "normal": (FLOATS, lambda T, g, t, n, d: T.normal(2, 0.5, n, dtype=d, generator=g)),
    "normal_out": (FLOATS, lambda T, g, t, n, d: T.normal(2, 0.5, n, generator=g, out=t)),
    "normal_of_mean": (FLOATS[:2], lambda T, g, t, n, d: T.normal(t.fill_(2.25), 0.5, generator=g)),
    "normal_of_std": (FLOATS[:2], lambda T, g, t, n, d: T.normal(-1.5, t.fill_(0.75), generator=g)),
    "normal_of_both": (FLOATS[:2], lambda T, g, t, n, d: T.normal(t.fill_(0.5), t + 1.0, generator=g)),
    "multinomial": (FLOATS[:2], lambda T, g, t, n, d: T.multinomial(T.rand(3, 9, dtype=d), 4, generator=g)),
    "multinomial_transposed": (FLOATS[:2], lambda T, g, t, n, d: T.multinomial(T.rand(9, 3, dtype=d).t(), 4, generator=g)),
    "multinomial_again": (FLOATS, lambda T, g, t, n, d: T.multinomial(T.rand(9, dtype=d), 6, True, generator=g)),
    "multinomial_one": (FLOATS, lambda T, g, t, n, d: T.multinomial(T.rand(5, 33, dtype=d), 1, T.rand(1).item() < 0.5, generator=g)),
    "multinomial_rows_again": (FLOATS, lambda T, g, t, n, d: T.multinomial(T.rand(40, 9, dtype=d).t(), 7, True, generator=g)),
    "multinomial_out": (FLOATS[:2], lambda T, g, t, n, d: T.multinomial(T.rand(9, dtype=d), 3, out=T.empty(3, dtype=T.int64))),
    "poisson": (FLOATS, lambda T, g, t, n, d: T.poisson(t.uniform_(0, 20), generator=g)),
    "binomial": (FLOATS[:2], lambda T, g, t, n, d: T.binomial(t.random_(40), T.full(n, 0.3, dtype=d), generator=g)),
    "_standard_gamma": (FLOATS[:2], lambda T, g, t, n, d: T._standard_gamma(t.uniform_(0.5, 4), generator=g)),
    "dropout": (FLOATS, lambda T, g, t, n, d: T.nn.functional.dropout(t.fill_(2), 0.3)),
    "dropout_inplace": (FLOATS, lambda T, g, t, n, d: T.nn.functional.dropout(t.fill_(2), 0.3, inplace=True)),
    "alpha_dropout": (FLOATS[:1], lambda T, g, t, n, d: T.nn.functional.alpha_dropout(t.fill_(2), 0.25, True)),
    "feature_dropout": (FLOATS[:2], lambda T, g, t, n, d: T.nn.functional.dropout2d(T.ones(2, 5, 2, 3, dtype=d), 0.4)),
    "feature_dropout_inplace": (FLOATS[:2], lambda T, g, t, n, d: T.nn.Dropout3d(0.4, inplace=True)(T.ones(3, 4, 1, 2, 2, dtype=d))),
    "feature_dropout_of_rows": (FLOATS, lambda T, g, t, n, d: T.nn.functional.dropout1d(T.ones(6, 5, dtype=d).t(), 0.6)),
    "feature_alpha_dropout": (FLOATS[:2], lambda T, g, t, n, d: T.nn.FeatureAlphaDropout(0.3)(T.ones(2, 5, 3, dtype=d))),
    "dropout_transposed": (FLOATS[:2], lambda T, g, t, n, d: T.dropout(T.ones(5, 7, dtype=d).t(), 0.5, True)),
    "rrelu": (("float32", "float64", "bfloat16"), lambda T, g, t, n, d: T.nn.functional.rrelu(T.randn(n, dtype=d), training=True)),
    "xavier_uniform_": (FLOATS, lambda T, g, t, n, d: T.nn.init.xavier_uniform_(T.empty(5, 7, dtype=d), generator=g)),
    "kaiming_normal_": (FLOATS, lambda T, g, t, n, d: T.nn.init.kaiming_normal_(T.empty(5, 7, dtype=d), generator=g)),
    "trunc_normal_": (FLOATS, lambda T, g, t, n, d: T.nn.init.trunc_normal_(T.empty(5, 7, dtype=d), generator=g)),
    "xavier_normal_": (FLOATS, lambda T, g, t, n, d: T.nn.init.xavier_normal_(T.empty(5, 3, 2, dtype=d), 1.5, generator=g)),
    "kaiming_uniform_": (FLOATS, lambda T, g, t, n, d: T.nn.init.kaiming_uniform_(T.empty(7, 5, dtype=d).t(), 0.2, generator=g)),
    "init.normal_": (FLOATS, lambda T, g, t, n, d: T.nn.init.normal_(t, 0.5, 2.0, generator=g)),
    "init.uniform_": (FLOATS, lambda T, g, t, n, d: T.nn.init.uniform_(t, -0.5, 2.0, generator=g)),
    "layers": (FLOATS[:2], lambda T, g, t, n, d: T.cat([p.flatten() for layer in layers(T.nn, d) for p in layer.parameters()])),
    "random_split": (("int64",), lambda T, g, t, n, d: T.tensor(T.utils.data.random_split(range(20), [13, 7], generator=g)[0].indices)),
    "loader": (("int64",), lambda T, g, t, n, d: T.cat([b.view(-1) for b in T.utils.data.DataLoader(
        T.arange(23), 4, sampler=T.utils.data.WeightedRandomSampler(T.ones(23).double(), 15), drop_last=True)])),
    "loader_shuffled": (("int64",), lambda T, g, t, n, d: T.cat(list(T.utils.data.DataLoader(T.arange(23), 4, shuffle=True)))),
    "fork_rng": (FLOATS[:1], lambda T, g, t, n, d: (forked(T), T.rand(3))[1]),
    "sparse_": (FLOATS[:2], lambda T, g, t, n, d: T.nn.init.sparse_(T.empty(5, 7, dtype=d), 0.3, generator=g)),
}


def cases(seed, rounds):
    """The same cases for the same arguments: each program once a round, in a dtype, size, layout and seed drawn for it."""
    rng = random.Random(seed)
    for _ in range(rounds):
        for name, (dtypes, _) in PROGRAMS.items():
            yield name, rng.choice(dtypes), rng.choice(SIZES), rng.choice(LAYOUTS), rng.choice(SEEDS)


def target(T, size, layout, dtype):
    """An empty tensor that lies in memory as ``layout`` says."""
    if layout == "transposed":
        return T.zeros(size[::-1], dtype=dtype).permute(tuple(range(len(size)))[::-1])
    if layout == "steps" and size:
        return T.zeros((*size[:-1], 2 * size[-1]), dtype=dtype)[..., ::2]
    if layout == "columns" and len(size) > 1:
        return T.zeros((*size[:-2], size[-1], size[-2]), dtype=dtype).transpose(-1, -2)
    if layout == "offset":
        return T.zeros((3, *size), dtype=dtype)[1]
    return T.zeros(size, dtype=dtype)


def run(T, case):
    """(sha256 of the numbers in logical order, their strides, dtype and size, and of both generators' states afterwards)."""
    name, dtype, size, layout, seed = case
    T.manual_seed(seed)
    g = T.Generator().manual_seed(seed ^ 5)
    d = getattr(T, dtype)
    made = PROGRAMS[name][1](T, g, target(T, size, layout, d), size, d)
    bits = made.detach()
    numbers = np.ascontiguousarray((bits.float() if bits.dtype == T.bfloat16 else bits).numpy()).tobytes()
    states = bytes(T.get_rng_state().numpy()) + bytes(g.get_state().numpy())
    stride = list(made.stride()) if made.numel() else []
    return [hashlib.sha256(numbers).hexdigest()[:24], str(made.dtype), list(made.shape), stride, hashlib.sha256(states).hexdigest()[:24]]


if __name__ == "__main__":
    import torch

    GOLDENS.write_text(
        json.dumps([run(torch, case) for case in cases(2113, 2)], indent=0).replace(",\n", ", ").replace("], [", "],\n[") + "\n"
    )
    print(f"{len(json.loads(GOLDENS.read_text()))} goldens written to {GOLDENS}", file=sys.stderr)
