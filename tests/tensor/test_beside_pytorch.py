"""Tensors of PyTorch itself beside ours: taken over where one asks for it, refused by operations of either library."""
import pytest

import jtensor

torch = pytest.importorskip("torch")
a, b = jtensor.ones(2), torch.ones(2)
REFUSED = {
    "ours + theirs": lambda: a + b, "theirs + ours": lambda: b + a, "product": lambda: a @ b, "in place": lambda: a.add_(b),
    "our function": lambda: jtensor.add(b, 1), "our list": lambda: jtensor.stack([b]), "our layer": lambda: jtensor.nn.Linear(2, 2)(b),
    "our loss": lambda: jtensor.nn.functional.mse_loss(a, b), "their parameter": lambda: jtensor.relu(torch.nn.Parameter(b)),
    "our assignment": lambda: a.__setitem__(0, b), "our index": lambda: a[b > 0]}
REFUSED_THERE = {
    "function": lambda: torch.add(a, 1), "list": lambda: torch.stack([a]), "layer": lambda: torch.nn.Linear(2, 2)(a),
    "loss": lambda: torch.nn.functional.mse_loss(a, b), "in place": lambda: b.add_(a), "built-in": lambda: torch._C._nn.gelu(a)}


@pytest.mark.parametrize("what", REFUSED)
def test_they_do_not_mix(what):
    with pytest.raises(TypeError):
        REFUSED[what]()
    assert a.tolist() == [1, 1]


@pytest.mark.parametrize("what", REFUSED_THERE)
def test_their_functions_say_what_takes_them_over(what):
    with pytest.raises(TypeError, match=r"of PyTorch does not take tensors of jtensor; torch\.from_numpy\(t\.numpy\(\)\)"):
        REFUSED_THERE[what]()


def test_they_are_taken_over():
    for ours in (jtensor.tensor(b), jtensor.as_tensor(b), jtensor.from_dlpack(b), jtensor.from_numpy(b.numpy())):
        assert type(ours) is jtensor.Tensor and ours.tolist() == [1, 1]
    for theirs in (torch.tensor(a), torch.as_tensor(a), torch.from_dlpack(a), torch.from_numpy(a.numpy())):
        assert type(theirs) is torch.Tensor and theirs.tolist() == [1, 1]


def test_they_do_not_mix_once_classes_override_either():
    class Named(jtensor.Tensor):
        pass
    named = jtensor.ones(2).as_subclass(Named)
    assert type(named + a) is Named
    with pytest.raises(TypeError):
        named + b
    with pytest.raises(TypeError):
        jtensor.add(b, named)
