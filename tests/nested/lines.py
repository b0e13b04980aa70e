"""Lines about nested tensors under PyTorch and jtensor, on these: in the layout jagged ``x`` ``(3, j, 4)``, its leaf ``l``, ``h``
``(3, j, 2, 4)`` for attention, ``o`` ``(3, j)``, ``r`` ``(2, 2, j)``, ``n`` with holes; in the layout strided ``s``, its leaf ``m`` and
``g``; ``A`` is attention. ``show`` tells a tensor's parts, type, shape, whether it is contiguous, and its node with those behind."""
import re
import warnings

import pytest

from ..parity.lines import answer, listed

GIVEN = """
F, N, J, A = torch.nn.functional, torch.nested, torch.jagged, torch.nn.MultiheadAttention
def made(*sizes, **options):
    return N.nested_tensor([torch.arange(1., 1 + torch.Size(one).numel()).sin().reshape(one) for one in sizes], **options)
SIZES, HEADS = ((2, 4), (3, 4), (1, 4)), ((2, 2, 4), (3, 2, 4), (1, 2, 4))
x, l = made(*SIZES, layout=J), made(*SIZES, layout=J, requires_grad=True)
h, o, r = made(*HEADS, layout=J), made((2,), (3,), (1,), layout=J), made((2, 3), (2, 1), layout=J)
n = N.narrow(torch.arange(30.).reshape(3, 5, 2), 1, torch.tensor([0, 1, 2]), torch.tensor([2, 3, 1]), layout=J)
s, m, g = made(*SIZES), made(*SIZES, requires_grad=True), made(*HEADS)
def show(t):
    if isinstance(t, (list, tuple)):
        return [show(one) for one in t]
    if not isinstance(t, torch.Tensor):
        return t
    node = t.grad_fn
    nodes = node and (node.name(), [one and one.name() for one, _ in node.next_functions])
    if not t.is_nested:
        return t.detach(), nodes
    shape = str(t.shape) if t.layout == J else t.dim()
    return [one.detach() for one in t.unbind()], t.dtype, shape, t.is_contiguous(), nodes, t.requires_grad
def gradients(made, *leaves):
    # Of the elements, each with a factor of its own.
    dense = torch.cat([part.reshape(-1) for part in made.unbind()]) if made.is_nested else made.reshape(-1)
    (dense * torch.arange(1., 1 + dense.numel())).sum().backward()
    return show([made, *[leaf.grad for leaf in leaves]])
"""
_SOURCE = re.compile(r" ?\(Triggered internally at .*?\)| This could be because .*", re.DOTALL)
_LENGTH = re.compile(r"\bj(\d+)")


def _numbered(text):
    """The lengths that differ, numbered in the order in which they are told: how many there were before is each process's matter."""
    seen = {}
    return _LENGTH.sub(lambda found: "j" + str(seen.setdefault(found[1], len(seen))), text)


def check(line):
    """Asserts that a line comes out as under PyTorch: the text, or the error's first sentences."""
    pytest.importorskip("torch")
    outcomes = []
    for name in ("torch", "jtensor"):
        space = {"torch": __import__(name)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                      # that strided ones are a prototype
            exec(GIVEN, space)
        space.pop("torch")
        text, _ = answer(name, line, **space)
        outcomes.append(_numbered(_SOURCE.sub("", text)))
    assert outcomes[1] == outcomes[0]


__all__ = ["check", "listed"]
