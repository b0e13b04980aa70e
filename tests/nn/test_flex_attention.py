"""Attention by functions of the user's: PyTorch's numbers, masks, texts and refusals, and its gradients by another attention's."""
import importlib

import pytest

import jtensor
from jtensor.nn.attention.flex_attention import AuxRequest, BlockMask, create_block_mask, create_mask, flex_attention

from .both import close, raised, same


def parts(torch):
    """(its room, a query, a key and a value of few numbers)."""
    room = importlib.import_module(f"{torch.__name__}.nn.attention.flex_attention")
    if hasattr(room, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"):
        room._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True              # else it compiles itself
    return room, *[torch.randn(2, 2, n, 4) for n in (5, 6, 6)]


def causal(b, h, q, kv):
    return q >= kv


SCORES = {
    "none": lambda torch: None,
    "bias": lambda torch: (lambda bias: lambda s, b, h, q, kv: s + bias[q, kv])(torch.randn(6, 6)),
    "heads": lambda torch: lambda s, b, h, q, kv: s * h + b,
    "mask": lambda torch: lambda s, b, h, q, kv: torch.where(q > kv, s, -float("inf")),
    "capped": lambda torch: lambda s, b, h, q, kv: torch.tanh(s / 2) * 2,
    "a truth value": lambda torch: lambda s, b, h, q, kv: s > 0,
    "wider": lambda torch: lambda s, b, h, q, kv: s.double() * 2,
}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("masked", [False, True])
def test_numbers(score, masked):
    def program(torch):
        room, q, k, v = parts(torch)
        mask = room.create_block_mask(lambda b, h, i, j: (i >= j) & (j != h), None, 2, 5, 6, device="cpu") if masked else None
        return room.flex_attention(q, k, v, score_mod=SCORES[score](torch), block_mask=mask, return_lse=True)
    close(program)


def test_layouts_types_and_heads():
    def program(torch):
        room, q, k, v = parts(torch)
        flex = room.flex_attention
        turned = [torch.randn(2, 8, 2, 4).transpose(1, 2) for _ in range(3)]
        out = flex(*turned)
        single = flex(torch.randn(2, 4, 5, 4), k, v[..., :3], enable_gqa=True, scale=2.0)
        return [out, out.stride(), single, flex(q.double(), k, v), str(flex(q.half(), k.half(), v.half()).dtype),
                flex(q[:0], k[:0], v[:0]).shape, flex(q[:, :, :0], k, v).shape,
                list(flex(q, k, v, return_aux=room.AuxRequest(lse=True))[1]), room.AuxRequest(), repr(room.AuxOutput())]
    close(program)


def test_masks_and_their_texts():
    def program(torch):
        room = parts(torch)[0]
        make = room.create_block_mask
        masks = [make(causal, None, None, 300, 260, device="cpu", BLOCK_SIZE=64), make(causal, 3, 2, 8, 8, device="cpu", BLOCK_SIZE=4),
                 make(lambda b, h, q, kv: q <= kv, 1, 1, 16, 8, device="cpu", BLOCK_SIZE=(2, 4), separate_full_blocks=False),
                 make(room.and_masks(causal, room.noop_mask), None, None, 10, 10, device="cpu", BLOCK_SIZE=4)]
        masks += [masks[0]._adjust(100, 200), masks[1][1], masks[1][:, 1:], masks[3]._adjust(6, 5), masks[1].to("cpu"), masks[1][0, 0, 1],
                  room.BlockMask.from_kv_blocks(torch.tensor([[[1, 2]]]).int(), torch.tensor([[[[0, 1], [0, 1]]]]).int(), BLOCK_SIZE=4)]
        return [[str(m), repr(m), m.shape, m.sparsity(), m.numel(), m.to_dense(),
                 [part for part in m.as_tuple() if not callable(part)], m.to_string(grid_size=(2, 3), limit=1)] for m in masks]
    same(program)


def test_tables():
    def program(torch):
        room = parts(torch)[0]
        tables = [room.create_mask(mod, 1, 2, 3, 4, device="cpu") for mod in (
            causal, room.or_masks(causal, lambda b, h, q, kv: h == kv), lambda s, b, h, q, kv: torch.where(q == h, s, -float("inf")))]
        return tables
    same(program)


def test_refusals():
    def program(torch):
        room, q, k, v = parts(torch)
        flex, make = room.flex_attention, room.create_block_mask
        wrong = [lambda: flex(q[0], k, v), lambda: flex(q, k[..., :2], v), lambda: flex(q, k[:, :1], v[:, :1]),
                 lambda: flex(torch.randn(2, 3, 5, 4), k, v, enable_gqa=True), lambda: flex(q[:1], k, v),
                 lambda: flex(q, k, v, return_lse=True, return_aux=room.AuxRequest(lse=True)),
                 lambda: flex(q, k, v, block_mask=make(causal, None, None, 8, 8, device="cpu")),
                 lambda: flex(q, k, v, block_mask=make(causal, None, None, 4, 6, device="cpu")),
                 lambda: room.and_masks(3), lambda: room.create_mask(3, 1, 1, 2, 2), lambda: room.create_mask(lambda b: b, 1, 1, 2, 2),
                 lambda: room.BlockMask.from_kv_blocks(torch.tensor([1]).int(), torch.tensor([0]).int())]
        sliced = raised(lambda: flex(q, k, v, block_mask=make(causal, 1, 1, 5, 6, device="cpu")[0]))
        return [raised(call) for call in wrong], sliced[0]
    same(program)


def test_gradients_are_those_of_an_attention_with_a_mask():
    """PyTorch has none of them on a CPU."""
    jtensor.manual_seed(0)
    bias = jtensor.randn(2, 5, 6, requires_grad=True)
    ours, theirs = [[jtensor.randn(1, 2, n, 4, generator=jtensor.Generator().manual_seed(n)).requires_grad_() for n in (5, 6, 6)]
                    for _ in range(2)]
    mask = create_block_mask(causal, None, None, 5, 6)
    out = flex_attention(*ours, score_mod=lambda s, b, h, q, kv: s + bias[h, q, kv], block_mask=mask)
    out.square().sum().backward()
    grad, bias.grad = bias.grad, None
    shown = bias.masked_fill(~create_mask(causal, None, None, 5, 6), -float("inf"))
    out = jtensor.nn.functional.scaled_dot_product_attention(*theirs, attn_mask=shown)
    out.square().sum().backward()
    for a, b in [*zip([t.grad for t in ours], [t.grad for t in theirs], strict=True), (grad, bias.grad)]:
        jtensor.testing.assert_close(a, b)


def test_a_row_that_looks_nowhere_is_zeros_and_has_no_gradient():
    q = jtensor.ones(1, 1, 2, 2, requires_grad=True)
    out, more = flex_attention(q, q, q, score_mod=lambda s, b, h, i, j: jtensor.where(i > j, s, -float("inf")),
                               return_aux=AuxRequest(lse=True, max_scores=True))
    out.sum().backward()
    assert out.tolist() == [[[[0, 0], [1, 1]]]] and more.lse[0, 0, 0] == -float("inf") == more.max_scores[0, 0, 0]
    assert q.grad.tolist() == [[[[1, 1], [0, 0]]]]


def test_pictures_of_masks():
    mask = create_block_mask(causal, None, None, 12, 12, BLOCK_SIZE=4)
    assert isinstance(mask, BlockMask)
    assert str(mask) == "BlockMask(shape=(1, 1, 12, 12), sparsity=33.33%, \n(0, 0)\n██    \n████  \n██████\n)"
