"""The scaler of losses against live PyTorch, and the contexts that change nothing."""
import pickle
import warnings

import pytest

import jtensor

torch = pytest.importorskip("torch")


def answers(T, calls):
    """Results as text, refusals as (type, text), and warnings."""
    names = {"T": T, "A": T.amp, "x": T.ones(2, 2), "use": lambda *a, **k: _inside(T, *a, **k)}
    names["model"] = T.nn.Linear(1, 1)
    names["sgd"] = T.optim.SGD(names["model"].parameters(), 0.1)
    names["s"] = T.amp.GradScaler("cpu")
    names["backward"] = lambda: names["s"].scale(names["model"](T.ones(1)).sum()).backward()
    names["loaded"] = lambda state: (lambda s: (s.load_state_dict(state), s.state_dict())[1])(T.amp.GradScaler("cpu"))
    names["again"] = lambda s: pickle.loads(pickle.dumps(s)).state_dict()
    found = []
    for call in calls:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                answer = str(eval(call, names))
            except Exception as error:
                answer = type(error).__name__, str(error)
        found.append((call, answer, [str(w.message) for w in seen]))
    return found


def _inside(T, *args, **kwargs):
    with T.autocast(*args, **kwargs):
        return T.is_autocast_enabled("cpu"), (T.ones(2, 2) @ T.ones(2, 2)).dtype


CALLS = [
    "use('cuda')", "use('cpu', enabled=False)", "use(1)", "use('xyz')", "use('cpu', dtype=T.float32)", "use('mps')", "use('meta')",
    "T.autocast()", "T.autocast('cpu', enabled=False)(lambda a: a @ a)(x)", "T.get_autocast_dtype('cuda')",
    "A.is_autocast_available('cuda')",
    "A.GradScaler().is_enabled()", "A.GradScaler('cuda').state_dict()", "A.GradScaler('cpu', growth_factor=1.)",
    "A.GradScaler('cpu', backoff_factor=2.)", "s.update()", "s.step(sgd)", "s.unscale_(sgd)", "backward()", "s.unscale_(sgd)",
    "s.unscale_(sgd)", "s.step(sgd)", "s.step(sgd)", "s.unscale_(sgd)", "s.update(4.)", "s.get_scale()", "s.update(T.tensor(2.))",
    "s.set_growth_factor(3.)", "s.set_growth_interval(7)", "s.set_backoff_factor(.25)", "s.state_dict()", "loaded(s.state_dict())",
    "loaded({})", "again(s)", "s.scale([x, (x,)])", "s.scale(3)", "s.step(T.optim.SGD([T.zeros(1, requires_grad=True)], .1))", "s.update()",
    "A.GradScaler('cpu', enabled=False).scale(x)", "A.GradScaler('cpu', enabled=False).step(sgd)",
]


def test_calls():
    for ours, theirs in zip(answers(jtensor, CALLS), answers(torch, CALLS), strict=True):
        assert ours == theirs


@pytest.mark.parametrize("bad", [(), (1, 4)])
def test_steps_that_overflow_are_left_out(bad):
    def train(T):
        model = T.nn.Linear(2, 1)
        with T.no_grad():
            model.weight.copy_(T.tensor([[0.5, -0.25]]))
            model.bias.zero_()
        sgd, scaler, scales = T.optim.SGD(model.parameters(), 0.1), T.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2), []
        for i in range(5):
            sgd.zero_grad()
            scaler.scale(model(T.ones(1, 2) * (float("inf") if i in bad else 1)).sum()).backward()
            if i % 2:
                scaler.unscale_(sgd)
            scaler.step(sgd)
            scaler.update()
            scales.append(scaler.get_scale())
        return scales, scaler.state_dict(), model.weight.flatten().tolist()
    (*ours, a), (*theirs, b) = train(jtensor), train(torch)
    assert ours == theirs and a == pytest.approx(b)
