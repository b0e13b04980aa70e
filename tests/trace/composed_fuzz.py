"""Random compositions of public operations that ask whether fusing shows: op by op, and as one program compiled with every effort.

    python tests/trace/composed_fuzz.py --programs 500 --seed 1
    python tests/trace/composed_fuzz.py --seed 1 --pictures             # of four dimensions: convolutions, pools, normalisations
    python tests/trace/composed_fuzz.py --only mm,write_columns,pick_columns

Where `fence_fuzz` goes through arithmetic, this goes through what moves data between products and sums: XLA may hand a transpose, which it
has made itself of picking columns, on to a product, and then adds up in another order.
"""
import argparse
import functools
import random

import jax
import numpy as np

import jtensor as torch
from jtensor.base import compat
from jtensor.nn import functional as F
from jtensor.trace import executor, scalars, tape
from jtensor.trace.lowering import executable, fences, lower

EFFORTS = "all", "brief", "rough", "swift"
N, C = 71, 8


@functools.cache
def given(pictures=False):
    """What the operations take beside their input: the same in every process."""
    draws = np.random.default_rng(0)

    def data(*shape):
        return torch.tensor(draws.standard_normal(shape).astype(np.float32))
    n = C if pictures else N
    names = {"places": torch.tensor(draws.permutation(n)), "some": torch.tensor(draws.integers(0, n, (n, n))), "square": data(n, n),
             "vector": data(n)}
    names |= {"x": data(4, C, C, C), "y": data(4, C, C, C), "kernel": data(C, C, 3, 3) * 0.2} if pictures else {
        "x": data(N, N), "y": data(N, N)}
    for tensor in names.values():
        tensor.tolist()
    return names


def _written(x, fill):
    made = x.clone()
    made[..., 1:-1] = fill(x)
    return made


OPERATIONS = {
    "scaled": lambda x, g: x * 1.5, "plus": lambda x, g: x + g["y"], "times": lambda x, g: x * g["y"],
    "over": lambda x, g: x / (x.abs() + 1), "tanh": lambda x, g: x.tanh(), "exp": lambda x, g: (x * 0.1).exp(),
    "softmax": lambda x, g: x.softmax(-1),
    "softmax_rows": lambda x, g: x.softmax(-2), "less_mean": lambda x, g: x - x.mean(-2, keepdim=True),
    "normal": lambda x, g: F.normalize(x, dim=-1), "over_std": lambda x, g: x / (x.std(-2, keepdim=True) + 1),
    "less_max": lambda x, g: x - x.amax(-1, keepdim=True), "sums": lambda x, g: x.cumsum(-2) * 0.3,
    "mm": lambda x, g: x @ g["square"], "mm_left": lambda x, g: g["square"] @ x,
    "linear": lambda x, g: F.linear(x, g["square"], g["vector"]),
    "mm_vector": lambda x, g: x * (x @ g["vector"])[..., None], "mm_itself": lambda x, g: x @ x.transpose(-1, -2) * 0.1,
    "einsum": lambda x, g: torch.einsum("...ij,kj->...ik", x, g["square"]),
    "turned": lambda x, g: x.transpose(-1, -2), "turned_plus": lambda x, g: x.transpose(-1, -2) + x,
    "rotated": lambda x, g: x.rot90(1, (-2, -1)),
    "flipped": lambda x, g: x.flip(-1), "rolled": lambda x, g: x.roll(3, -2), "sorted": lambda x, g: x.sort(-2)[0],
    "pick_rows": lambda x, g: x[..., g["places"], :], "pick_columns": lambda x, g: x[..., g["places"]],
    "pick_both": lambda x, g: x[..., g["places"][:, None], g["places"]], "gather": lambda x, g: x.gather(-1, g["some"].expand(x.shape)),
    "gather_rows": lambda x, g: x.gather(-2, g["some"].expand(x.shape)),
    "write_rows": lambda x, g: torch.zeros_like(x).index_copy(-2, g["places"], x),
    "write_columns": lambda x, g: torch.zeros_like(x).index_copy(-1, g["places"], x),
    "add_rows": lambda x, g: torch.zeros_like(x).index_add(-2, g["places"], x),
    "add_columns": lambda x, g: torch.zeros_like(x).index_add(-1, g["places"], x),
    "scatter": lambda x, g: torch.zeros_like(x).scatter(-1, g["places"].expand(x.shape), x),
    "repeated": lambda x, g: x.repeat_interleave(2, -1)[..., :x.shape[-1]],
    "joined": lambda x, g: torch.cat([x[..., 3:], x[..., :3] * 2], -1),
    "windows": lambda x, g: x.unfold(-1, 3, 1).flatten(-2)[..., :x.shape[-1]], "triangle": lambda x, g: x.tril(),
    "chosen": lambda x, g: torch.where(g["y"] > 0, x, x * 0.1), "written": lambda x, g: _written(x, lambda x: x[..., 2:] + x[..., :-2]),
}
PICTURES = {name: OPERATIONS[name] for name in """scaled plus times over tanh exp softmax less_mean over_std mm linear turned flipped
    pick_rows pick_columns joined chosen written sums""".split()} | {
    "conv": lambda x, g: F.conv2d(x, g["kernel"], padding=1), "conv_point": lambda x, g: F.conv2d(x, g["kernel"][:, :, :1, :1]),
    "conv_each": lambda x, g: F.conv2d(x, g["kernel"][:, :1], padding=1, groups=C),
    "conv_turned": lambda x, g: F.conv_transpose2d(x, g["kernel"], padding=1),
    "conv_half": lambda x, g: F.interpolate(F.conv2d(x, g["kernel"], stride=2, padding=1), size=(C, C)),
    "max_pool": lambda x, g: F.max_pool2d(x, 3, 1, 1), "mean_pool": lambda x, g: F.avg_pool2d(x, 3, 1, 1),
    "batch_norm": lambda x, g: F.batch_norm(x, None, None, training=True), "group_norm": lambda x, g: F.group_norm(x, 2),
    "layer_norm": lambda x, g: F.layer_norm(x, (C,)), "channels": lambda x, g: x[:, g["places"]],
    "attention": lambda x, g: _attention(x.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(x.shape),
    "bilinear": lambda x, g: F.interpolate(F.interpolate(x, size=(5, 5), mode="bilinear"), size=(C, C)),
    "per_channel": lambda x, g: x * F.linear(x.mean((2, 3)), g["square"]).sigmoid()[:, :, None, None],
}


def _attention(x):
    return (x @ x.transpose(1, 2)).softmax(-1) @ x


def composed(names, pictures=False, backwards=False):
    """The result of operations after one another, and the input's gradient."""
    operations, g = PICTURES if pictures else OPERATIONS, given(pictures)
    x = g["x"].clone().requires_grad_(backwards)
    y = x
    for name in names:
        y = operations[name](y, g)
    if not backwards:
        return [y]
    (y * g["y"]).sum().backward()
    return [y, x.grad]


def differences(make, efforts=EFFORTS):
    """{effort: [(position, how many elements)]} of what differs when what ``make()`` records runs as one program instead of op by op."""
    executor.flush("composed_fuzz")
    kept = make()
    segment = tape.LOCAL.segment
    nodes, inputs = list(segment.nodes), list(segment.inputs)
    wanted = tuple(tape.living(nodes)[1])
    arrays = [executor.value_of(value) for value in inputs]
    counts = scalars.counts(segment.floats, segment.integers, segment.complexes)
    alone = [np.asarray(x) for x in executor.op_by_op(nodes, wanted, inputs, segment)]
    found = {}
    for effort in efforts:
        with jax.enable_x64(True):                          # as `lower.program` does it, past its caches
            fenced = fences.of_graph(lower.graph_of(nodes, wanted, [value.aval for value in inputs], counts), effort in lower.HURRIED)
            jaxpr = fenced.jaxpr()
            got = executable.possible((effort,), jaxpr)
            program = executable.compile_program(jaxpr, [], options=fenced.compiler_options, effort=got)
        numbers = [compat.put(scalars.pack(segment.floats, segment.integers, segment.complexes), program.device)] if counts else []
        together = program.run([scalars.zero(program.device), *numbers, *arrays])
        wrong = [(at, int((a != b).sum())) for at, a, b in zip(wanted, alone, map(np.asarray, together), strict=True) if not _same(a, b)]
        if wrong:
            found[effort if got == effort else f"{effort}, {got}"] = wrong
    tape.LOCAL.segment = tape.Segment()
    del kept
    return found


def _same(a, b):
    equal = (a == b) | (a != a) & (b != b)
    return bool(equal.all()) and (a.dtype.kind not in "f" or bool((np.signbit(a) == np.signbit(b))[a == 0].all()))


def drawn(rng, pictures):
    """The names of a random composition, and whether it is differentiated."""
    return [rng.choice(list(PICTURES if pictures else OPERATIONS)) for _ in range(rng.choice((2, 3, 3, 4)))], rng.random() < 0.5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("--only", type=lambda text: text.split(","), default=None)
    options = parser.parse_args()
    rng, bad = random.Random(options.seed), 0
    for at in range(options.programs if options.only is None else 2):
        names, backwards = drawn(rng, options.pictures) if options.only is None else (options.only, bool(at))
        found = differences(lambda n=names, b=backwards: composed(n, options.pictures, b))
        bad += bool(found)
        if found:
            print(f"program {at}: {' '.join(names)}{', differentiated' if backwards else ''}: {found}", flush=True)
    print(f"{bad} differ")


if __name__ == "__main__":
    main()
