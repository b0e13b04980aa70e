"""What a program has put on Tensor, and in the namespaces, before the first class with ``__torch_function__``: it is the program's own."""
import subprocess
import sys

import pytest

PROGRAM = """
import torch

def mine(self, other=None):
    return type(self).__name__, type(other).__name__

torch.Tensor.mine = torch.Tensor.relu_ = torch.mine = torch.nn.functional.mine = mine
torch.Tensor.kind = property(lambda self: type(self).__name__)
before = torch.Tensor.add
torch.Tensor.add = lambda self, other: before(self, other)
torch.Tensor.__iter__ = lambda self: iter(["mine"])

class First(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("asked", func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})

class Second(torch.Tensor):
    pass

a, b = torch.ones(2).as_subclass(First), torch.ones(2).as_subclass(Second)
print(a.mine(b), a.mine(1), a.relu_(b), torch.mine(a, b), torch.nn.functional.mine(a, b), a.kind, list(a))
print(torch.Tensor.mine is mine, type(a.add(1)).__name__, type(a.sub(1)).__name__)
torch.Tensor.later = mine
print(a.later(b))
"""
TOLD = """asked __len__
('First', 'Second') ('First', 'int') ('First', 'Second') ('First', 'Second') ('First', 'Second') First ['mine']
asked <lambda>
asked sub
True First First
('First', 'Second')
"""


def told(*command):
    found = subprocess.run([sys.executable, *command], input=PROGRAM, capture_output=True, text=True, check=True, timeout=300)
    return found.stdout


def ours():
    return told("-c", "import sys, jtensor; sys.modules['torch'] = jtensor; sys.modules['torch.nn'] = jtensor.nn; exec(sys.stdin.read())")


def test_what_a_program_has_added_is_not_asked():
    assert ours() == TOLD


def test_as_in_pytorch():
    pytest.importorskip("torch")
    assert ours() == told("-c", "import sys; exec(sys.stdin.read())")
