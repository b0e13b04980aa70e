"""The rows of a profile are those that PyTorch has for the same program, as far as its steps are steps here."""
from collections import Counter

import pytest

import jtensor

from . import programs

SUMMED = "the gradient of a bias is part of the node's own program"
DIFFERENT = {
    "sgd": (SUMMED, {"aten::sum", "aten::view"}, set()),
    "adam": ("the same; steps are counted on the host", {"aten::sum", "aten::view", "aten::add_", "aten::item"}, set()),
    "images": (SUMMED, {"aten::sum", "aten::view"}, set()),
    "transformer": (SUMMED, {"aten::sum", "aten::view"}, set()),
    "embedding": ("tensors of one shape are not broadcast", {"aten::broadcast_tensors"}, set()),
    "writing": ("the number of `y[0] = 1` is no tensor first", {"aten::lift_fresh"}, set()),
    "loader": ("`torch.tensor(n)` makes one tensor", {"aten::empty", "aten::to", "aten::detach_"}, set()),
}
"""Programs whose outer rows differ: why, which PyTorch has more of, which there are more of here."""
OTHER = {"lstm": "its biases are added first, and the input's product is taken outside of the layer",
         "attention": "PyTorch has the whole layer as one operator where nothing needs a gradient"}
"""Programs that are made of others here."""
OWN = {"aten::sum_to_size": "a gradient is summed in one step", "jtensor::move_average": "running statistics are written by themselves",
       "aten::_reshape_alias": "PyTorch copies in this place"}
"""Rows that PyTorch has not in any of the programs."""


@pytest.fixture(scope="module")
def profiles():
    torch = pytest.importorskip("torch")
    return {name: (programs.profile(torch, name), programs.profile(jtensor, name)) for name in programs.PROGRAMS}


def _outer(profiles, name):
    return [programs.top(prof) for prof in profiles[name]]


@pytest.mark.parametrize("name", [name for name in programs.PROGRAMS if name not in OTHER])
def test_outer_rows_are_pytorchs(name, profiles):
    theirs, ours = _outer(profiles, name)
    _, more, fewer = DIFFERENT.get(name, ("", set(), set()))
    assert set(Counter(theirs) - Counter(ours)) == more and set(Counter(ours) - Counter(theirs)) == fewer
    assert [one for one in ours if one not in more | fewer] == [one for one in theirs if one not in more | fewer]


@pytest.mark.parametrize("name", OTHER)
def test_those_made_of_others_still_are(name, profiles):
    theirs, ours = _outer(profiles, name)
    assert Counter(theirs) != Counter(ours)


def test_no_row_is_made_up(profiles):
    own = set()
    for name, (theirs, ours) in profiles.items():
        if name not in OTHER:
            own |= programs.counts(ours).keys() - programs.counts(theirs).keys()
    assert own == OWN.keys()


def test_rows_in_rows(profiles):
    _, ours = profiles["sgd"]
    linear = next(event for event in ours.events() if event.name == "aten::linear")
    assert [child.name for child in linear.cpu_children if child.name != "jtensor::compile"] == ["aten::t", "aten::addmm"]
    node = next(event for event in ours.events() if event.name == "AddmmBackward0")
    assert node.scope == 1 and node.cpu_parent.name == "autograd::engine::evaluate_function: AddmmBackward0"
    step = next(event for event in ours.events() if event.name == "Optimizer.step#SGD.step")
    assert step.is_user_annotation and [child.name for child in step.cpu_children if child.name != "jtensor::compile"] == ["aten::add_"] * 4
    assert all(child.time_range.start >= event.time_range.start and child.time_range.end <= event.time_range.end
               for event in ours.events() for child in event.cpu_children)
    total = sum(event.cpu_time_total for event in ours.events() if event.cpu_parent is None)
    assert abs(ours.key_averages().self_cpu_time_total - total) < 1e-6 * total


def calls(T):
    F, x, w, image = T.nn.functional, T.ones(4, 6), T.ones(2, 4, 3, 3), T.ones(1, 4, 8, 8)
    at, matrices = T.tensor([1]), T.ones(2, 3, 3)

    def step():
        T.cat([x, x]), x.sum(), x + 1, x + x, x * x, x * 2, x @ x.t(), T.bmm(matrices, matrices), F.conv2d(image, w, stride=2, padding=1)
        T.add(x, x, alpha=2), x.view(3, 8), x[0], x[at], F.linear(x, T.zeros(3, 6), T.zeros(3)), T.zeros(2, 3), T.randn(3)
        T.baddbmm(T.zeros(2, 3, 3), matrices, matrices), F.embedding(at, x), T.stack([x]), x.softmax(0), x.sub(x), x.max(0)
        T.where(x > 0, x, x), x.to(T.int32), x.double(), x.reshape(-1), x.expand(2, 4, 6), x.mean(0), F.gelu(x), x.chunk(2), x.unbind(0)
        x.masked_fill(x > 0, 1.0), x.clone(), T.sort(x), x.cumsum(0), T.arange(3), F.pad(x, (1, 1)), x.t().reshape(-1), x.squeeze(0)
        x.add_(1).mul_(x).relu_(), F.relu(x, inplace=True), F.dropout(x, 0.0), F.max_pool2d(image, 2), x.argmax(1, keepdim=True)
        T.einsum("ij,kj->ik", x, x), x.norm(), F.one_hot(at, 3), x.repeat(2, 1), x.index_select(0, at), F.log_softmax(x, 1), x.permute(1, 0)
        x.flatten(), x.unsqueeze(0), T.tril(x), T.outer(x[0], x[1]), T.linspace(0, 1, 3), x.zero_(), x.fill_(2)
    return step


def test_shapes_and_flops_and_bytes():
    torch = pytest.importorskip("torch")
    config = {T: __import__(f"{T.__name__}._C._profiler", fromlist=["a"])._ExperimentalConfig for T in (torch, jtensor)}
    told = []
    for T in (torch, jtensor):
        step = calls(T)
        step()
        with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU], record_shapes=True, with_flops=True, profile_memory=True,
                                experimental_config=config[T](capture_overload_names=True)) as prof:
            step()
        told.append([(event.name, event.overload_name, event.input_shapes, event.flops, event.cpu_memory_usage) for event in prof.events()
                     if event.cpu_parent is None and event.name not in ("[memory]", "jtensor::compile")])
    theirs, ours = told
    assert [one[0] for one in ours] == [one[0] for one in theirs]
    different = [(mine, one) for mine, one in zip(ours, theirs, strict=True) if mine != one]
    assert different == [(("aten::max_pool2d", "", [[1, 4, 8, 8], [], [], [], [], []], 0, 768), ("aten::max_pool2d", "", [
        [1, 4, 8, 8], [], [], [], [], []], 0, 256))]                          # the places are made, too, and PyTorch has freed them
