"""Calls with more than one thing wrong, and numbers that are tensors: which refusal comes first, as under PyTorch.

Each line is statements and an expression, with ``torch``; `lines.alike` compares its value or its error.
"""
import pytest

import jtensor

from .lines import alike, listed

torch = pytest.importorskip("torch")

JACOBIANS = """
torch.autograd.functional.jacobian(lambda x: x, 3, vectorize=True, strict=True)
torch.autograd.functional.jacobian(lambda x: 3, torch.ones(2), vectorize=True, strict=True)
torch.autograd.functional.jacobian(lambda x: torch.ones(2), torch.ones(2), vectorize=True, strict=True)
torch.autograd.functional.jacobian(lambda x: x * 2, torch.ones(2), vectorize=True, strict=True)
torch.autograd.functional.jacobian(lambda x: x, 3, strategy="forward-mode")
torch.autograd.functional.jacobian(lambda x: x, torch.ones(2), strategy="forward-mode")
torch.autograd.functional.jacobian(lambda x: x, 3, strategy="forward-mode", strict=True, create_graph=True)
torch.autograd.functional.jacobian(lambda x: x, 3, strategy="forward-mode", strict=True)
torch.autograd.functional.hessian(lambda x: x.sum(), torch.ones(2), strict=True, vectorize=True)
"""

SCALES = """
s = torch.amp.GradScaler("cpu"); s.scale(torch.ones(())); s.update(torch.tensor(5.)); s.get_scale()
s = torch.amp.GradScaler("cpu"); s.scale(torch.ones(())); s.update(torch.tensor(5)); s.get_scale()
s = torch.amp.GradScaler("cpu"); s.scale(torch.ones(())); s.update(torch.tensor([5.]))
s = torch.amp.GradScaler("cpu"); s.scale(torch.ones(())); s.update(torch.tensor([5., 6.]))
s = torch.amp.GradScaler("cpu"); s.scale(torch.ones(())); s.update(torch.tensor(5., requires_grad=True))
s = torch.amp.GradScaler("cpu"); s.scale(torch.ones(())); s.update(3)
"""

STEPS = """
p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2); torch.optim.Adadelta([p], capturable=True).step()
p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2); torch.optim.Adadelta([p], capturable=True, foreach=True).step()
p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2); torch.optim.RAdam([p], capturable=True).step()
p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2); torch.optim.RAdam([p], capturable=True, foreach=True).step()
p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2); b = torch.tensor(.5); torch.optim.NAdam([p], betas=(b, b)).step(); p
p = torch.ones(2, requires_grad=True); p.grad = torch.ones(2); b = .5, torch.tensor(.75); torch.optim.NAdam([p], betas=b).step(); p
"""


@pytest.mark.parametrize("line", listed(JACOBIANS + SCALES + STEPS))
def test_the_first_refusal_is_pytorchs(line):
    alike(line)


META = """
torch.ones(2, device="meta").nonzero()
torch.nonzero(torch.ones(2, device="meta"), as_tuple=True)
x = torch.ones(2, device="meta"); x[x > 0]
x = torch.ones(2, device="meta"); torch.masked_select(x, x > 0)
torch.ones(2, device="meta").unique()
torch.ones(2, device="meta").unique_consecutive()
torch.equal(torch.ones(2, device="meta"), torch.ones(2, device="meta"))
torch.ones(2, device="meta").repeat_interleave(torch.ones(2, device="meta").long())
torch.histogram(torch.ones(2, device="meta"), 3)
torch.argwhere(torch.ones(2, device="meta"))
"""

OTHERS = """
torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2), dim=5)
torch._weight_norm(torch.ones(2, 2), torch.ones(2, 1), 5)
torch._weight_norm(torch.ones(2, 2), torch.ones(2, 1), -2)
torch.nn.functional.huber_loss(torch.ones(1), torch.ones(1), "x", 0)
"opcheck" in torch.library.__all__
"""


@pytest.mark.parametrize("line", listed(META))
def test_what_has_no_values_is_refused_as_pytorch_refuses_it(line):
    alike(line)


@pytest.mark.parametrize("line", listed(OTHERS))
def test_other_refusals(line):
    alike(line)


def test_a_mask_of_another_shape():
    alike('p.custom_from_mask(torch.nn.Linear(2, 2), "bias", torch.ones(3))', ".nn.utils.prune")


@pytest.mark.parametrize("namespace", ["aten", "quantized"])
def test_a_namespace_of_pytorchs_is_taken(namespace):
    for library in (torch, jtensor):
        with pytest.raises(RuntimeError, match=f"Only a single TORCH_LIBRARY can be used to register the namespace {namespace};"):
            library.library.Library(namespace, "DEF")
