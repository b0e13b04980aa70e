"""Causal masks that are told: PyTorch's texts, numbers, nodes and refusals."""
import importlib

import pytest

from .both import close, raised, same

SIZES = [(2, 3), (4, 2), (3, 3), (1, 5)]


def room_of(torch):
    return importlib.import_module(f"{torch.__name__}.nn.attention.bias")


def test_texts_and_refusals():
    def program(torch):
        room = room_of(torch)
        both = room.causal_upper_left, room.causal_lower_right
        made = [make(*size) for make in both for size in SIZES]
        q = torch.ones(1, 1, 2, 2)
        return [[repr(m), m.shape, m.variant, m.seq_len_q, m.seq_len_kv, isinstance(m, torch.Tensor), m._materialize()] for m in made] + [
            raised(call) for call in (lambda: both[0](2), lambda: both[1](1, 2, 3), lambda: room.CausalBias(3, 2, 2),
                                      lambda: torch.nn.functional.scaled_dot_product_attention(q, q, q, both[0](2, 2), is_causal=True),
                                      lambda: repr(made[0] + 1))]
    same(program)


@pytest.mark.parametrize("kind", ["causal_upper_left", "causal_lower_right"])
@pytest.mark.parametrize("size", SIZES)
def test_attention(kind, size):
    def program(torch):
        q, k, v = [torch.randn(1, 2, n, 4, requires_grad=True) for n in (*size, size[1])]
        attend = torch.nn.functional.scaled_dot_product_attention
        out = attend(q, k, v, attn_mask=getattr(room_of(torch), kind)(*size), scale=0.7)
        out.square().sum().backward()
        return out.detach(), q.grad, k.grad, v.grad, type(out) is torch.Tensor
    close(program, atol=4e-6)           # gradients are sums of terms of about ten, which cancel: what is left is a matter of the processor
