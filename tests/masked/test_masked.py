"""`torch.masked` beside PyTorch's: values, dtypes, gradients, refusals."""
import warnings

import pytest

import jtensor
from jtensor.base.errors import MissingFeature

from ..parity.lines import alike, listed

GIVEN = ("x = torch.tensor([[1., -2., 3.], [4., 0.5, 6.]]); i = torch.tensor([[1, 5, 3], [4, 2, 6]]); b = i > 2; "
         "m = torch.tensor([[True, False, True], [False, True, False]]); ")
LINES = listed(r'''
    p.sum(x, mask=m)
    p.sum(x, 1, mask=m)
    p.sum(x, (0, 1), mask=m, keepdim=True)
    p.sum(x)
    p.sum(i, 0, mask=m)
    p.sum(x, 1, mask=m, dtype=torch.float64)
    p.sum(b, 1, mask=m)
    p.prod(x, mask=m)
    p.prod(x, 1, mask=m)
    p.prod(x, (0, 1), mask=m)
    p.prod(i, 1, mask=m)
    p.cumsum(x, 1, mask=m)
    p.cumprod(x, 1, mask=m)
    p.cumsum(x, 0)
    p.cumsum(i.int(), 1, mask=m)
    p.cumprod(i.to(torch.uint8), 0)
    p.var(x, dtype=torch.int64)
    p.std(x, 1, dtype=torch.int64, mask=m)
    p.logsumexp(x.to(torch.complex64), 1)
    p.logsumexp(x.to(torch.complex64), 1, mask=m)
    p.logsumexp(b, 1)
    p.amax(b, 1)
    p.amax(b, 1, mask=m)
    p.argmin(b, 1, mask=m)
    p.argmax(b)
    p.softmax(i.int(), 1)
    p.amax(x, 1, mask=m)
    p.amax(x, mask=m)
    p.amin(x, 1, mask=m)
    p.amax(i, 1, mask=m)
    p.amin(i, 0, mask=m)
    p.argmax(x, 1, mask=m)
    p.argmin(x, 1, mask=m)
    p.argmax(x, mask=m)
    p.argmin(x, 0, mask=m, keepdim=True)
    p.mean(x, mask=m)
    p.mean(x, 1, mask=m)
    p.mean(x, 1)
    p.mean(i, 1, mask=m)
    p.mean(i, 1, mask=m, dtype=torch.float32)
    p.mean(b, 1, mask=m)
    p.median(x, 1, mask=m)
    p.median(x, mask=m)
    p.median(x, mask=m[0])
    p.median(i, 1, mask=m)
    p.median(x, (0, 1), mask=m)
    p.logsumexp(x, 1, mask=m)
    p.logsumexp(x, (0, 1), mask=m)
    p.logaddexp(x, x, input_mask=m, other_mask=~m)
    p.logaddexp(x, x)
    p.norm(x, 2, 1, mask=m)
    p.norm(x, 1.0, (0, 1), mask=m)
    p.norm(x, float("inf"), 1, mask=m)
    p.norm(x, float("-inf"), 1, mask=m)
    p.norm(x, 0, 1, mask=m)
    p.norm(x, mask=m)
    p.var(x, 1, mask=m)
    p.var(x, 1, False, mask=m)
    p.var(x, mask=m)
    p.var(x, 1, mask=m, correction=2)
    p.var(x, 1, True, keepdim=True, mask=m)
    p.std(x, 1, mask=m)
    p.std(x, (0, 1), mask=m)
    p.var(i, 1, mask=m)
    p.var(i, 1, mask=m, dtype=torch.float32)
    p.softmax(x, 1, mask=m)
    p.log_softmax(x, 1, mask=m)
    p.softmin(x, 1, mask=m)
    p.normalize(x, 2, 1, mask=m)
    p.softmax(x, 1)
    p.softmax(i, 1, mask=m)
    p.sum(x, 1, mask=m[0])
    p.sum(x, 1, mask=m[:, :1])
    p.sum(x, 1, mask=torch.ones(2, 2, 2, dtype=torch.bool))
    p.sum(x, 1, mask=torch.ones(5, dtype=torch.bool))
    p.sum(x, 1, mask=torch.ones(2, 3))
    p.sum(x, 5, mask=m)
    p.sum(x, (1, 1), mask=m)
    p.mean(x, 0, mask=torch.zeros_like(m))
    p.amax(x, 0, mask=torch.zeros_like(m))
    p.amax(torch.ones(2, 3, dtype=torch.complex64), 0, mask=m)
    p.argmax(x, (0, 1), mask=m)
    p.sum(x[0, 0], mask=m[0, 0])
    p.softmax(x, 1, mask=torch.zeros_like(m))
    g = x.clone().requires_grad_(); _ = p.mean(g, 1, mask=m).sum().backward(); g.grad
    g = x.clone().requires_grad_(); _ = p.softmax(g, 1, mask=m)[:, 1].sum().backward(); g.grad
    g = x.clone().requires_grad_(); _ = p.var(g, 1, mask=m).sum().backward(); g.grad
    g = x.clone().requires_grad_(); _ = p.amax(g, 1, mask=m).sum().backward(); g.grad
    g = x.clone().requires_grad_(); _ = p.logsumexp(g, 1, mask=m).sum().backward(); g.grad
    g = x.clone().requires_grad_(); _ = p.prod(g, 1, mask=m).sum().backward(); g.grad
    p.sum(x, 1, mask=m).dtype, p.sum(i, 1, mask=m).dtype, p.prod(b, 1, mask=m).dtype, p.sum(x.half(), 1, mask=m).dtype
    p.median(i, 1, mask=torch.zeros_like(m))
    p.var(x, 1, True, correction=1, mask=m)
    p.var(torch.complex(x, x), 1, mask=m)
    p.sum(x, 1, mask=m.to_sparse()), p.amax(x, 0, mask=m.to_sparse()), p.mean(x, 1, mask=m.to_sparse())
    p.median(x, 1, mask=m[:1].to_sparse()), p.cumsum(x, 1, mask=m.to_sparse())
''')


@pytest.mark.parametrize("line", LINES)
def test_as_pytorch(line):
    pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alike(GIVEN + line, ".masked")


def test_masked_tensors_are_not_here():
    for call in (jtensor.masked.masked_tensor, jtensor.masked.as_masked_tensor, jtensor.masked.MaskedTensor):
        with pytest.raises(MissingFeature, match="asked.?[tT]ensor.*what works"):
            call(jtensor.ones(2), jtensor.ones(2) > 0)
    assert not jtensor.masked.is_masked_tensor(jtensor.ones(2)) and not isinstance(jtensor.ones(2), jtensor.masked.MaskedTensor)
