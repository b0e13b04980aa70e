"""What Python does by hand has the bits of the programs that it stands for, or is declined."""
import itertools
import math

import numpy as np
import pytest

import jtensor as torch
from jtensor.base import devices, dtypes
from jtensor.trace import executor, plan, scalars, spec, tape
from jtensor.trace.op_by_op import interpret, kernels

F32, F64, I64, I32, U8, BOOL = dtypes.float32, dtypes.float64, dtypes.int64, dtypes.int32, dtypes.uint8, dtypes.bool
NUMBERS = {
    F32: [0.0, -0.0, 1.0, -1.5, 3.0, 0.1, 1e-38, 2**-126, 2**-127, -(2**-149), 3.4e38, -3.4028234663852886e38, 1 + 2**-23, 2**-24,
          16777216.0, math.inf, -math.inf, math.nan, 1e10, 7e-20],
    F64: [0.0, -0.0, 1.0, -2.5, 0.1, 1e-308, 2.0**-1022, 2.0**-1023, 5e-324, 1.7976931348623157e308, 1 + 2**-52, 1 + 2**-24 + 2**-50,
          math.inf, math.nan, 3e-39, 3.5e38, 1e300],
    I64: [0, 1, -1, 7, 2**31, -(2**31) - 1, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**24 + 1],
    I32: [0, 1, -3, 2**31 - 1, -(2**31), 2**24 + 1], U8: [0, 1, 200, 255], BOOL: [True, False]}
FUNCTIONS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "gt": lambda a, b: a > b, "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b, "twice": lambda a, b: (a * b) + a, "first": lambda a, b: a.reshape(()), "neg": lambda a, b: -a,
    "abs": lambda a, b: abs(a), "sum": lambda a, b: (a + b).sum(), "float": lambda a, b: a.astype("float32"),
    "double": lambda a, b: a.astype("float64"), "long": lambda a, b: a.astype("int64"), "int": lambda a, b: a.astype("int32"),
    "bool": lambda a, b: a.astype("bool")}
OF_FLOATS = {"div": lambda a, b: a / b, "sqrt": lambda a, b: abs(a) ** 0.5, "mean": lambda a, b: a.mean() / b}


def bits(array):
    array = np.asarray(array)
    return array.dtype, array.tobytes()


@pytest.mark.parametrize("dtype", list(NUMBERS), ids=str)
def test_by_hand_has_the_bits_of_the_kernel(dtype):
    functions = FUNCTIONS | (OF_FLOATS if dtype.is_floating_point else {})
    if dtype is BOOL:
        functions = {name: functions[name] for name in ("eq", "first", "float", "long")} | {
            "and": lambda a, b: a & b, "or": lambda a, b: a | b, "not": lambda a, b: ~a, "xor": lambda a, b: a ^ b}
    one, done, declined = spec.aval((1,), dtype, devices.cpu), 0, 0
    random = np.random.default_rng(3)
    more = random.normal(size=12) * 10.0 ** random.integers(-30, 30, 12) if dtype.is_floating_point else []
    numbers = np.array([*NUMBERS[dtype], *more], dtype.numpy).tolist()
    by_hand = {}
    for name, function in functions.items():
        by_hand[name] = interpret.by_hand(plan.make(("by hand", name), lambda a, b, f=function: (f(a, b),), [one, one]))
        assert by_hand[name] is not None or name == "sqrt" or dtype is U8 and name in ("neg", "abs", "sum"), name
    together = plan.make("by XLA", lambda a, b: tuple([f(a, b) for f in functions.values()]), [one, one])
    kernel = kernels.kernel_of(together)
    for a, b in itertools.product(numbers, repeat=2):
        wanted = kernel.run([scalars.zero(kernel.device), *[np.array([x], dtype.numpy) for x in (a, b)]])
        for (name, compute), array, out in zip(by_hand.items(), wanted, together.outputs, strict=True):
            found = None if compute is None else compute(a, b)
            if found is None:
                declined += 1
            else:
                done += 1
                assert bits(np.array(found, out.dtype.numpy)) == bits(np.asarray(array).reshape(1)), (name, a, b, found, array)
    assert done > 10 and (declined or dtype is BOOL)


def test_what_is_not_exact_is_not_done_by_hand():
    one, two, half = (spec.aval(size, d, devices.cpu) for size, d in (((1,), F32), ((2,), F32), ((1,), dtypes.bfloat16)))
    import jax.numpy as jnp
    for function, aval in ((jnp.exp, one), (lambda a: a + 1, two), (lambda a: a + 1, half), (lambda a: a / 0.0, half), (jnp.sin, one)):
        assert interpret.by_hand(plan.make("no", lambda a, f=function: (f(a),), [aval])) is None


def test_a_number_done_by_hand_is_a_value_like_any_other(afresh):
    x = torch.tensor([2.0])
    y = x * 1.5
    assert y.item() == 3.0 and tape.there(y._storage.value).__class__ is np.ndarray
    y += 1                                                       # in place on what waits on the host, in programs, and shared with NumPy
    assert (y.expand(3) * torch.arange(3.0)).tolist() == [0.0, 4.0, 8.0]
    z = x - 2.5
    assert z.item() == -0.5 and z.numpy().tolist() == [-0.5] and z.jax().tolist() == [-0.5]
    assert bool(x > 1) and (x / 0).item() == math.inf and math.isnan((x * math.nan).item())
    total = torch.zeros(())
    for n in range(5):
        total += n
        assert total.item() == n * (n + 1) / 2


def test_of_several_results_only_some_may_be_wanted(afresh):
    for kept in (0, 1, 0):
        x = torch.tensor([2.0])
        found = torch.aminmax(x)[kept]
        assert found.item() == 2.0


def test_nobody_waits_who_has_not_asked():
    a = torch.ones(600, 600)
    slow = (a @ a).sum()
    executor.flush("the slow one")
    more = slow * 2
    executor.flush("a boundary")
    assert more._storage.value.array is not None or slow._storage.value.array.is_ready()
    assert more.item() == 2 * 600 ** 3


def test_waiting_for_one_number_after_the_other(afresh):
    """From the second time on a tape of one operation on numbers is done without asking what kind of tape it is."""
    x, report = torch.tensor([2.0]), torch.report()
    before, hits = sum(report.flushes.values()), report.hits
    for _ in range(3):
        found = [(x * k).item() for k in (0.5, math.inf, 3.0, -0.0)]
        assert found == [1.0, math.inf, 6.0, 0.0] and math.copysign(1, found[-1]) == -1
    assert sum(report.flushes.values()) - before == report.hits - hits == 12
    for _ in range(3):
        y = x * 3.0
        z = y.detach()
        assert y.item() == 6.0 and (y + 1).tolist() == [7.0]
        y += 1
        assert (z.item(), x.item(), bool(y > 6.5), bool((y == 6.5).any())) == (7.0, 2.0, True, False)
    with torch.eager():
        assert (x + 1.0).item() == 3.0


def test_a_number_that_has_been_looked_at_is_that_of_its_value():
    import jtensor
    x = (jtensor.arange(4.0) * 2)[1:2].clone()                   # an array on the device, not numbers of the host
    for _ in range(3):
        seen = []
        for step in range(4):
            seen.append((x + 1.0).item())
            if step % 2:
                x.add_(1.0)
            else:
                x = x * 2.0
        assert seen == [x0 + 1 for x0 in _followed(seen[0] - 1)]
        assert x.item() == _followed(seen[0] - 1)[-1] + 1
        x = jtensor.ones(8)[:1].clone()


def _followed(number):
    found = [number]
    for step in range(3):
        found.append(found[-1] + 1 if step % 2 else found[-1] * 2)
    return found
