"""By which way an attention may be computed: chosen, refused and left as in PyTorch."""
import importlib

import pytest

from .both import close, raised, same


def _kernels(torch):
    """(the public module, what an attention of small heads records now)."""
    way = importlib.import_module(f"{torch.__name__}.nn.attention")
    q = torch.ones(1, 2, 3, 4, requires_grad=True)

    def node():
        return torch.nn.functional.scaled_dot_product_attention(q, q, q).grad_fn.name()
    return way, node


def _flags(torch):
    cuda = torch.backends.cuda
    return cuda.flash_sdp_enabled(), cuda.math_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.cudnn_sdp_enabled()


@pytest.mark.parametrize("names", [["MATH"], ["FLASH_ATTENTION", "MATH"], ["EFFICIENT_ATTENTION"], ["CUDNN_ATTENTION"], ["ERROR"], []])
def test_the_ways_that_are_allowed(names):
    def program(torch):
        way, node = _kernels(torch)
        before = _flags(torch)
        with way.sdpa_kernel([getattr(way.SDPBackend, name) for name in names]):
            inside = _flags(torch), raised(node), raised(node) == "nothing raised" and node()
        return before, inside, _flags(torch), node()
    same(program)


def test_where_no_kernel_fits_it_is_refused():
    def program(torch):
        way, _ = _kernels(torch)
        one = way.SDPBackend.FLASH_ATTENTION
        with way.sdpa_kernel(one):
            said = raised(lambda: torch.nn.functional.scaled_dot_product_attention(*[torch.ones(2, 3, 4)] * 3))
        return said, raised(lambda: way.sdpa_kernel("flash").__enter__()), repr(one), str(one), one.value
    same(program)


def test_the_older_switches():
    def program(torch):
        _, node = _kernels(torch)
        cuda = torch.backends.cuda
        cuda.enable_flash_sdp(False)
        try:
            seen = [node(), _flags(torch)]
        finally:
            cuda.enable_flash_sdp(True)
        with cuda.sdp_kernel(enable_flash=False, enable_cudnn=False):
            seen += [node(), _flags(torch)]
        return seen, node()
    same(program)


def test_a_mask_and_causal_at_once():
    """The one operator takes both; where PyTorch goes another way, it refuses them."""
    def program(torch):
        attend = torch.nn.functional.scaled_dot_product_attention
        q, k, v = (torch.randn(1, 2, 3, 4, requires_grad=True) for _ in range(3))
        out = attend(q, k, v, attn_mask=torch.rand(3, 3), is_causal=True)
        out.sum().backward()
        return out, q.grad, k.grad, raised(lambda: attend(q[0], k[0], v[0], attn_mask=torch.rand(3, 3), is_causal=True)), \
            raised(lambda: attend(q, k, v, torch.rand(3, 3), .5, True)), raised(lambda: attend(q, k, v, is_causal=1))
    close(program)


def test_shapes_that_attention_takes_and_refuses():
    def program(torch):
        attend = torch.nn.functional.scaled_dot_product_attention
        q, k, v = torch.randn(2, 4, 3, 2), torch.randn(2, 4, 5, 2), torch.randn(2, 4, 5, 2)
        masks = [(3, 4), (2, 5), (5,), (), (1, 5), (3, 1), (4, 3, 5), (2, 1, 1, 5), (3, 4, 3, 5)]
        said = [raised(lambda m=m: attend(q, k, v, torch.ones(m))) for m in masks]
        said += [raised(lambda m=m: attend(q[0], k[0], v[0], torch.ones(m))) for m in masks]
        said += [raised(lambda a=a, b=b: attend(q[:, :2], k[:, :a], v[:, :b], enable_gqa=True))
                 for a, b in ((1, 2), (2, 1), (4, 4), (2, 3))]
        said += [raised(lambda: attend(q, k, v[..., :2, :], torch.ones(3, 5))), raised(lambda: attend(q, k, v, dropout_p=1.5))]
        return said, attend(q, k, v[..., :2, :]), attend(q[..., :0], k[..., :0], v), attend(q, k[:, :2], v[:, :1], enable_gqa=True)
    close(program)


def test_attention_of_inference_by_batches_lies_as_its_shape_says():
    def program(torch):
        x, answers = torch.linspace(-1, 1, 24).reshape(3, 2, 4), []
        layer = torch.nn.MultiheadAttention(4, 2, batch_first=True).eval()
        mask = torch.zeros(2, 2, dtype=torch.bool)

        def lies(*given, **more):
            answers.append(layer(*given, **more)[0].stride())

        with torch.no_grad():
            lies(x, x, x)
            lies(x, x, x, attn_mask=mask, need_weights=False)
            lies(x, x, x, attn_mask=mask.float())
            lies(x, x.clone(), x)
            torch.backends.mha.set_fastpath_enabled(False)
            lies(x, x, x)
            torch.backends.mha.set_fastpath_enabled(True)
            layer.train()
            lies(x, x, x)
            layer.eval()
        lies(x, x, x)
        layer.requires_grad_(False)
        lies(x, x, x)
        return answers

    same(program)


def test_a_query_of_another_width_is_refused_by_the_kernel_of_inference():
    def program(torch):
        layer, x = torch.nn.MultiheadAttention(4, 2, batch_first=True).eval(), torch.ones(3, 2, 5)
        with torch.no_grad():
            return raised(lambda: layer(x, x, x)), raised(lambda: layer(x, x.clone(), x))

    same(program)


def test_attention_of_no_samples():
    def program(torch):
        layer = torch.nn.MultiheadAttention(8, 2)
        answers = [layer(torch.ones(q, n, 8), *[torch.ones(k, n, 8)] * 2, need_weights=False)[0].shape for q, k, n in
                   ((3, 2, 0), (0, 2, 3), (2, 0, 3))]
        memory, target = torch.ones(0, 5, 8), torch.ones(0, 3, 8, requires_grad=True)
        decoder = torch.nn.TransformerDecoderLayer(8, 2, 4, 0.0, batch_first=True)
        answers.append(decoder(target, memory).shape)
        decoder(target, memory).sum().backward()
        return [*map(tuple, answers), tuple(target.grad.shape), decoder.linear1.weight.grad]

    same(program)
