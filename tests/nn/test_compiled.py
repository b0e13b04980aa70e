"""What `torch.compile` answers: a function of the same name, a module around a module. PyTorch says the same where it is installed."""
import copy
import json
import pickle
import subprocess
import sys

import pytest

import jtensor

REFUSED = {
    "AssertionError: A callable function is expected, but <class 'int'> is provided.": lambda T: T.compile(3),
    "RuntimeError: Either mode or options can be specified, but both can't be specified at the same time.":
        lambda T: T.compile(len, mode="default", options={}),
    "RuntimeError: Unrecognized mode=fast, should be one of: default, lite, reduce-overhead, max-autotune-no-cudagraphs, max-autotune":
        lambda T: T.compile(len, mode="fast"),
    "InvalidBackend: Invalid backend: 'fast', see `torch._dynamo.list_backends()` for available backends.":
        lambda T: T.compile(len, backend="fast"),
}


def made(T):
    """A module, and what `compile` makes of it."""
    class Net(T.nn.Module):
        special = 7

        def __init__(self):
            super().__init__()
            self.l, self.k = T.nn.Linear(2, 3), 5
            self.register_buffer("b", T.ones(1))

        def forward(self, x, times=1):
            return self.l(x) * times

        def __len__(self):
            return 4

        def extra(self):
            return type(self).__name__, self.k
    T.manual_seed(0)
    net = Net()
    return net, T.compile(net, backend="eager")


def told(function):
    try:
        return str(function())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def story(T):
    """What there is to see of a compiled module, line by line."""
    net, c = made(T)
    seen = [c, type(c).__module__, isinstance(c, type(net)), list(c.state_dict()), [name for name, _ in c.named_modules()],
            c._orig_mod is net, c.k, c.special, c.extra(), c.l is net.l, len(c), c.training, T.nn.Module.__getattr__(c, "_orig_mod") is net,
            told(lambda: c.nope), told(lambda: c[0]), getattr(c, "nope", 1), told(lambda: len(T.compile(T.nn.ReLU(), backend="eager")))]
    c.eval()
    seen += [net.training, net.l.training]
    net.train()
    seen.append(c.training)
    c.training = False
    seen += [net.training, net.l.training]
    c.k, c.fresh = 9, 3
    seen += [net.k, net.fresh, "k" in vars(c)]
    del c.fresh
    seen.append(told(lambda: net.fresh))
    c.l.weight.data.fill_(1.0)
    seen += [c(T.ones(1, 2), times=2).sum().item(), c.double() is c, net.l.weight.dtype]
    c.register_buffer("outer", T.ones(1))
    c.add_module("inner", T.nn.ReLU())
    c.sub = T.nn.ReLU()
    seen += [c, list(c.state_dict()), net]
    calls = []
    net.register_forward_hook(lambda module, args, out: calls.append(type(module).__name__))
    c.register_forward_hook(lambda module, args, out: calls.append(type(module).__name__))
    c(T.ones(1, 2, dtype=T.float64))
    seen += [calls, "extra" in dir(c), "l" in dir(c)]
    again = copy.deepcopy(c)
    seen += [type(again).__name__, again._orig_mod is net, list(again.state_dict()), type(copy.copy(c)).__name__]
    plain = T.nn.Linear(2, 2)
    around = T.compile(plain, backend="eager")
    seen += [told(lambda: around.load_state_dict(plain.state_dict())), told(lambda: plain.load_state_dict(around.state_dict())),
             around.load_state_dict(around.state_dict()), around.in_features, dict(around._parameters), pickle.loads(pickle.dumps(around))]
    around.weight = T.nn.Parameter(T.zeros(2, 2))
    row = T.nn.Sequential(around, T.nn.ReLU())
    row.eval()
    seen += [plain.weight, row, list(row.state_dict()), plain.training, list(around.state_dict(prefix="x."))]
    return [str(x).replace("jtensor.", "torch.") for x in seen]


def function(T):
    """What there is to see of a compiled function."""
    def double(x: int, times=2) -> int:
        "doubles"
        return x * times
    found = T.compile(double, backend="eager")
    return [found is not double, found.__wrapped__ is double is found._torchdynamo_orig_callable, found.__name__, found.__doc__,
            found(3, times=4), str(found.__annotations__), T.compile(backend="eager")(double)(2)]


def all_of(T):
    return story(T), function(T), {text: told(lambda: REFUSED[text](T)) for text in REFUSED}           # noqa: B023


def test_it_is_what_pytorch_answers():
    """In a process of its own: PyTorch does other things once its compiler has been imported."""
    pytest.importorskip("torch")
    found = subprocess.run([sys.executable, "-W", "ignore", __file__], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == json.loads(json.dumps(all_of(jtensor)))


def test_a_module_is_another_around_it():
    net, c = made(jtensor)
    assert str(c) == "OptimizedModule(\n  (_orig_mod): Net(\n    (l): Linear(in_features=2, out_features=3, bias=True)\n  )\n)"
    assert list(c.state_dict()) == ["_orig_mod.b", "_orig_mod.l.weight", "_orig_mod.l.bias"]
    assert c._orig_mod is net and c.k == 5 and jtensor.compile()(net)._orig_mod is net
    assert isinstance(c, jtensor._dynamo.OptimizedModule)
    c.eval()
    c.k = 6
    assert not net.training and net.k == 6 and len(story(jtensor)) > 40


def test_a_function_is_another_of_its_name():
    assert function(jtensor) == [True, True, "double", "doubles", 12, "{'x': <class 'int'>, 'return': <class 'int'>}", 4]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    assert told(lambda: REFUSED[text](jtensor)) == text


def test_hooks_of_all_modules_run_once_more():
    _, c = made(jtensor)
    calls = []
    handle = jtensor.nn.modules.module.register_module_forward_hook(lambda module, args, out: calls.append(type(module).__name__))
    try:
        with pytest.warns(UserWarning, match="cause the hooks to fire an extra time"):
            c(jtensor.ones(1, 2))
    finally:
        handle.remove()
    assert calls == ["Linear", "Net", "OptimizedModule"]


if __name__ == "__main__":
    import torch
    print(json.dumps(all_of(torch)))
