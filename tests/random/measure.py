"""Times of the random functions beside PyTorch's, as a table in Markdown: ``python tests/random/measure.py``.

Milliseconds of processor time (``--wall``: of the clock, for a machine that has nothing else to do) for a million numbers through the
public functions (a tenth of that for ``multinomial``), the median of runs taken in turns in one process; jtensor's include handing the
numbers to XLA. Words among the arguments choose the rows whose names hold one of them (``poisson binomial``). The
compiled programs are waited for first: without them, in a new installation's first moments, the rows in NumPy or Python hold, which
``--first`` measures.
"""
import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
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
    "poisson, rate 3": lambda T: T.poisson(T.full((N,), 3.0)),
    "poisson, rates of 0 to 10": lambda T: T.poisson(T.linspace(0, 9.9, N)),
    "poisson, rate 50": lambda T: T.poisson(T.full((N,), 50.0)),
    "poisson, rates of 0 to 20": lambda T: T.poisson(T.arange(N) % 997 * 0.02),
    "binomial of (20, 0.3)": lambda T: T.binomial(T.full((N,), 20.0), T.full((N,), 0.3)),
    "binomial of (100, 0.3)": lambda T: T.binomial(T.full((N,), 100.0), T.full((N,), 0.3)),
    "binomial of (0 to 60, 0.5)": lambda T: T.binomial((T.arange(N) % 61).float(), T.full((N,), 0.5)),
    "_standard_gamma of 2": lambda T: T._standard_gamma(T.full((N,), 2.0)),
    "_standard_gamma of 0.5": lambda T: T._standard_gamma(T.full((N,), 0.5)),
    "_sample_dirichlet of ten": lambda T: T._sample_dirichlet(T.full((N // 10, 10), 0.7)),
    "binomial of 20,000 (20, 0.3)": lambda T: T.binomial(T.full((20_000,), 20.0), T.full((20_000,), 0.3)),
}


clock = time.perf_counter if "--wall" in sys.argv else time.process_time


def timed(draw, T):
    T.manual_seed(1)
    start = clock()
    made = draw(T)
    if T is jtensor and isinstance(made, jtensor.Tensor):
        made._host()                        # what was recorded has run
    return (clock() - start) * 1e3


def compiled():
    from jtensor.random import gammas, loops, normals_jax, permutation
    for program in (normals_jax.PROGRAM, normals_jax.FOR_FEW, gammas.PROGRAM, *permutation.PROGRAMS,
                    *(kind.program for kind in loops.KINDS)):
        if "--first" in sys.argv:
            program._pays_after = float("inf")
        else:
            program.now()


compiled()
wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
print("| function | torch ms | jtensor ms | ratio |\n|---|---|---|---|")
for name, draw in ROWS.items():
    if wanted and not any(word in name for word in wanted):
        continue
    turns = 5 if "--first" in sys.argv and name.startswith(("poisson", "binomial", "_s")) else 15
    rounds = [(timed(draw, torch), timed(draw, jtensor)) for _ in range(turns)][2:]
    theirs, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"| {name} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.1f} |", flush=True)
