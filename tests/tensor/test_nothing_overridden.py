"""What `__torch_function__` costs a process in which nothing has it: nothing before the first class or mode that does."""
import subprocess
import sys

import pytest

FRESH = """
import jtensor as torch
from jtensor.tensor.calling import overriding
import jtensor.nn, jtensor.optim, jtensor.overrides
def pays():
    return overriding.is_overridable(torch.add.__code__)
model = torch.nn.Linear(2, 1)
model(torch.ones(1, 2)).sum().backward()
torch.nn.Buffer(torch.ones(1)), torch.nn.LazyLinear, torch.overrides.has_torch_function((torch.ones(1),))
assert not pays()
{first}
assert pays()
"""


AUTOCAST = """
import jtensor as torch
def region():
    with torch.autocast("cpu"):
        return [torch.nn.functional.linear(x, x).dtype, torch.nn.functional.softmax(x.bfloat16(), 0).dtype, (x @ x).dtype]
x = torch.ones(2, 2)
if {cast_first}:
    region()
class A(torch.Tensor): pass
x = torch.ones(2, 2).as_subclass(A)
with torch.autocast("cpu"):
    made = [torch.nn.functional.linear(x, x), torch.nn.functional.softmax(x.bfloat16(), 0), x @ x]
assert all(type(one) is A for one in made)
assert [one.dtype for one in made] == region() == [torch.bfloat16] * 3
"""


@pytest.mark.parametrize("cast_first", [False, True])
def test_regions_of_autocast_cast_what_subclasses_are_made_of(cast_first):
    subprocess.run([sys.executable, "-c", AUTOCAST.format(cast_first=cast_first)], check=True)


@pytest.mark.parametrize("first", [
    "class A(torch.Tensor): pass\nassert type(torch.ones(2).as_subclass(A) + 1) is A",
    "with torch.overrides.BaseTorchFunctionMode(): torch.ones(2)",
    "torch.nn.LazyLinear(2)",
    "class D:\n    def __torch_function__(self, func, types, args=(), kwargs=None): return func\n"
    "assert torch.mean(D()) is torch.mean",
    "class D:\n    def __torch_function__(self, func, types, args=(), kwargs=None): return func\n"
    "assert torch.ones(2) + D() is torch.Tensor.add",
])
def test_nothing_is_paid_before_the_first(first):
    subprocess.run([sys.executable, "-c", FRESH.format(first=first)], check=True)
