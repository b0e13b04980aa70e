"""``__torch_dispatch__``: the operators that programs are made of below autograd are PyTorch's, with their arguments, in their order.

Kept texts, and live. ``python tests/dispatching/test_dispatching.py`` writes the kept texts anew.
"""
import json
import subprocess
import sys
from pathlib import Path

import pytest

import jtensor
from jtensor.base.errors import MissingFeature
from jtensor.dispatching import asking, doors
from jtensor.tensor.calling import overriding
from jtensor.utils._python_dispatch import TorchDispatchMode

HERE = Path(__file__).parent
KEPT = HERE.parent / "goldens" / "dispatching.json"
sys.path.insert(0, str(HERE))
import told  # noqa: E402

sys.path.pop(0)
DIFFERENT = {
    "linalg": "a default that PyTorch's C++ says and its Python does not", "operators": "a number of Python's that PyTorch wraps, unseen",
    "operators_with_gradient": "the same", "views": "a view as another type, which PyTorch detaches", "views_with_gradient": "the same",
    "products": "einsum permutes in another order; linalg.inv", "chosen": "argsort, one_hot", "chosen_with_gradient": "the same",
    "series": "rms_norm", "losses": "cosine_embedding_loss and smoothed labels", "losses_with_gradient": "the same",
    "complex": "Fourier transforms are refused", "module_bilinear": "a product here, where PyTorch has an operator",
    "module_gru": "layers of recurrent networks are refused", "module_lstm": "the same", "module_rnn": "the same",
    "module_lstm_cell": "cells are made of other products", "module_gru_cell": "the same",
    "module_embedding_bag": "refused", "module_weight_norm": "refused", "adam": "steps are counted on the host",
    "module_conv_zoo": "instance_norm repeats a tensor later",
}
"""Programs with other operators here than in PyTorch, and where; or that are refused."""


@pytest.fixture(scope="module", autouse=True)
def other_tests_are_asked_nothing():
    """A class of which there has been a tensor is asked for good, and so all functions ask. Here that ends."""
    yield
    if asking.CLASSES:
        asking.CLASSES.clear()
        doors.close_doors()


@pytest.fixture(scope="module")
def ours():
    return told.told(jtensor)


NAMES = sorted(json.loads(KEPT.read_text())) if KEPT.exists() else []


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DIFFERENT])
def test_the_operators_are_pytorchs(name, ours):
    assert ours[name] == json.loads(KEPT.read_text())[name]


def test_those_that_differ_still_do(ours):
    kept = json.loads(KEPT.read_text())
    assert [name for name in DIFFERENT if ours[name] == kept[name]] == []


def test_the_kept_lines_are_pytorchs():
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, str(HERE / "told.py")], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == json.loads(KEPT.read_text())


# -- jtensor alone ------------------------------------------------------------------------------------------------------


class Plain(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def test_a_mode_leaves_no_trace():
    """The functions have the code that they had: who has left a mode pays nothing for it."""
    functions = [jtensor.Tensor.__add__, jtensor.Tensor.view, jtensor.Tensor.copy_, jtensor.ops.aten.mm._function, jtensor.zeros]
    beneath = overriding.beneath
    before = [(beneath(one).__code__, beneath(one).__defaults__) for one in functions]
    with Plain():
        assert jtensor.ones(2).add(1).tolist() == [2, 2]
    assert [(beneath(one).__code__, beneath(one).__defaults__) for one in functions] == before


def test_a_mode_that_changes_nothing_changes_no_bit():
    """Results and gradients, of numbers that are drawn and statistics that are moved, too."""
    F, weights = jtensor.nn.functional, jtensor.linspace(-1, 1, 12).reshape(3, 4)

    def trained():
        jtensor.manual_seed(0)
        x, mean, var = weights.clone().requires_grad_(), jtensor.zeros(4), jtensor.ones(4)
        y = F.dropout(F.batch_norm(x, mean, var, training=True), 0.3) + F.batch_norm(x, mean, var)
        y = F.linear(F.selu(y), weights).clamp(min=-1).mul_(x[:, :3]).sigmoid_()
        loss = F.cross_entropy(y, jtensor.tensor([0, 2, 1])) + y[1:].std()
        return y, loss, mean, var
    plain = trained()
    with Plain():
        asked = trained()
    for one, other in zip(plain, asked, strict=True):
        assert jtensor.equal(one, other) and one.stride() == other.stride()
    grads = [jtensor.autograd.grad(made[1], made[0])[0] for made in (plain, asked)]
    assert jtensor.equal(*grads) and plain[0].grad_fn.name() == asked[0].grad_fn.name()


def test_what_is_refused():
    x = jtensor.ones(2, requires_grad=True)
    total = (x * x).sum()
    for refused in (total.backward, lambda: jtensor.vmap(jtensor.sin)(x), lambda: jtensor.nn.GRU(2, 2)(jtensor.ones(1, 2)),
                    lambda: TorchDispatchMode(_dispatch_key=3)):
        with Plain(), pytest.raises(MissingFeature, match="jtensor does not have"):
            refused()
    total.backward()
    assert x.grad.tolist() == [2, 2]


def test_a_wrapper_has_no_numbers():
    class Held(jtensor.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError
    held = jtensor.Tensor._make_wrapper_subclass(Held, (2, 3), dtype=jtensor.float64)
    assert (held.shape, held.dtype, held.stride()) == ((2, 3), jtensor.float64, (3, 1))
    with pytest.raises(MissingFeature, match="numbers of a tensor whose class"):
        held.untyped_storage().tolist()
    with pytest.raises(RuntimeError, match=r"\.numpy\(\) is not supported for tensor subclasses"):
        held.numpy()
    with pytest.raises(RuntimeError, match="must define __torch_dispatch__"):
        jtensor.Tensor._make_wrapper_subclass(jtensor.Tensor, (2, 3))


def test_gradients_of_wrappers_are_those_of_ordinary_tensors():
    """In a process of its own, where the class stays known."""
    found = subprocess.run([sys.executable, "-W", "ignore", str(HERE / "wrapped_gradients.py")], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


if __name__ == "__main__":
    found = subprocess.run([sys.executable, str(HERE / "told.py")], capture_output=True, text=True, check=True)
    KEPT.write_text(json.dumps(json.loads(found.stdout.splitlines()[-1]), indent=0) + "\n")
