"""Nested tensors in the layout strided beside PyTorch's, which has few operators for them."""
import pytest

from .lines import check, listed

LINES = listed("""
    s, m, m * 2, N.nested_tensor([]), N.nested_tensor([1., 2.])
    s.size(0), s.size(2), s.dim(), s.numel(), s.layout, s.is_nested, type(s), s.is_contiguous(), s._nested_tensor_size()
    s.size(1)
    s.shape
    len(s)
    s.stride()
    show([m.unbind(), m[1], s[0, 1], s[..., 0], s.select(1, 0), s.narrow(0, 0, 2)])
    s.unbind(1)
    s[1:]
    show([s.to_padded_tensor(0.), made((2, 3), (4, 1)).to_padded_tensor(-1), s.to_padded_tensor(0., (3, 4, 5))])
    s.to_padded_tensor(0., (3, 2, 4))
    N.nested_tensor([torch.ones(2), torch.ones(3, 2)])
    N.nested_tensor(torch.ones(3))
    N.nested_tensor([s])
    a = torch.ones(2, requires_grad=True); show(N.as_nested_tensor([a, torch.ones(3)]))
    show(N.as_nested_tensor(torch.ones(2, 3, 4, requires_grad=True)))
    a = torch.ones(2, requires_grad=True); N.as_nested_tensor([a, a * 2]).backward(N.nested_tensor([torch.ones(2), torch.ones(2)])); a.grad
    show([s + 1, 2 * s, s - s, s / 2, s * s, -s, abs(s), s.relu(), F.gelu(s), torch.tanh(s), s > 0, torch.isnan(s), s.double()])
    s + torch.ones(4)
    s + made((2, 3), (3, 4), (1, 4))
    1 - s
    s.exp()
    s == s
    show([s.add_(1), s.mul_(2), s.zero_(), s])
    show([s.clone(), s.contiguous() is s, torch.ones_like(s), s.masked_fill(s > 0, 1.), s.sum(-1, keepdim=True), s.softmax(1)])
    s.sum()
    s.sum(1, keepdim=True)
    F.layer_norm(s, (4,))
    show([s.transpose(1, 2), s.transpose(1, 2).contiguous(), s.transpose(1, 2) * 2, s.unsqueeze(-1), s.reshape(3, -1, 2, 2)])
    s.transpose(0, 1)
    s.view(2, -1, 4)
    s.permute(0, 2, 1)
    show([s.chunk(2, -1), s.split_with_sizes([1, 3], -1), torch.cat([s, s]), torch.cat([s, s], -1)])
    show([s @ s.transpose(1, 2), torch.bmm(s, torch.ones(3, 4, 2))])
    s @ s
    F.linear(s, torch.ones(2, 3))
    show(F.scaled_dot_product_attention(g, g, g))
    a = A(4, 2, batch_first=True); [p.requires_grad_(False).fill_(.1) for p in a.parameters()]; show(a.eval()(s, s, s))
    gradients(m * 2, m)
    gradients(m * m, m)
    gradients(m.softmax(-1), m)
    gradients(m.transpose(1, 2), m)
    gradients(m @ m.transpose(1, 2), m)
    gradients(m.to_padded_tensor(0.), m)
    w, b = torch.arange(4.).requires_grad_(), torch.ones(4, requires_grad=True); gradients(F.layer_norm(m, (4,), w, b), m, w, b)
    w, b = torch.arange(8.).reshape(2, 4).requires_grad_(), torch.ones(2, requires_grad=True); gradients(F.linear(m, w, b), m, w, b)
    m.unbind()[1].sum().backward(); show(m.grad)
""")


@pytest.mark.parametrize("line", LINES)
def test_strided(line):
    check(line)
