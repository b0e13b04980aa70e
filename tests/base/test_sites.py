"""A warning is said of the user's line, whatever rooms of the library lie between; its text is PyTorch's."""
import warnings

import pytest

import jtensor
from jtensor.amp import casting
from jtensor.base import sites
from jtensor.random import batched

STATEMENTS = [
    "torch.range(0, 2)", "x.new_tensor(x)", "torch.tensor(x)", "m[[[0, 1], [0]]]",
    "x[torch.ones(3, dtype=torch.uint8)]", "torch.add(x, x, out=torch.ones(2))", "F.softmax(m)", "torch.nn.LogSoftmax()(m)",
    "torch.nn.MSELoss(size_average=False)", "torch.nn.functional.l1_loss(x, x, reduce=True)",
    "torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True)", "torch.cross(x, x)", "torch.std(x[:1])",
    "F.mse_loss(x, m)", "torch.nn.MSELoss()(x, m)", "F.kl_div(x, x)", "torch.cov(x[:1])",
    "torch.meshgrid(x, x)", "F.gumbel_softmax(m, eps=0.5)", "F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2, 2))",
    "F.grid_sample(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2))",
    "F.affine_grid(torch.ones(1, 2, 3), (1, 1, 1, 1), align_corners=True)", "torch.distributions.Normal(0., 1.).sample_n(2)",
    "torch.set_default_tensor_type(torch.FloatTensor)", "hooked(torch.nn.Linear(3, 1))(x).backward()",
]


def _hooked(layer):
    layer.register_full_backward_hook(lambda module, before, after: None)
    return layer


def _said(torch, statement):
    scope = {"torch": torch, "F": torch.nn.functional, "x": torch.ones(3), "m": torch.ones(2, 3), "hooked": _hooked}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        exec(compile("\n\n" + statement, "the user's file", "exec"), scope)
    return [(w.category, str(w.message).split(" (Triggered")[0]) for w in seen], {(w.filename, w.lineno) for w in seen}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_user_is_told_where(statement):
    import jtensor.utils.checkpoint
    sites._said.clear()
    said, places = _said(jtensor, statement)
    assert places == {("the user's file", 3)} and len(said) == 1


@pytest.mark.parametrize("statement", STATEMENTS)
def test_so_is_the_user_where_functions_have_doors(statement):
    casting.put_doors()
    batched.put_doors()
    test_the_user_is_told_where(statement)


@pytest.mark.parametrize("statement", STATEMENTS[:8] + STATEMENTS[-6:])
def test_the_words_are_pytorchs(statement):
    theirs = _said(pytest.importorskip("torch"), statement)[0]
    assert not theirs or theirs == _said(jtensor, statement)[0]              # some it says once in a process only


def test_a_line_is_told_once_by_default():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            jtensor.range(0, 2)
    assert len(seen) == 1
