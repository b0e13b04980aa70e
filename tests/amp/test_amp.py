"""The scaler of losses, questions about regions and their older names against live PyTorch: answers, refusals and warnings."""
import pickle
import warnings

import pytest

import jtensor

torch = pytest.importorskip("torch")


def answers(T, calls):
    """Results as text, refusals as (type, text), and warnings."""
    names = {"T": T, "A": T.amp, "x": T.ones(2, 2), "use": lambda *a, **k: _inside(T, *a, **k)}
    names["show"] = lambda region: {key: str(value) for key, value in vars(region).items()}
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


STATE = [
    "T.is_autocast_enabled()", "T.is_autocast_enabled('cpu')", "T.is_autocast_enabled('foo')", "T.is_autocast_enabled(3)",
    *[f"T.{call}" for d in "meta vulkan lazy hip foo".split() for call in (
        f"is_autocast_enabled('{d}')", f"set_autocast_enabled('{d}', True)", f"set_autocast_enabled('{d}', False)")],
    "T.set_autocast_enabled('cpu')", "T.set_autocast_enabled(None)", "T.set_autocast_dtype('cpu', 3)", "T.set_autocast_dtype('cpu', None)",
    "[T.get_autocast_dtype(d) for d in 'cpu cuda xpu mps xla'.split()]", "T.set_autocast_enabled('cpu', True)",
    "T.is_autocast_enabled('cpu')",
    "(T.ones(2, 2) @ T.ones(2, 2)).dtype", "T.set_autocast_dtype('cpu', T.float16)", "(T.ones(2, 2) @ T.ones(2, 2)).dtype",
    "T.set_autocast_dtype('cpu', T.bfloat16)", "T.set_autocast_enabled('cpu', False)", "(T.ones(2, 2) @ T.ones(2, 2)).dtype",
    "T.set_autocast_enabled(True)", "T.is_autocast_enabled()", "T.set_autocast_enabled(False)", "T.set_autocast_enabled('cpu', 3)",
    "T.autocast_increment_nesting()", "T.autocast_decrement_nesting()", "T.clear_autocast_cache()", "T.is_autocast_cache_enabled()",
    "T.set_autocast_cache_enabled(3)", *[f"show(T.autocast('{d}'))" for d in "cpu cuda mps hip xla meta foo".split()],
    "show(T.autocast('cpu', dtype=T.float32))", "show(T.autocast('cpu', T.float16, cache_enabled=False))", "T.autocast(0)",
    "T.amp.is_autocast_available('hip')", "T.amp.is_autocast_available('foo')", "show(T.cuda.amp.autocast())", "show(T.cpu.amp.autocast())",
    "T.cuda.amp.GradScaler().state_dict()", "T.cpu.amp.GradScaler().state_dict()", "T.cuda.amp.custom_fwd(len)([1])",
    "T.cpu.device_count(), T.cpu.is_available(), T.cpu.current_device(), T.cpu.synchronize(), T.cpu.set_device('cpu')",
]


@pytest.mark.parametrize("calls", [CALLS, STATE], ids=["scaler", "state"])
def test_calls(calls):
    for ours, theirs in zip(answers(jtensor, calls), answers(torch, calls), strict=True):
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
