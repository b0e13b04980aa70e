"""Times of the random functions beside PyTorch's, as a table in Markdown: ``python tests/random/measure.py``.

Milliseconds for a million numbers through the public functions (a tenth of that for ``multinomial``), the best of several runs taken in
turns; jtensor's include handing the numbers to XLA. The rejection samplers go number by number and are measured on 20,000.
"""
import time

import torch

import jtensor

N = 1_000_000
ROWS = {
    "rand float32": lambda T: T.rand(N),
    "rand float64": lambda T: T.rand(N, dtype=T.float64),
    "rand bfloat16": lambda T: T.rand(N, dtype=T.bfloat16),
    "uniform_(-1, 2) float32": lambda T: T.empty(N).uniform_(-1, 2),
    "randn float32": lambda T: T.randn(N),
    "randn float64": lambda T: T.randn(N, dtype=T.float64),
    "normal_(1, 2) float32": lambda T: T.empty(N).normal_(1, 2),
    "randint int64": lambda T: T.randint(1000, (N,)),
    "random_() int64": lambda T: T.empty(N, dtype=T.int64).random_(),
    "randperm": lambda T: T.randperm(N),
    "randperm of 10,000": lambda T: T.randperm(10_000),
    "bernoulli_(0.3)": lambda T: T.empty(N).bernoulli_(0.3),
    "bernoulli of a tensor": lambda T: T.bernoulli(T.full((N,), 0.3)),
    "dropout": lambda T: T.nn.functional.dropout(T.ones(N), 0.3).sum().item(),
    "exponential_": lambda T: T.empty(N).exponential_(),
    "geometric_": lambda T: T.empty(N).geometric_(0.3),
    "cauchy_": lambda T: T.empty(N).cauchy_(),
    "log_normal_": lambda T: T.empty(N).log_normal_(),
    "multinomial, 1000 of 100,000": lambda T: T.multinomial(T.ones(N // 10), 1000),
    "multinomial, 100,000 again": lambda T: T.multinomial(T.ones(1000), N // 10, True),
    "poisson of 20,000 (rate 3)": lambda T: T.poisson(T.full((20_000,), 3.0)),
    "binomial of 20,000 (20, 0.3)": lambda T: T.binomial(T.full((20_000,), 20.0), T.full((20_000,), 0.3)),
}


def best(draw, T, runs):
    times = []
    for _ in range(runs):
        T.manual_seed(1)
        start = time.perf_counter()
        made = draw(T)
        if T is jtensor and isinstance(made, jtensor.Tensor):
            made._host()                    # what was recorded has run
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


print("| function | torch ms | jtensor ms | ratio |")
print("|---|---|---|---|")
for name, draw in ROWS.items():
    rounds = [(best(draw, torch, 3), best(draw, jtensor, 3)) for _ in range(3)]
    theirs, ours = (min(column) for column in zip(*rounds, strict=True))
    print(f"| {name} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.1f} |", flush=True)
