"""Copies: `copy_` of what fits as it is, which is no operation and yet two tensors; `copy.deepcopy`, pickles."""
import copy
import pickle

import numpy as np
import pytest

import jtensor as torch
from jtensor.trace import tape


def test_both_hold_the_value_until_one_is_written_to():
    a, b = torch.zeros(3, 4), torch.arange(12.0).reshape(3, 4).exp()
    version, nodes = a._version, len(tape.LOCAL.segment.nodes)
    a.copy_(b)
    assert len(tape.LOCAL.segment.nodes) == nodes and a._version == version + 1
    assert a.data_ptr() != b.data_ptr()
    wanted = b.tolist()
    for _ in range(4):                              # programs that take over buffers
        a.mul_(2).add_(1)
        a[0] = 5
        a.sum().item()
    assert b.tolist() == wanted
    b.zero_()
    assert a[0].tolist() == [5.0] * 4 and a[1, 0].item() > 5


def test_memory_of_numpys_is_not_shared():
    array = np.arange(4, dtype=np.float32)
    a, b = torch.ones(4), torch.from_numpy(array)
    a.copy_(b)
    array[:] = 7
    assert a.tolist() == [0, 1, 2, 3]
    shown = a.numpy()
    a.copy_(b)
    assert shown.tolist() == [7] * 4
    shown[0] = 1
    assert b.tolist() == [7] * 4 and a[0].item() == 1


@pytest.mark.parametrize("source", [
    lambda: torch.arange(3), lambda: torch.ones(()), lambda: torch.arange(9.0).reshape(3, 3).t()[1],
    lambda: torch.ones(3, dtype=torch.complex64).conj().real,
], ids=["type", "shape", "view", "part"])
def test_what_does_not_fit_is_computed(source):
    a, b = torch.zeros(3), source()
    a.copy_(b)
    assert a.tolist() == torch.zeros(3).add(b).tolist() and a.is_contiguous() and a.dtype is torch.float32
    with torch.no_grad():
        w = torch.zeros(3, requires_grad=True)
        w.copy_(b)
    w.sum().backward()
    assert w.grad.tolist() == [1.0] * 3 and w.is_leaf


def test_a_number_put_in_without_gradients_leaves_the_history():
    x = torch.tensor(2.0, requires_grad=True) * 3
    with torch.no_grad():
        x[()] = 3
    assert x.grad_fn.name() == "MulBackward0" and x.item() == 3.0


def test_a_deep_copy_of_what_is_conjugated_lazily_is_a_clone():
    x = torch.tensor([1 + 2j, 3 - 1j])
    whole, conjugated, negative = copy.deepcopy([x, x.conj(), x.conj().imag])
    assert not conjugated.is_conj() and not negative.is_neg()
    whole.zero_()
    assert conjugated.tolist() == [1 - 2j, 3 + 1j] and negative.tolist() == [-2, 1] and negative._version == 0
    assert whole._version == 2 and pickle.loads(pickle.dumps(x))._version == 1


def test_integers_take_copies_of_what_has_gradients_in_a_view_made_without():
    """PyTorch does not record such a copy, so that it does not ask; a fill it would."""
    x, source = torch.full((2, 2), -1), torch.tensor(2.0, requires_grad=True)
    with torch.no_grad():
        view = x.view(-1)
    view[..., 0] = source * 2
    view[1].copy_(source)
    assert x.tolist() == [[4, 2], [-1, -1]] and not x.requires_grad and x._version == 2
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view[2:] = source
