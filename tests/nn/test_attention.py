"""By which way an attention may be computed: chosen, refused and left as in PyTorch."""
import importlib

import pytest

from .both import raised, same


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
