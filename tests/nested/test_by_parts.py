"""What is done to a nested tensor is what is done to its parts: values and gradients, also where PyTorch has no gradient. Files, copies."""
import copy
import io
import pickle

import pytest

import jtensor
from jtensor import nested
from jtensor.base.errors import MissingFeature

SIZES = (2, 4), (3, 4), (1, 4)
F = jtensor.nn.functional


def _parts():
    return [jtensor.arange(1., 1 + a * b).sin().reshape(a, b).requires_grad_() for a, b in SIZES]


@pytest.mark.parametrize("function, dense", [
    (lambda x: x.sum(1), lambda parts: [p.sum(0) for p in parts]),
    (lambda x: x.mean(1), lambda parts: [p.mean(0) for p in parts]),
    (lambda x: x.prod(1), lambda parts: [p.prod(0) for p in parts]),
    (lambda x: x.max(1).values, lambda parts: [p.max(0).values for p in parts]),
    (lambda x: x.sum(-1), lambda parts: [p.sum(-1) for p in parts]),
    (lambda x: x.sum((0, 1)), lambda parts: [sum(p.sum(0) for p in parts)]),
    (lambda x: x.softmax(1), lambda parts: [p.softmax(0) for p in parts]),
    (lambda x: x.log_softmax(-1), lambda parts: [p.log_softmax(-1) for p in parts]),
    (lambda x: F.layer_norm(x, (x.size(1), 4)), lambda parts: [F.layer_norm(p, p.shape) for p in parts]),
    (lambda x: F.leaky_relu(x), lambda parts: [F.leaky_relu(p) for p in parts]),
    (lambda x: x.narrow(-1, 1, 2), lambda parts: [p[:, 1:3] for p in parts]),
    (lambda x: x[..., 1], lambda parts: [p[:, 1] for p in parts]),
    (lambda x: x.chunk(2, 0)[1], lambda parts: parts[2:]),
    (lambda x: x.transpose(1, 2).to_padded_tensor(0.)[0], lambda parts: [F.pad(parts[0].t(), (0, 1))]),
])
def test_gradients_are_those_of_the_parts(function, dense):
    results, gradients = [], []
    for as_parts in (False, True):
        parts = _parts()
        made = dense(parts) if as_parts else function(nested.as_nested_tensor(parts, layout=jtensor.jagged))
        pieces = made if as_parts else made.unbind() if made.is_nested else made.reshape(-1)
        whole = jtensor.cat([piece.reshape(-1) for piece in pieces]) if isinstance(pieces, (list, tuple)) else pieces
        (whole * jtensor.arange(1., 1 + whole.numel())).sum().backward()
        results.append(whole.detach())
        gradients.append([jtensor.zeros(p.shape) if p.grad is None else p.grad for p in parts])
    jtensor.testing.assert_close(results[0], results[1], rtol=1e-5, atol=1e-5)
    jtensor.testing.assert_close(gradients[0], gradients[1], rtol=1e-4, atol=1e-5)


def test_second_gradients():
    v = jtensor.arange(1., 7.).requires_grad_()

    def loss(v):
        x = nested.nested_tensor_from_jagged(v, jtensor.tensor([0, 2, 3, 6]))
        return (x * x.sin() * jtensor.arange(1., 4.).reshape(3, 1)).to_padded_tensor(0.).pow(2).sum()
    first, = jtensor.autograd.grad(loss(v), v, create_graph=True)
    first.sum().backward()
    step, around = 1e-3, []
    for sign in (1, -1):
        w = (v.detach().double() + sign * step).requires_grad_()
        around.append(jtensor.autograd.grad(loss(w), w)[0])
    by_differences = (around[0] - around[1]) / (2 * step)
    jtensor.testing.assert_close(v.grad.double(), by_differences, rtol=1e-3, atol=1e-3)


def test_training_with_lengths_that_change():
    """Steps over nested batches are those over padded ones with a mask."""
    weights = []
    for padded in (False, True):
        jtensor.manual_seed(0)
        model = jtensor.nn.Sequential(jtensor.nn.Linear(3, 4), jtensor.nn.GELU(), jtensor.nn.LayerNorm(4), jtensor.nn.Linear(4, 1))
        optimizer = jtensor.optim.SGD(model.parameters(), lr=0.05)
        for step in range(4):
            batch = [jtensor.arange(3. * n).sin().reshape(n, 3) for n in (step + 1, 2, 4)]
            optimizer.zero_grad()
            if padded:
                loss = sum(model(part).pow(2).sum() for part in batch)
            else:
                loss = model(nested.nested_tensor(batch, layout=jtensor.jagged)).pow(2).sum()
            loss.backward()
            optimizer.step()
        weights.append([p.detach() for p in model.parameters()])
    jtensor.testing.assert_close(weights[0], weights[1], rtol=1e-4, atol=1e-5)


def test_files_are_pytorchs():
    torch = pytest.importorskip("torch")
    import warnings
    for ours, theirs in ((jtensor, torch), (torch, jtensor)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = [[1., 2.], [3.]]
            saved = {"j": ours.nested.nested_tensor(data, layout=ours.jagged, requires_grad=True), "s": ours.nested.nested_tensor(data)}
            file = io.BytesIO()
            ours.save(saved, file)
            file.seek(0)
            back = theirs.load(file)
        assert str(back["s"]) == str(saved["s"]) and back["j"].requires_grad
        assert [part.tolist() for part in back["j"].unbind()] == data
        assert back["j"].to_padded_tensor(0.).tolist() == [[1., 2.], [3., 0.]]


def test_pickles_and_copies():
    leaf = nested.nested_tensor([[1., 2.], [3.]], layout=jtensor.jagged, requires_grad=True)
    for other in (pickle.loads(pickle.dumps(leaf)), copy.deepcopy(leaf)):
        assert other.requires_grad and type(other) is type(leaf)
        other.detach().mul_(2)
        assert other.values().tolist() == [2., 4., 6.] and leaf.values().tolist() == [1., 2., 3.]
    assert copy.copy(leaf).values().data_ptr() == leaf.values().data_ptr()
    module = jtensor.nn.Module()
    module.weight = jtensor.nn.Parameter(leaf.detach())
    assert isinstance(copy.deepcopy(module).weight, jtensor.nn.Parameter) and str(module.weight).startswith("NestedTensor(")


def test_modes_are_asked_first():
    from jtensor.overrides import TorchFunctionMode

    class Names(TorchFunctionMode):
        seen = ()

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.seen += (func.__name__,)
            return func(*args, **(kwargs or {}))
    x = nested.nested_tensor([[1., 2.], [3.]], layout=jtensor.jagged)
    with Names() as names:
        x.sin()
    assert names.seen == ("sin",)


@pytest.mark.parametrize("layout", ["jagged", "strided"])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_writes_that_the_history_would_miss_are_refused(layout):
    """A write through a view of a nested tensor, or to it once there is one, is in no history: no gradient without it comes out."""
    def views(y):
        yield y.transpose(1, 2)
        yield y.values()
        yield y.unbind()[0]
        yield y[0]
    for at in range(4):
        for through in (True, False):
            leaf = nested.nested_tensor([[[1., 2.]], [[3., 4.], [5., 6.]]], layout=getattr(jtensor, layout), requires_grad=True)
            y = leaf * 2
            view = list(views(y))[at]
            with pytest.raises((MissingFeature, RuntimeError)):
                if through:
                    view.mul_(3)
                else:
                    y.mul_(3)
                    (view.values() if view.is_nested else view).sum().backward()
            assert leaf.grad is None


def test_unrecorded_writes_are_seen_by_all():
    leaf = nested.nested_tensor([[[1., 2.]], [[3., 4.], [5., 6.]]], layout=jtensor.jagged, requires_grad=True)
    with jtensor.no_grad():
        leaf.mul_(2)
        leaf.values()[0] = 7.
        leaf.unbind()[1].add_(1)
    (leaf * leaf).sum().backward()
    assert leaf.grad.values().tolist() == [[14., 14.], [14., 18.], [22., 26.]]


def test_what_is_missing_says_so():
    x = nested.nested_tensor([[1., 2.], [3.]], layout=jtensor.jagged)
    with pytest.raises(MissingFeature, match="out= of nested tensors"):
        jtensor.add(x, x, out=x)
    with pytest.raises(MissingFeature, match="lies on another one.s memory"):
        nested.nested_tensor_from_jagged(jtensor.ones(3, requires_grad=True) * 1, x.offsets()).mul_(2)
    with pytest.raises(NotImplementedError):
        jtensor.vmap(lambda part: part * 2)(x)
    for transform in (jtensor.func.vmap(lambda v: nested.nested_tensor_from_jagged(v, x.offsets()).sum()),
                      lambda v: jtensor.func.jvp(lambda v: nested.nested_tensor_from_jagged(v[0], x.offsets()).sum(), (v,), (v,))):
        with pytest.raises(MissingFeature, match="inside of vmap and of forward mode"):
            transform(jtensor.ones(2, 3))
    with pytest.raises(AttributeError):
        x.no_such_thing
