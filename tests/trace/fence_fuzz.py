"""Random programs that ask whether fusing shows: op by op, cut at a random place, and fused as one, all to the same bits.

    python tests/trace/fence_fuzz.py --programs 500 --seed 1
    python tests/trace/fence_fuzz.py --only 117 --seed 1 --dtype bfloat16       # shrink and print one
    python tests/trace/fence_fuzz.py --no-fences                                # how much there is to find

What differs is shrunk to the few nodes that it takes. The programs are `fence_programs`.
"""

import argparse
import time
import zlib

import jax
import numpy as np

from jtensor.trace.lowering import executable, fences

if __package__:
    from .fence_programs import DTYPES, Writer
else:                               # run as a script
    from fence_programs import DTYPES, Writer

ZERO = np.uint32(0)


def compiled(function, arguments, on=True, effort="all"):
    """As the engine compiles it."""
    avals = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arguments]
    if on:
        fenced = fences.fenced(function, avals)
        program, options = fenced.program, fenced.compiler_options
    else:
        program, options = lambda zero, *inputs: function(*inputs), None
    tree = []

    def flat(*arrays):
        leaves, structure = jax.tree.flatten(program(*arrays))
        tree.append(structure)
        return leaves

    made = executable.compile_program(flat, [jax.ShapeDtypeStruct((), np.uint32), *avals], options=options, effort=effort)
    return lambda *arrays: jax.tree.unflatten(tree[-1], made.run(list(arrays)))


class Kernels:
    """Operators by themselves, compiled once for each name and types."""

    def __init__(self, on=True):
        self.on, self.cache = on, {}

    def run(self, op, arrays):
        key = op.name, tuple((x.shape, str(x.dtype)) for x in arrays)
        kernel = self.cache.get(key)
        if kernel is None:
            kernel = self.cache[key] = compiled(lambda *a: as_tuple(op.function(*a)), arrays, self.on, "kernel")
        return [np.asarray(r) for r in kernel(ZERO, *arrays)]


def as_tuple(x):
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def run_fused(nodes, inputs, wanted, on=True, effort="all"):
    """{position: array} of the wanted values; `inputs` is {position: array}."""
    positions = list(inputs)

    def tape(*arrays):
        values = dict(zip(positions, arrays))
        for node in nodes:
            results = as_tuple(node.op.function(*[values[v] for v in node.inputs]))
            values.update(zip(node.outputs, map(fences.mark, results)))
        return [values[v] for v in wanted]

    arrays = [inputs[v] for v in positions]
    results = compiled(tape, arrays, on, effort)(ZERO, *arrays)
    return dict(zip(wanted, map(np.asarray, results)))


def run_cut(program, at, on=True, effort="all"):
    """The nodes before `at` as one program, the rest as another."""
    first, rest = program.nodes[:at], program.nodes[at:]
    used = {v for node in rest for v in node.inputs} | set(program.wanted)
    between = [v for node in first for v in node.outputs if v in used]
    values = dict(program.inputs)
    if first and between:
        values |= run_fused(first, program.inputs, between, on, effort)
    made = {v for node in rest for v in node.outputs}
    wanted = [v for v in program.wanted if v in made]
    if wanted:
        values |= run_fused(rest, {v: values[v] for v in used if v in values}, wanted, on, effort)
    return {v: values[v] for v in program.wanted}


def same(a, b):
    """Which elements are the same, bit for bit; any NaN is like any other."""
    if a.dtype.kind == "c":
        parts = np.dtype(f"f{a.dtype.itemsize // 2}")
        return same(np.ascontiguousarray(a).view(parts), np.ascontiguousarray(b).view(parts))
    bits = f"i{a.dtype.itemsize}"
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return (a.view(bits) == b.view(bits)) | (a != a) & (b != b)


def differing(program, results):
    return [v for v, x in results.items() if not same(x, program.values[v]).all()]


def check(program, rng, on=True):
    """Positions of the values that differ, fused whole or cut, compiled with two of the efforts."""
    efforts = [str(effort) for effort in rng.permutation(["all", "brief", "swift", "rough"])]
    found = differing(program, run_fused(program.nodes, program.inputs, program.wanted, on, efforts[0]))
    if not found:
        found = differing(program, run_cut(program, int(rng.integers(1, max(2, len(program.nodes)))), on, efforts[1]))
    return found


def shrink(program, on=True):
    """The fewest nodes that still show a difference when fused; earlier values become inputs."""

    def differs(nodes, wanted):
        made = {v for node in nodes for v in node.outputs}
        inputs = {v: program.values[v] for node in nodes for v in node.inputs if v not in made}
        results = run_fused(nodes, inputs, wanted, on)
        return any(not same(x, program.values[v]).all() for v, x in results.items())

    nodes, wanted = list(program.nodes), [w for w in program.wanted if any(w in n.outputs for n in program.nodes)]
    if not differs(nodes, wanted):
        return None, None
    changed = True
    while changed:
        changed = False
        size = max(1, len(nodes) // 2)
        while size:
            at = 0
            while at < len(nodes) and len(nodes) > 1:
                fewer = nodes[:at] + nodes[at + size :]
                made = {v for node in fewer for v in node.outputs}
                still = [w for w in wanted if w in made]
                if still and differs(fewer, still):
                    nodes, wanted, changed = fewer, still, True
                else:
                    at += size
            size //= 2
        for w in list(wanted):
            fewer = [v for v in wanted if v != w]
            if fewer and differs(nodes, fewer):
                wanted, changed = fewer, True
    return nodes, wanted


def seed_of(seed, index, dtype):
    return [seed, index, zlib.crc32(dtype.encode())]


def show(program, nodes, wanted):
    made = {v for node in nodes for v in node.outputs}
    inputs = {v: program.values[v] for node in nodes for v in node.inputs if v not in made}
    results = run_fused(nodes, inputs, wanted)
    for node in nodes:
        print(
            "   ",
            node.outputs,
            [program.values[v].shape for v in node.outputs],
            "=",
            node.op.name,
            node.inputs,
            [program.values[v].shape for v in node.inputs],
            "<- wanted" if set(node.outputs) & set(wanted) else "",
        )
    for v in wanted:
        ok = same(results[v], program.values[v])
        if not ok.all():
            x, y = results[v].ravel(), program.values[v].ravel()
            bad = np.flatnonzero(~ok.ravel()[: len(x)])[:3]
            print(f"    value {v}: {(~ok).sum()} of {ok.size} differ, e.g. at {bad}: {x[bad]} fused, {y[bad]} op by op")


def main():
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", default=None)
    parser.add_argument("--only", type=int, default=None)
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--no-fences", action="store_true")
    parser.add_argument("--no-shrink", action="store_true")
    arguments = parser.parse_args()
    on = not arguments.no_fences
    kernels, bad, start = Kernels(on), {}, time.time()
    count = {}
    for index in range(arguments.programs) if arguments.only is None else [arguments.only]:
        dtype = arguments.dtype or DTYPES[index % len(DTYPES)]
        program = Writer(seed_of(arguments.seed, index, dtype), dtype, kernels, arguments.length).program
        found = check(program, np.random.default_rng(index), on)
        count[dtype] = count.get(dtype, 0) + 1
        if found:
            bad[dtype] = bad.get(dtype, 0) + 1
            print(f"program {index} {dtype}: {len(found)} of {len(program.wanted)} values differ", flush=True)
            if on and not arguments.no_shrink:
                nodes, wanted = shrink(program)
                if nodes:
                    show(program, nodes, wanted)
                else:
                    print("    only when cut")
        if len(kernels.cache) > 3000:
            kernels.cache.clear()
            jax.clear_caches()
    print(
        f"{sum(bad.values())} of {sum(count.values())} programs differ ({bad} of {count})"
        f"; {len(kernels.cache)} kernels, {time.time() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
