"""Calls with more than one thing wrong, and numbers that are tensors: which refusal comes first, as under PyTorch.

Each line is statements and an expression, with ``torch``; `lines.alike` compares its value or its error.
"""
import pytest

from .lines import alike, listed

pytest.importorskip("torch")

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
