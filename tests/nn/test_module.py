"""Module: what is registered, looked up, saved, loaded, hooked, printed and pickled, as PyTorch has it."""
import copy
import gc
import pickle

import pytest

import jtensor

from .both import raised, same, warned


def _net(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 3)
            self.inner = nn.Sequential(nn.ReLU(), nn.Linear(3, 2, bias=False))
            self.scale = nn.Parameter(torch.ones(2))
            self.register_buffer("seen", torch.zeros(1))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)

        def forward(self, x):
            return self.inner(self.first(x)) * self.scale

    return Net()


def test_names_and_repr():
    same(lambda torch: [
        repr(_net(torch)), [n for n, _ in _net(torch).named_parameters()], [n for n, _ in _net(torch).named_buffers()],
        [n for n, _ in _net(torch).named_modules()], list(_net(torch).state_dict()),
        list(_net(torch).state_dict()._metadata.items()), [n for n in dir(_net(torch)) if n in ("first", "scale", "seen", "training")]])


def test_initial_values_are_pytorchs():
    same(lambda torch: _net(torch).state_dict())


def test_registration_errors():
    def program(torch):
        nn, m = torch.nn, torch.nn.Linear(2, 2)
        early = type("Early", (nn.Module,), {"__init__": lambda self: setattr(self, "w", nn.Parameter(torch.ones(1)))})
        late = type("Late", (nn.Module,), {"__init__": lambda self: setattr(self, "child", nn.ReLU())})
        return [raised(f) for f in (
            early, late, lambda: nn.Module(3), lambda: nn.Module(a=3), lambda: nn.Module()(1), lambda: setattr(m, "weight", 3),
            lambda: setattr(m, "weight", torch.ones(2)), lambda: m.register_parameter("a.b", None), lambda: m.register_parameter("", None),
            lambda: m.register_parameter(3, None), lambda: m.register_parameter("forward", None), lambda: m.register_parameter("x", 1),
            lambda: m.register_parameter("x", nn.Parameter(torch.ones(1)) * 2), lambda: m.register_buffer("a.b", None),
            lambda: m.register_buffer("x", 1), lambda: m.add_module("x", 1), lambda: m.add_module("a.b", None),
            lambda: m.add_module("weight", nn.ReLU()), lambda: m.nothing, lambda: m.train(3), lambda: m.get_submodule("a.b"),
            lambda: m.get_submodule("weight"), lambda: m.get_parameter("in_features"), lambda: m.get_buffer("weight"),
            lambda: delattr(m, "nothing"), lambda: m.to(torch.int64), lambda: nn.Parameter(torch.tensor(1)))]

    same(program)


def test_attributes_change_kind():
    def program(torch):
        m = torch.nn.Module()
        m.x = 1
        m.x = torch.nn.Parameter(torch.ones(1))
        kinds = [list(m._parameters), "x" in m.__dict__]
        m.y = torch.nn.Buffer(torch.zeros(1), persistent=False)
        m.y = torch.ones(1)
        kinds += [list(m._buffers), list(m.state_dict()), raised(lambda: setattr(m, "y", 2))]
        m.x = None
        del m.y
        m.x = None
        return kinds + [dict(m._parameters), list(m._buffers)]

    same(program)


def test_loading():
    def program(torch):
        net, state = _net(torch), _net(torch).state_dict()
        answers = [repr(net.load_state_dict(state))]
        for change in ({"seen": None}, {"more": torch.ones(1)}, {"scale": torch.ones(3)}, {"scale": 3}, {"first.weight": None}):
            changed = copy.copy(state)
            for key, value in change.items():
                if value is None:
                    del changed[key]
                else:
                    changed[key] = value
            answers += [raised(lambda: net.load_state_dict(changed)).__str__().replace("jtensor", "torch")]  # noqa: B023
            if "scale" not in change:
                answers += [repr(net.load_state_dict(changed, strict=False))]
        return answers + [raised(lambda: net.load_state_dict(3))]

    same(program)


def test_assigning_takes_the_tensors_themselves():
    net = _net(jtensor)
    state = {name: value.clone() for name, value in net.state_dict().items()}
    before = net.scale
    net.load_state_dict(state, assign=True)
    assert net.scale is not before and net.scale.data_ptr() == state["scale"].data_ptr()
    assert isinstance(net.scale, jtensor.nn.Parameter) and net.scale.requires_grad


def test_state_dict_shares_memory_and_follows():
    net = _net(jtensor)
    state = net.state_dict()
    with jtensor.no_grad():
        net.scale.add_(1)
    assert state["scale"].tolist() == [2.0, 2.0]
    assert not state["scale"].requires_grad and net.state_dict(keep_vars=True)["scale"] is net.scale


def test_extra_state_and_its_hooks():
    def program(torch):
        calls = []

        class Counting(torch.nn.Linear):
            def get_extra_state(self):
                return {"n": 3}

            def set_extra_state(self, state):
                calls.append(state)

        m = Counting(1, 1)
        m.register_state_dict_pre_hook(lambda module, prefix, keep: calls.append(("pre", prefix, keep)))
        m.register_state_dict_post_hook(lambda module, state, prefix, meta: state.pop("bias") and None)
        m.register_load_state_dict_pre_hook(lambda module, *args: calls.append(("load", args[1])))
        m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
        state = m.state_dict()
        return [list(state), repr(m.load_state_dict(state)), calls]

    same(program)


def test_forward_hooks():
    def program(torch):
        log, m = [], torch.nn.Identity()
        m.register_forward_pre_hook(lambda mod, args: (args[0] + 1,))
        m.register_forward_pre_hook(lambda mod, args, kwargs: ((args[0] * 2,), kwargs), with_kwargs=True, prepend=True)
        handle = m.register_forward_hook(lambda mod, args, out: log.append(("post", out.item())))
        m.register_forward_hook(lambda mod, args, kwargs, out: out * 10, with_kwargs=True)
        first = m(torch.tensor(3.))
        handle.remove()
        second = m(torch.tensor(1.))
        bad = torch.nn.Identity()
        bad.register_forward_pre_hook(lambda mod, args, kwargs: 3, with_kwargs=True)
        return [first, second, log, raised(lambda: bad(torch.ones(1)))]

    same(program)


def test_a_hook_that_is_always_called_sees_failures():
    def program(torch):
        class Fails(torch.nn.Module):
            def forward(self, x):
                raise KeyError("here")

        log, m = [], Fails()
        m.register_forward_hook(lambda mod, args, out: log.append(out), always_call=True)
        m.register_forward_hook(lambda mod, args, out: log.append("not this one"))
        return [raised(lambda: m(1)), log]

    same(program)


def test_backward_hooks():
    def program(torch):
        log, m = [], torch.nn.Linear(2, 1)
        m.register_full_backward_hook(lambda mod, gin, gout: log.append(["hook", list(gin), list(gout)]))
        m.register_full_backward_hook(lambda mod, gin, gout: (gin[0] * 2,))
        m.register_full_backward_pre_hook(lambda mod, gout: (gout[0] + 1,))
        x = torch.ones(1, 2, requires_grad=True)
        y = m(x)
        name = type(y.grad_fn).__name__
        y.sum().backward()
        mixed = raised(lambda: m.register_backward_hook(print))
        return [log, x.grad, m.weight.grad, name, mixed]

    same(program)


def test_backward_hooks_without_inputs_that_need_gradients():
    def program(torch):
        log, m = [], torch.nn.Linear(2, 1)
        m.register_full_backward_hook(lambda mod, gin, gout: log.append(list(gin)))
        y = m(torch.ones(1, 2)).sum()
        return [[category for category, _ in warned(y.backward)], log]

    same(program)


def test_hooks_common_to_all_modules():
    def program(torch):
        module, log = torch.nn.modules.module, []
        handles = [module.register_module_forward_hook(lambda mod, args, out: log.append(type(mod).__name__)),
                   module.register_module_parameter_registration_hook(lambda mod, name, p: log.append(name))]
        torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU())(torch.ones(1))
        for handle in handles:
            handle.remove()
        torch.nn.Linear(1, 1)
        return log

    same(program)


def test_conversion_keeps_the_parameter_objects():
    net = _net(jtensor)
    before = net.scale
    before.grad = jtensor.ones(2)
    net.double()
    assert net.scale is before and before.dtype is jtensor.float64 and before.grad.dtype is jtensor.float64
    assert net.seen.dtype is jtensor.float64
    assert net.to("meta").scale.is_meta


def test_zero_grad():
    def program(torch):
        net = _net(torch)
        net(torch.ones(1, 2)).sum().backward()
        had = net.scale.grad is not None
        net.zero_grad(set_to_none=False)
        zeros = net.scale.grad
        net.zero_grad()
        return [had, zeros, net.scale.grad]

    same(program)


def test_copies_and_pickles():
    net = _net(jtensor)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net.inner))):
        ours = net if hasattr(other, "first") else net.inner
        assert list(other.state_dict()) == list(ours.state_dict())
        for (_, a), (_, b) in zip(other.named_parameters(), ours.named_parameters()):
            assert a is not b and jtensor.equal(a, b) and isinstance(a, jtensor.nn.Parameter)
    shared = jtensor.nn.ModuleList([net.first, net.first])
    twin = copy.deepcopy(shared)
    assert twin[0].weight is twin[1].weight


def test_parameter():
    same(lambda torch: [repr(torch.nn.Parameter(torch.ones(2))), str(torch.nn.Parameter(torch.ones(1), requires_grad=False)),
                        isinstance(torch.nn.Parameter(torch.ones(1)) * 2, torch.nn.Parameter),
                        isinstance(torch.nn.Parameter(torch.ones(1)).data, torch.nn.Parameter),
                        isinstance(torch.nn.Buffer(torch.ones(1)), torch.nn.Buffer), torch.nn.Parameter().shape == (0,)])
    source = jtensor.ones(2)
    param = jtensor.nn.Parameter(source)
    source.mul_(3)
    assert param.tolist() == [3.0, 3.0]


def test_prefix_is_taken_off():
    def program(torch):
        wrapped = torch.nn.Module()
        wrapped.module = torch.nn.Linear(1, 1)
        state = wrapped.state_dict()
        torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
        return [list(state), list(state._metadata)]

    same(program)


def test_calling_goes_by_what_the_instance_has_now():
    class Twice(jtensor.nn.Module):
        def forward(self, x, *, more=0):
            return 2 * x + more
    module = Twice()
    assert module(3) == module.__call__(3) == 6 and module(3, more=1) == 7 and module(x=3) == 6
    module.forward = lambda x: -x
    assert module(3) == -3
    del module.forward, module.__dict__["_backward_hooks"]           # as of a module that something else has unpickled
    with pytest.raises(AttributeError, match="'Twice' object has no attribute '_backward_hooks'"):
        module(3)
    module._backward_hooks = {}
    module.register_forward_pre_hook(lambda module, given: (given[0] + 1,))
    assert module(3) == 8

    class Unfinished(jtensor.nn.Module):
        def __init__(self):
            pass
    with pytest.raises(AttributeError, match="'Unfinished' object has no attribute '_backward_hooks'"):
        Unfinished()(3)


def test_to_takes_the_arguments_of_pytorch_only():
    def program(torch):
        def told(*args, **kwargs):
            return raised(lambda: torch.nn.Linear(1, 1).to(*args, **kwargs))
        calls = [told("cpu", copy=True), told("cpu", True), told([]), told(torch.float64, "cpu"),
                 told(torch.device("cpu"), torch.tensor(3))]
        layer = torch.nn.Linear(1, 1).to(torch.float64, True)
        return [(kind, text.split(", but expected")[0]) for kind, text in calls], str(layer.weight.dtype)

    same(program)


def test_parameters_of_another_layout_take_the_old_ones_places():
    def program(torch):
        layer = torch.nn.Linear(2, 1, bias=False)
        weight, layer.weight.grad = layer.weight, torch.ones(1, 2)
        layer._apply(lambda t: t.to_sparse())
        return [str(t.layout) for t in (weight, weight.grad, layer.weight, layer.weight.grad)], layer.weight.requires_grad

    same(program)


def test_lazy_normalisations_are_converted_before_they_have_shapes():
    def program(torch):
        layer = torch.nn.LazyBatchNorm1d().double()
        answer = [type(layer.running_mean).__name__, str(layer(torch.arange(4., dtype=torch.float64).view(2, 2)).dtype)]
        return answer + [str(b.dtype) for b in layer.buffers()], [type(b).__name__ for b in layer.buffers()]

    same(program)


def test_functional_call_takes_tensors_only():
    def program(torch):
        layer = torch.nn.Linear(1, 1)
        layer.rate = 0.5
        return [raised(lambda given=given: torch.func.functional_call(layer, given, torch.ones(1)))
                for given in ({"weight": 3}, {"rate": torch.ones(1)}, {"weight": torch.ones(1, 1), "bias": None})]

    same(program)


def test_the_hooks_of_all_modules_are_found_by_their_names():
    def program(torch):
        room = torch.nn.modules.module
        handle = room.register_module_forward_hook(lambda *args: None, always_call=True, with_kwargs=True)
        names = [name for name in dir(room) if name.startswith("_global_") and name.endswith(("hooks", "called", "kwargs"))]
        held = [(name, len(getattr(room, name))) for name in names]
        handle.remove()
        return held, [len(getattr(room, name)) for name in names]

    same(program)


def test_module_tracker_knows_where_it_is():
    def program(torch):
        from importlib import import_module
        ahead, back = [], []
        tracker = import_module(f"{torch.__name__}.utils.module_tracker").ModuleTracker()

        class Part(torch.nn.Module):
            def forward(self, x):
                y = x["a"].exp()
                ahead.append((sorted(tracker.parents), tracker.is_bw))
                y.register_hook(lambda grad: back.append((sorted(tracker.parents), tracker.is_bw)))
                return {"a": y * y}

        class Whole(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.rest = Part(), torch.nn.ModuleDict({"second": Part()})

            def forward(self, x):
                return self.rest["second"](self.first(x))

        with tracker:
            Whole()({"a": torch.ones(2, requires_grad=True)})["a"].sum().backward()
        return ahead, back, sorted(tracker.parents), tracker.is_bw

    same(program)


def test_loading_a_state_leaves_nothing_to_the_collector(only_the_young):
    layer = jtensor.nn.Linear(2, 2)
    state = layer.state_dict()
    gc.collect(1)
    layer.load_state_dict(state)
    assert gc.collect(1) == 0
