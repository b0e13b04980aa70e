"""Whether a product or a sum of rows has the same bits by the kernel of a larger one, over random sizes.

    python tests/trace/padded_bits.py --seconds 60 --seed 1

Each case is computed by the kernel of its own size and by the padded one. Cases that `padded` does not take are counted.
"""
import argparse
import collections
import math
import time

import jax
import numpy as np

from jtensor.base import devices, dtypes
from jtensor.trace import plan, spec
from jtensor.trace.lowering.flat import flattened
from jtensor.trace.op_by_op import equations, padded

LIMIT = 1 << 23         # multiplications


def _size(draws, most):
    return int(math.exp(draws.uniform(0, math.log(most + 1))))


def _numbers(draws, *shape, dtype=np.float32):
    # of many magnitudes, and of both signs: zeros, too
    least = -70 if draws.random() < 0.3 else -20                # products of the least are flushed to zero
    made = draws.normal(size=shape) * np.exp2(draws.integers(least, 20, shape))
    return np.where(draws.random(shape) < 0.05, 0.0, made).astype(dtype)


def case(draws):
    """A random (text, function of arrays, arrays)."""
    kind = draws.choice(["turned", "plain", "turned lists", "plain lists", "first", "first turned lists", "rows", "rows of three"])
    if kind.startswith("rows"):
        length, dtype = _size(draws, 3000) + 1, draws.choice([np.float32, np.float64])
        lead = (_size(draws, 2000),) if kind == "rows" else (_size(draws, 40), _size(draws, 60))
        axes = (len(lead),)
        return f"{kind} {lead} {length} {dtype.__name__}", lambda x: (jax.lax.reduce_sum(x, axes),), [
            _numbers(draws, *lead, length, dtype=dtype)]
    rows, length, columns = _size(draws, 700), _size(draws, 1500), _size(draws, 900)
    lists = (int(draws.integers(2, 7)),) if kind.endswith("lists") else ()
    while rows * length * columns * math.prod(lists) > LIMIT:
        rows, length, columns = rows // 2 + 1, length // 2 + 1, columns // 2 + 1
    count, turned, first = len(lists), "turned" in kind, kind.startswith("first")
    numbers = (((count if first else count + 1,), (count + 1 if turned else count,)), (tuple(range(count)),) * 2)
    shapes = (*lists, length, rows) if first else (*lists, rows, length), (*lists, columns, length) if turned else (*lists, length, columns)

    def product(x, y):
        return (jax.lax.dot_general(x, y, numbers, precision="highest"),)
    return f"{kind} {lists} {rows} {length} {columns}", product, [_numbers(draws, *shape) for shape in shapes]


def graph_of(function, arrays):
    """The equations of a function of ndarrays."""
    avals = [spec.aval(x.shape, dtypes.of_numpy(x.dtype), devices.cpu) for x in arrays]
    return flattened(plan.make("root", function, avals).jaxpr())


def kernel(function, arrays):
    """The padded kernel of a function that is one equation, or None."""
    graph = graph_of(function, arrays)
    return padded.of(graph.equations[0], graph) if len(graph.equations) == 1 else None


def differ(function, arrays):
    """How many elements differ; None if there is no padded kernel."""
    found = kernel(function, arrays)
    if found is None:
        return None
    graph = graph_of(function, arrays)
    one, = equations.Alone(graph).run(arrays)
    other, = found.run(arrays)
    assert one.shape == other.shape and one.dtype == other.dtype
    return int((one.view(f"u{one.itemsize}") != other.view(f"u{one.itemsize}")).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draws, end = np.random.default_rng(options.seed), time.monotonic() + options.seconds
    compared, skipped, different = collections.Counter(), 0, []
    while time.monotonic() < end:
        text, function, arrays = case(draws)
        found = differ(function, arrays)
        skipped += found is None
        if found is not None:
            compared[text.partition(" (")[0]] += 1
        if found:
            different.append((text, found))
    print(f"{sum(compared.values())} compared, {skipped} have kernels of their own, {len(different)} differ", dict(compared))
    for entry in different:
        print(*entry)
    return bool(different)


if __name__ == "__main__":
    raise SystemExit(main())
