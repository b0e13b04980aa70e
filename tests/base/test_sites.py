"""A warning is said of the user's line, whatever rooms of the library lie between; its text is PyTorch's."""
import warnings

import numpy as np
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
    scope = {"torch": torch, "F": torch.nn.functional, "x": torch.ones(3), "m": torch.ones(2, 3), "hooked": _hooked,
             "c": torch.tensor([1j, 2, 3]), "leaf": torch.tensor(1., requires_grad=True), "np": np}
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


ONCE = [
    "x.copy_(c)", "x[0] = c[0]", "m[:] = c", "c.float()", "c.to(torch.int64)", "c.sum(dtype=torch.float32)", "x.fill_(c[0])",
    "c.softmax(0, dtype=torch.float32)", "torch.where(torch.ones(3, dtype=torch.uint8), x, 0)",
    "x.scatter_(0, torch.tensor([0]), torch.ones(1), reduce='add')", "x.index_reduce(0, torch.tensor([0]), x[:1], 'prod')",
    "torch.meshgrid(x, x)",
    "torch.cross(x, x)", "float(leaf)", "(leaf * leaf).backward(create_graph=True)", "torch.tensor(1.).mT", "m[None].T",
    "torch.from_numpy(np.broadcast_to(np.ones(1), (2,)))", "torch.tensor([np.ones(2)])", "x.new_tensor([[1], np.ones(1)][::-1])",
]


@pytest.mark.parametrize("statement", ONCE)
def test_what_pytorch_says_once_in_a_process_is_said_once_for_all_lines(statement):
    theirs = pytest.importorskip("torch")
    theirs.set_warn_always(True)
    try:
        wanted = _said(theirs, statement)[0]
    finally:
        theirs.set_warn_always(False)
    assert _said(jtensor, statement)[0] == wanted and len(wanted) == 1
    assert _said(jtensor, statement)[0] == []
    if statement.startswith(("torch.meshgrid", "float")):          # what is asked at each call
        jtensor.set_warn_always(True)
        try:
            assert _said(jtensor, statement)[0] == wanted
        finally:
            jtensor.set_warn_always(False)


SILENT = ["c.bool()", "c.to(torch.bool)", "torch.zeros(3, out=torch.empty(2))", "torch.linspace(0, 1, 3, out=torch.empty(2))",
          "torch.eye(2, out=torch.empty(1))", "torch.full((2,), 1., out=torch.empty(1))",
          "x.scatter_(0, torch.tensor([0]), 2., reduce='add')"]


@pytest.mark.parametrize("statement", SILENT)
def test_where_pytorch_says_nothing_nothing_is_said(statement):
    assert _said(pytest.importorskip("torch"), statement)[0] == _said(jtensor, statement)[0] == []


@pytest.mark.parametrize("statement", ["torch.arange(3, out=torch.empty(2))", "torch.var(torch.ones(3, 0), 0)", "torch.std(x[:1])"])
def test_what_is_said_each_time_is_pytorchs(statement):
    theirs = pytest.importorskip("torch")
    for _ in range(2):
        assert _said(theirs, statement)[0] == _said(jtensor, statement)[0] != []


def test_a_line_is_told_once_by_default():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            jtensor.range(0, 2)
    assert len(seen) == 1
