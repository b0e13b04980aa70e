"""Products of groups: PyTorch's numbers, strides and refusals, and gradients, which are those of the products one by one."""
import pytest

import jtensor

from .both import close, raised, same

ENDS = ([2, 2, 6], [1, 3, 4], [0, 0, 8])


def operands(torch, shapes, dtype="float32"):
    return [torch.randn(shape).to(getattr(torch, dtype)) for shape in shapes]


KINDS = {"rows": ((8, 8), (3, 8, 16)), "columns": ((3, 4, 8), (8, 8)), "terms": ((4, 8), (8, 16))}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ends", ENDS)
def test_numbers(kind, ends):
    def program(torch):
        a, b = operands(torch, KINDS[kind])
        made = torch.nn.functional.grouped_mm(a, b, offs=torch.tensor(ends, dtype=torch.int32))
        if kind == "rows":
            made = made[:ends[-1]]                       # PyTorch leaves the rest as its memory was
        return made[..., :ends[-1]] if kind == "columns" else made, made.stride(), str(made.dtype)
    close(program)


def test_batches_and_halves():
    def program(torch):
        F, offs = torch.nn.functional, torch.tensor([2, 2, 8], dtype=torch.int32)
        plain = F.grouped_mm(*operands(torch, ((3, 8, 16), (3, 16, 8))))
        return [plain] + [F.grouped_mm(*operands(torch, KINDS["rows"], kind), offs=offs).float() for kind in ("bfloat16", "float16")]
    close(program, rtol=1e-2, atol=1e-2)


def test_refusals():
    def program(torch):
        F, (a, b) = torch.nn.functional, operands(torch, KINDS["rows"])
        offs = torch.tensor([2, 2, 6], dtype=torch.int32)
        return [raised(call) for call in (
            lambda: F.grouped_mm(a, b), lambda: F.grouped_mm(b, b.mT, offs=offs), lambda: F.grouped_mm(a, b, offs=offs.long()),
            lambda: F.grouped_mm(a, b, offs=offs[:2]), lambda: F.grouped_mm(a, b, offs=offs[None]),
            lambda: F.grouped_mm(a[0], b, offs=offs),
            lambda: F.grouped_mm(a, b[:, :4], offs=offs), lambda: F.grouped_mm(a.double(), b, offs=offs),
            lambda: F.grouped_mm(a, b.long(), offs=offs), lambda: F.grouped_mm(a, b, offs=offs, bias=torch.ones(16)),
            lambda: F.grouped_mm(a.bfloat16(), b.bfloat16(), offs=offs, out_dtype=torch.float32), lambda: F.grouped_mm(b, b[:2].mT))]
    same(program)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_products_one_by_one(kind):
    ends = [2, 2, 6]
    a, b = [t.requires_grad_() for t in operands(jtensor, KINDS[kind])]
    grouped = jtensor.nn.functional.grouped_mm(a, b, offs=jtensor.tensor(ends, dtype=jtensor.int32))
    of_grouped = jtensor.autograd.grad(grouped.square().sum(), [a, b])
    total = 0
    for g, (begin, end) in enumerate(zip([0, 2, 2], ends, strict=True)):
        x = a[begin:end] if kind == "rows" else a[g] if kind == "columns" else a[:, begin:end]
        y = b[g] if kind == "rows" else b[:, begin:end] if kind == "columns" else b[begin:end]
        total = total + (x @ y).square().sum()
    for one, other in zip(of_grouped, jtensor.autograd.grad(total, [a, b]), strict=True):
        jtensor.testing.assert_close(one, other)
