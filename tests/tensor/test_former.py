"""Calls in the order of arguments that PyTorch had at first: the same numbers, one warning, and what is none of them is refused."""
import warnings

import pytest

import jtensor
from jtensor.tensor.calling import former

CALLS = """w.clone().add_(-0.5, g) | torch.add(w, 2, g) | w.sub(2, g) | torch.sub(w, 2, g, out=torch.zeros(2)) | w.add(torch.tensor(2.), g)
torch.add(w, 1, 2) | w.clone().addcmul_(0.5, g, g) | w.addcdiv(0.5, g, g) | torch.addcdiv(w, 2, g, g) | torch.addmm(2, M, 3, M, M)
torch.addmm(2, M, M, M) | M.addmm(2, 3, M, M) | M.clone().addmm_(2, M, M) | torch.addmv(2, w, 3, M, g) | w.addmv(2, M, g)
M.clone().addr_(2, w, g) | torch.addr(2, M, w, g) | torch.baddbmm(2, B, 3, B, B) | B.baddbmm(2, B, B) | M.addbmm(2, B, B)
w.add(2, "a") | w.add("a", g) | torch.mul(w, 2, g) | w.add(2j, g) | torch.ones(2, requires_grad=True).add(2, g)"""


def outcomes(torch, call):
    w, g, M, B = torch.tensor([1., 2.]), torch.tensor([3., 4.]), torch.eye(2), torch.ones(1, 2, 2)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        try:
            return str(eval(call, {"torch": torch, "w": w, "g": g, "M": M, "B": B}))
        except (TypeError, RuntimeError) as error:
            return f"{type(error).__name__} {error}"


def test_numbers_before_tensors_are_taken_as_torch_takes_them():
    torch = pytest.importorskip("torch")
    for call in CALLS.replace("\n", " | ").split(" | "):
        assert outcomes(jtensor, call) == outcomes(torch, call), call


def test_an_optimizer_in_the_old_spelling_says_once_what_is_new(monkeypatch):
    monkeypatch.setattr(former, "_warned", [])
    p, grad = jtensor.ones(2), jtensor.tensor([1., 3.])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            p.add_(-0.5, grad).addcmul_(2, grad, grad)
    assert [(str(one.message), one.filename) for one in said] == [(
        "This overload of add_ is deprecated:\n\tadd_(Number alpha, Tensor other)\n"
        "Consider using one of the following signatures instead:\n\tadd_(Tensor other, *, Number alpha = 1)", __file__)]
    assert p.tolist() == [5.5, 50.5]


def test_each_call_is_warned_of_where_that_is_asked_for():
    x = jtensor.ones(2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        jtensor.add(x, 2, x)
        jtensor.set_warn_always(True)
        try:
            before = len(said)
            jtensor.add(x, 2, x), x.clone().add_(2, x)
        finally:
            jtensor.set_warn_always(False)
    assert [str(one.message).partition(" is ")[0] for one in said[before:]] == ["This overload of add", "This overload of add_"]
    assert all(one.filename == __file__ for one in said)
