"""Whether operations at a size that only the run knows have the bits that they have at that size, over random operators and sizes.

    python tests/trace/dynamic_bits.py --seconds 60 --seed 1

Each is made at the largest size of a bucket (`jtensor.trace.dynamic_shapes.dynamic`) and run on arrays that are filled up with NaN, or
with a wild number where there is none, and by its own kernel at its own size. Operations of which nothing is known at other sizes are
counted.
"""
import argparse
import collections
import math
import time
import types
import warnings

import jax
import numpy as np

from jtensor.base import devices, dtypes
from jtensor.ops import gradient
from jtensor.ops.registry import REGISTRY
from jtensor.trace import plan, scalars, spec
from jtensor.trace.dynamic_shapes import dynamic, wide
from jtensor.trace.lowering.examples import Unknown
from jtensor.trace.op_by_op import kernels

try:
    from .concrete import concrete
except ImportError:
    from concrete import concrete

BUCKETS = (8, 15), (16, 31), (33, 63), (64, 127), (128, 255), (256, 383), (384, 511), (512, 767)
SHAPES = {
    "n": lambda n: (n,), "n x n": lambda n: (n, n), "3 x n": lambda n: (3, n), "n x 10": lambda n: (n, 10),
    "2 x n x 70": lambda n: (2, n, 70), "n x 5 x 40": lambda n: (n, 5, 40), "8 x 2 x n": lambda n: (8, 2, n),
    "2 x 4 x n x n": lambda n: (2, 4, n, n), "4n x 9": lambda n: (4 * n, 9), "n+3 x 66": lambda n: (n + 3, 66)}


def plans(operator, shape, dtype, statics):
    """``n`` to the operation's plan and that of its gradient, as a list."""
    def made(n):
        one = concrete(operator, shape(n), dtype, statics=statics)
        found = [one]
        if one.differentiable and one.differentiable[0] and dtype is dtypes.float32:
            found.append(gradient.backward_plan(one, tuple(range(len(one.inputs))), (0,)))
        return found
    return made


def product_or_sum(draws):
    """A random product of matrices or sum of some axes, ``n`` to its plan, and what it is."""
    def extent():
        slope = int(draws.choice([0, 0, 1, 1, 2, 8]))
        return slope, int(draws.choice([0, 0, 0, 1, 5])) if slope else int(draws.choice([2, 3, 5, 8, 16, 17, 32, 49, 64, 65, 97, 128, 300]))

    def shape(extents, n):
        return tuple([slope * n + start for slope, start in extents])
    if draws.random() < 0.6:
        rows, length, columns = extent(), extent(), extent()
        lists = [(0, int(draws.integers(2, 9)))] * int(draws.integers(0, 2))
        first, turned, count = bool(draws.integers(2)), bool(draws.integers(2)), len(lists)
        numbers = (((count if first else count + 1,), (count + 1 if turned else count,)), (tuple(range(count)),) * 2)
        left, right = [length, rows] if first else [rows, length], [columns, length] if turned else [length, columns]
        arrays = lists + left, lists + right
        text = f"product {arrays} {numbers}"

        def function(x, y):
            return (jax.lax.dot_general(x, y, numbers, precision="highest"),)
    else:
        arrays = [extent() for _ in range(int(draws.integers(1, 4)))],
        axes = tuple(sorted({int(draws.integers(len(arrays[0]))) for _ in range(2)}))
        text = f"sum {arrays} {axes}"

        def function(x):
            return (jax.lax.reduce_sum(x, axes),)

    def at(n):
        return plan.make(text, function, [spec.aval(shape(extents, n), dtypes.float32, devices.cpu) for extents in arrays])
    largest = sum(math.prod(shape(extents, 767)) for extents in arrays)
    return (text, at) if largest < 1 << 22 and any(slope for extents in arrays for slope, _ in extents) else product_or_sum(draws)


class Served:
    """The operation ``at(n)`` in a bucket: ``differ(n, draws)`` says whether the bits differ there. Raises `Unknown`."""

    def __init__(self, at, least, most):
        self.at, (first, *_) = at, [at(n) for n in (least, most - 1, most)]
        kind = dynamic._Kind((repr(first.key), repr(first), least))
        kind.lines, kind.place = [(1, 0)], 0
        kind.samples = [((n,), (at(n),)) for n in (least, least + 1, most - 1)]
        count, numbers = len(first.inputs), collections.Counter()
        taken = []
        for name in first.scalar_kinds:
            name_of = "i" if name == "b" else name
            taken.append((name, numbers[name_of]))
            numbers[name_of] += 1
        self.nodes = [(first, tuple(~k for k in range(count)), taken, None)]
        self.counts = tuple((name, numbers[name]) for name in ("f", "c", "i") if numbers[name])
        self.wanted, self.numbers = tuple(range(len(first.outputs))), numbers
        here = types.SimpleNamespace(plans=(first,))
        (self.stage,), _ = wide.build(kind, dynamic._Bucket(least, most), here, dynamic._operations(kind), self.nodes, self.wanted,
                                        self.counts)

    def differ(self, n, draws):
        one = self.at(n)
        arrays = [array(draws, a, n) for a in one.inputs]
        floats, integers = [float(draws.normal()) for _ in range(self.numbers["f"])], [int(draws.integers(0, 2)) for _ in range(
            self.numbers["i"])]
        segment = types.SimpleNamespace(floats=floats, integers=integers, complexes=[1j] * self.numbers["c"], inputs=arrays)
        made = [wide.on_host(wide.cut(x, extents, n)) for x, extents in zip(
            self.stage.run(segment, n, {}, {}, lambda x: x), self.stage.extents, strict=True)]
        kernel = kernels.kernel_of(one)
        given = [scalars.zero(kernel.device), *arrays, *[scalars.number(kind, number, kernel.device) for kind, number in scalars.taken(
            self.nodes[0][2], segment)]]
        return not all(map(dynamic._same, made, kernel.run(given)))


def array(draws, aval, n):
    """Numbers of a type: places below 8 where they are whole, since they may name some."""
    dtype = np.dtype(aval.dtype.numpy)
    if dtype.kind == "b":
        return draws.random(aval.shape) < 0.5
    if dtype.kind in "iu":
        return draws.integers(0, 8, aval.shape).astype(dtype)
    made = draws.normal(size=aval.shape) * np.exp2(draws.integers(-12, 12, aval.shape))
    return np.where(draws.random(aval.shape) < 0.05, -0.0, made).astype(dtype)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--products", type=float, default=0.5, help="how many of them are products of matrices and sums alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wide.POISON, wide.SHORTEST = True, 1
    draws, counts, begin, names = np.random.default_rng(options.seed), collections.Counter(), time.time(), set()
    operators = list(REGISTRY.operators.values())
    while time.time() - begin < options.seconds:
        if draws.random() < options.products:
            text, at = product_or_sum(draws)
            least, most = BUCKETS[draws.integers(len(BUCKETS))]
            try:
                served = Served(at, least, most)
            except Unknown:
                counts["order unknown"] += 1
                continue
            for n in {least, most, *map(int, draws.integers(least, most + 1, 3))}:
                differs = served.differ(n, draws)
                counts["differ" if differs else "equal"] += 1
                if differs:
                    print(f"DIFFERS {text} {n} of {least} to {most}", flush=True)
            continue
        operator = operators[draws.integers(len(operators))]
        name, shape = list(SHAPES.items())[draws.integers(len(SHAPES))]
        dtype = dtypes.float32 if draws.random() < 0.8 else dtypes.int64
        value, (least, most) = int(draws.integers(0, 2)), BUCKETS[draws.integers(len(BUCKETS))]
        at = plans(operator, shape, dtype, lambda name, value=value: {"dim": value, "dims": (value,)}.get(name, 1))
        try:
            count = min(len([one.jaxpr() for one in at(n)]) for n in (least, least + 1, most - 1, most))
        except Exception:                       # it does not take such arguments, or has no gradient
            counts["no such operation"] += 1
            continue
        for k in range(count):
            try:
                served = Served(lambda n, k=k, at=at: at(n)[k], least, most)
            except Unknown:
                counts["nothing known"] += 1
                continue
            names.add(operator.name)
            for n in {least, most, int(draws.integers(least, most + 1))}:
                differs = served.differ(n, draws)
                counts["differ" if differs else "equal"] += 1
                if differs:
                    print(f"DIFFERS {operator.name} {name} {dtype} {value} {n} of {least} to {most} {'gradient' if k else ''}", flush=True)
    print(dict(counts), len(names), "operators")


if __name__ == "__main__":
    main()
