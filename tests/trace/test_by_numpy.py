"""What NumPy does in place of a kernel has the kernel's bits, or is declined: each function over unusual numbers, alone and in between."""
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jtensor as torch
from jtensor.base import compat, devices, dtypes
from jtensor.trace import lower, plan, scalars, spec
from jtensor.trace.by_numpy import by_numpy
from jtensor.trace.report import REPORT

GROUPS = {                 # every number of a group meets every other one
    "f": {"usual": [1.0, -1.5, 3e-10, -3e10, 7.0, 0.1], "zeros": [0.0, -0.0, 1.0], "infinite": [np.inf, -np.inf, 2.0, 0.0, 3e38],
          "subnormal": [1e-40, -1e-310, 1.0], "tiny": [1e-30, 1.2e-38, 2e-308, 1e-20], "nan": [np.nan, -np.nan, 1.0, np.inf]},
    "i": {"usual": [0, 1, 2, 77, 100], "extreme": [127, -128, 255, 2**31 - 1, -2**31, 2**63 - 1, -2**63, -1]},
    "b": {"both": [0, 1]}}
XLA_ALONE = {"f": ("sum", "remainder"), "i": ("div",), "u": ("div", "left", "right")}
COMPUTED = "float32", "float64", "int64", "int32", "int8", "uint8", "bool"
MOVED = "float32", "bfloat16", "float16", "complex64", "int64", "bool", "float8_e4m3fn"
ARITHMETIC = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "add twice": lambda a, b: a + 2 * b, "div": lax.div, "neg": lambda a, b: -a,
    "abs": lambda a, b: jnp.abs(a), "sqrt": lambda a, b: lax.sqrt(jnp.abs(a)), "square": lambda a, b: lax.square(a),
    "power": lambda a, b: a**2, "max": lax.max, "min": lax.min, "finite": lambda a, b: lax.is_finite(a),
    "floor": lambda a, b: lax.floor(a), "ceil": lambda a, b: lax.ceil(a),
    "remainder": lambda a, b: lax.rem(a, jnp.where((b == 0) | (b == -1), jnp.full_like(b, 3), b)),
    "left": lambda a, b: lax.shift_left(a, b & 7), "right": lambda a, b: lax.shift_right_arithmetic(a, b & 7),
    "eq": lax.eq, "ne": lax.ne, "lt": lax.lt, "le": lax.le, "gt": lax.gt, "ge": lax.ge,
    "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor, "not": lambda a, b: lax.bitwise_not(a),
    "largest": lambda a, b: jnp.max(a), "least": lambda a, b: jnp.min(a.reshape(3, -1), 1), "sum": lambda a, b: jnp.sum(a),
    "all": lambda a, b: (a != 0).all(), "any": lambda a, b: (a.reshape(2, -1) != 0).any(0),
    **{f"to {d}": lambda a, b, d=d: a.astype(d) for d in ("float32", "float64", "int64", "int32", "int8", "uint8", "bool")}}
MOVES = {
    "reshape": lambda a: a.reshape(3, 4), "transpose": lambda a: a.reshape(3, 4).T, "reverse": lambda a: a[::-1],
    "slice": lambda a: a[2:9:3], "column": lambda a: jnp.broadcast_to(a[:, None], (12, 2)), "pad": lambda a: lax.pad(a, a[1], [(1, 2, 0)]),
    "two": lambda a: jnp.concatenate([a, a]),
    "inside": lambda a: lax.pad(a, a[0], [(1, 0, 2)]), "where": lambda a: jnp.where(np.arange(12) % 2 == 0, a, a[::-1]),
    "part": lambda a: lax.dynamic_slice(a, (jnp.int64(9),), (5,)), "write": lambda a: lax.dynamic_update_slice(a, a[:3], (jnp.int64(-1),))}


class Both:
    """A function as a kernel and by NumPy."""

    def __init__(self, name, function, arrays):
        avals = [spec.aval(a.shape, dtypes.of_numpy(a.dtype), devices.cpu) for a in arrays]
        self.plan = plan.make(("both ways", name), lambda *arrays: (function(*arrays),), avals)
        self.kernel, self.by_numpy = lower.kernel(self.plan)[0], by_numpy(self.plan)

    def agree(self, arrays):
        """Whether NumPy does it with these numbers; if so, it has the kernel's bits."""
        found = self.by_numpy and self.by_numpy(arrays)
        if not found:
            return False
        device = self.kernel.device
        expected = self.kernel.run([scalars.zero(device), *[compat.put(a, device) for a in arrays]])
        for a, b in zip(map(np.asarray, expected), found, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert a.tobytes() == b.tobytes(), (self.plan.key, arrays, a, b)
            assert b.flags.c_contiguous and not any(np.shares_memory(b, given) for given in arrays)
        return True


def pairs(numbers, dtype):
    """Each number of a group beside each, in two arrays of 72."""
    with np.errstate(all="ignore"):
        numbers = np.array(numbers).astype(dtype)
    return [np.resize(side, 72) for side in (np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers)))]


@pytest.mark.parametrize("dtype", COMPUTED)
def test_arithmetic(dtype):
    groups = {group: pairs(numbers, dtype) for group, numbers in GROUPS[np.dtype(dtype).kind.replace("u", "i")].items()}
    for name, function in ARITHMETIC.items():
        arrays = next(iter(groups.values()))
        try:
            with compat.x64():
                jax.eval_shape(function, *arrays)
        except TypeError:
            continue
        ways = Both(name, function, arrays)
        done = {group for group, numbers in groups.items() if ways.agree(numbers)}
        if name in XLA_ALONE.get(np.dtype(dtype).kind, ()):
            assert not done
        elif np.dtype(dtype).kind == "f":
            assert "zeros" in done or name in ("div", "max", "min", "largest", "least"), name
            assert "usual" in done or name.startswith("to "), name          # -3e10 is in no int32
            assert not done & {"subnormal", "nan"} or name in ("finite", f"to {dtype}")
        else:
            assert done == set(groups)


def test_moves():
    unusual = np.array([0.0, -0.0, np.nan, np.inf, 1e-40, *range(7)])
    for dtype, (name, function) in itertools.product(MOVED, MOVES.items()):
        numbers = (np.arange(12) if dtype in ("int64", "bool") else unusual).astype(dtype)
        assert Both(name, function, [numbers]).agree([numbers]), (dtype, name)


def test_what_numpy_does_not_do_is_xlas():
    three = np.ones(3, np.float32)
    for name, function in {"exp": jnp.exp, "sum": jnp.sum, "product": lambda a: a @ a, "sorted": jnp.sort}.items():
        assert not Both(name, function, [three]).agree([three])


def test_scripts_whose_shapes_never_come_again_compile_next_to_nothing(afresh):
    def step(n):
        x = torch.arange(n, dtype=torch.float32)
        y = torch.cat([x, x * 2 + 1])[::2]
        y[1:] -= y[:-1].clone()
        return (y > 1).sum().item() + y.max().item()

    for n in range(3, 13):
        step(n)
    before = sum(REPORT.kernels.values()) + sum(REPORT.programs.values())
    found = [step(n) for n in range(20, 30)]
    assert sum(REPORT.kernels.values()) + sum(REPORT.programs.values()) - before < 10
    with torch.eager():
        assert found == [step(n) for n in range(20, 30)]
