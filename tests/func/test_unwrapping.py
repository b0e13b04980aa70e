"""What stands behind a tensor inside of functions of functions, as PyTorch shows it."""
import warnings

import pytest

import jtensor


def seen(torch):
    found = []

    def look(x):
        for inside in (torch.func.debug_unwrap(x), torch.func.debug_unwrap(x, recurse=False)):
            found.append((tuple(inside.shape), repr(inside)))
        return x
    torch.vmap(look)(torch.arange(6.).reshape(3, 2))
    torch.vmap(torch.vmap(look))(torch.arange(12.).reshape(3, 2, 2))
    torch.func.jvp(torch.vmap(look), (torch.ones(3, 2),), (torch.ones(3, 2),))
    torch.func.jvp(look, (torch.ones(2),), (torch.ones(2),))
    look(torch.ones(1))
    return found


def test_it_is_what_pytorch_shows():
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                  # PyTorch's come from what it imports for it
        wanted = seen(torch)
    assert seen(jtensor) == wanted


def test_a_batch_is_seen_as_a_whole():
    assert [shape for shape, _ in seen(jtensor)][:3] == [(3, 2), (3, 2), (3, 2, 2)]
