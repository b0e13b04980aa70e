"""``__torch_function__``: subclasses of Tensor, other classes and modes that answer for its functions."""
import copy
import importlib.util
import inspect
import json
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import jtensor as torch
from jtensor.base.errors import MissingFeature
from jtensor.nn import functional as F
from jtensor.overrides import TorchFunctionMode
from jtensor.tensor.calling import overriding

from ..ops import op_samples

_spec = importlib.util.spec_from_file_location("overriding_cases", Path(__file__).with_name("overriding_cases.py"))
overriding_cases = sys.modules["overriding_cases"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(overriding_cases)
CASES = overriding_cases.cases()
GOLDENS = json.loads(overriding_cases.GOLDENS.read_text())
SIZE = 40


class Plain(torch.Tensor):
    """A subclass that overrides nothing."""


# -- as in PyTorch ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, len(CASES), SIZE))
def test_who_is_asked_is_as_in_pytorch(first):
    world, wrong = overriding_cases.world("jtensor"), {}
    for case in CASES[first:first + SIZE]:
        found = json.loads(json.dumps(world.seen(case)))
        if found != GOLDENS[case]:
            wrong[case] = GOLDENS[case], found
    assert not wrong


def test_stored_is_what_pytorch_says():
    pytest.importorskip("torch")
    assert set(CASES) == set(GOLDENS)
    world = overriding_cases.world("torch")
    stale = {case for case in CASES[::7] if json.loads(json.dumps(world.seen(case))) != GOLDENS[case]}
    assert not stale

# -- laws over the operators --------------------------------------------------------------------------------------------


def tensors_of(made):
    if isinstance(made, (tuple, list)):
        return [one for part in made for one in tensors_of(part)]
    return [made] if isinstance(made, torch.Tensor) else []


def without_values(given, cls=None):
    """A sample's argument on the meta device, where nothing is computed."""
    if not isinstance(given, list):
        return given
    made = torch.tensor(given).to("meta")
    return made if cls is None else made.as_subclass(cls)


SAMPLES = [
    *[(name, ([*given],), {}) for name, given in op_samples.UNARY.items()],
    *[(name, given, {}) for name, given in op_samples.BINARY.items()],
    *[(name, given, {}) for name, calls in op_samples.WITH_NUMBER.items() for given in calls[:1]],
    *[(name, *call) for name, calls in op_samples.REDUCTIONS.items() for call in calls[:2]],
]


def test_of_a_subclass_a_subclass_is_made():
    """Function and method alike, and all tensors of a result; its type is that of the plain call."""
    seen = set()
    for name, args, kwargs in SAMPLES:
        for function in (getattr(torch, name, None), getattr(torch.Tensor, name, None)):
            if function is None:
                continue
            try:
                plain = function(*[without_values(one) for one in args], **kwargs)
            except (NotImplementedError, RuntimeError):                          # no shape without values
                continue
            made = function(*[without_values(one, Plain) for one in args], **kwargs)
            found, wanted = tensors_of(made), tensors_of(plain)
            assert {type(one) for one in found} == {Plain}, name
            assert [one.shape for one in found] == [one.shape for one in wanted], name
            assert type(made) is (Plain if isinstance(plain, torch.Tensor) else type(plain)), name
            seen.add(name)
    assert len(seen) > 100


def test_in_place_a_subclass_stays_the_object_it_is():
    count = 0
    for name in op_samples.UNARY:
        method = getattr(torch.Tensor, name + "_", None)
        if method is not None:
            given = torch.ones(2, device="meta").as_subclass(Plain)
            assert method(given) is given
            count += 1
    assert count > 30


def test_every_overridable_function_is_the_object_it_was_and_shows_its_parameters():
    overriding.install()
    assert overriding.ENTRIES.keys() >= {torch.add, torch.Tensor.add, F.relu}
    assert list(inspect.signature(torch.add).parameters)[:2] == ["input", "other"]
    assert list(inspect.signature(F.dropout).parameters) == ["input", "p", "training", "inplace"]
    assert torch.add.__name__ == "add" and torch.add.__doc__ and hash(torch.add.__code__)


def test_the_overridable_functions_are_pytorchs():
    """All that PyTorch lists and jtensor has."""
    pytorch = pytest.importorskip("torch")
    theirs = pytorch.overrides.get_testing_overrides()
    ours = torch.overrides.get_testing_overrides()
    spaces = {"": pytorch, "nn.functional": pytorch.nn.functional, "Tensor": pytorch.Tensor, "linalg": pytorch.linalg, "fft": pytorch.fft}
    differ = set()
    for path, space in spaces.items():
        mine = torch if not path else torch.nn.functional if path == "nn.functional" else getattr(torch, path)
        for name in dir(mine):
            own, real = inspect.getattr_static(mine, name, None), getattr(space, name, None)
            if isinstance(own, property):
                own, real = own.__get__, getattr(real, "__get__", None)
            if inspect.isroutine(own) and real in theirs and own not in ours:
                differ.add(name)
    assert not differ

# -- what users write -----------------------------------------------------------------------------------------------------


def test_metadata_travels():
    """A tensor with a unit, which results take over from the first argument that has one."""
    class Measured(torch.Tensor):
        unit = None

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            made = super().__torch_function__(func, types, args, kwargs)
            units = [one.unit for one in args if isinstance(one, cls)]
            if isinstance(made, cls) and units:
                made.unit = units[0]
            return made
    length = torch.tensor([1.0, 2.0]).as_subclass(Measured)
    length.unit = "m"
    assert (length * 2).unit == length[0].unit == torch.exp(length).sum().unit == "m"
    assert length.shape == (2,) and str(length) == "Measured([1., 2.])"
    named = torch.ones(1, 2).as_subclass(Measured)
    named.unit = "s"
    values, indices = named.max(1)
    assert type(values) is type(indices) is Measured


def test_a_class_that_is_no_tensor_answers_for_functions():
    """A multiple of the identity: sums and products without its elements; for what it does not know, the matrix."""
    handled = {}

    def implements(function):
        def register(method):
            handled[function] = method
            return method
        return register

    class Scaled:
        def __init__(self, n, factor):
            self.n, self.factor = n, factor

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func not in handled or not all(issubclass(kind, (torch.Tensor, cls)) for kind in types):
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

    @implements(torch.mean)
    def mean(given):
        return given.factor / given.n

    @implements(torch.add)
    def add(one, other):
        return Scaled(one.n, one.factor + other.factor) if isinstance(other, Scaled) else torch.eye(one.n) * one.factor + other

    @implements(torch.Tensor.mul)
    def mul(tensor, scaled):
        return torch.eye(scaled.n) * scaled.factor * tensor

    @implements(F.relu)
    def relu(given, inplace=False):
        return Scaled(given.n, max(given.factor, 0))
    five = Scaled(5, 2)
    assert torch.mean(five) == 0.4
    assert torch.add(five, five).factor == 4 and torch.add(five, torch.ones(5, 5))[0, 0].item() == 3
    assert (torch.ones(5) * five).diagonal().tolist() == [2.0] * 5
    assert F.relu(Scaled(2, -1)).factor == 0
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.sum'"):
        torch.sum(five)
    with pytest.raises(TypeError, match="no implementation found for 'torch.nn.functional.softmax'"):
        F.softmax(five)


def test_a_log_of_a_training_step():
    """A mode sees what a module calls, and the step comes to what it comes to without."""
    class Log(TorchFunctionMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    def step():
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1)
        loss = F.mse_loss(F.relu(model(torch.ones(2, 3))), torch.ones(2, 1))
        loss.backward()
        return model.weight.grad.tolist(), loss.item()
    with Log() as log:
        inside = step()
    assert inside == step()
    assert [name for name in log.names if name in ("linear", "relu", "mse_loss", "backward", "tolist", "item")] == [
        "linear", "relu", "mse_loss", "backward", "tolist", "item"]


SWITCHES = """
class Log(OVERRIDES.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        told.append((func.__name__, types, args, kwargs, torch.is_grad_enabled()))
        return func(*args, **(kwargs or {}))
class Deaf(OVERRIDES.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return None if func is torch._C._set_grad_enabled else func(*args, **(kwargs or {}))
told = []
@torch.no_grad()
def decorated():
    told.append(torch.is_grad_enabled())
    yield 1
with Log():
    list(decorated())
    with torch.no_grad():
        with torch.enable_grad():
            told.append("inside")
    with torch.set_grad_enabled(False), torch.inference_mode():
        told.append("here, too")
        with torch.enable_grad():
            told.append(torch.is_grad_enabled())
    try:
        torch.set_grad_enabled(1)
    except TypeError as error:
        told.append(str(error))
    @torch.set_grad_enabled(False)
    def second():
        told.append("second")
    second()
    torch._C._set_grad_enabled(True)
with Deaf(), torch.no_grad():
    told.append(torch.is_grad_enabled())
"""


def test_switches_of_recording_are_told_to_modes():
    theirs = pytest.importorskip("torch")
    found = []
    for library in (torch, theirs):
        space = {"torch": library, "OVERRIDES": importlib.import_module(library.__name__ + ".overrides")}
        exec(SWITCHES, space)
        found.append(space["told"])
    assert found[0] == found[1] and len(found[0]) > 20


def test_modes_belong_to_their_thread():
    class Never(TorchFunctionMode):
        pass
    answers = []
    with Never():
        thread = threading.Thread(target=lambda: answers.append((torch.ones(2) + 1).tolist()))
        thread.start()
        thread.join()
    assert answers == [[2.0, 2.0]]


def test_gradients_go_through_subclasses():
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = leaf.as_subclass(Plain)
    (seen * seen).sum().backward()
    assert leaf.grad.tolist() == [2.0, 4.0] and type(leaf.grad) is torch.Tensor
    own = Plain([1.0, 2.0]).requires_grad_()
    (own * 3).sum().backward()
    assert own.is_leaf and own.grad.tolist() == [3.0, 3.0]


def test_a_hook_of_a_subclass_is_called_in_backward():
    given = torch.ones(2).as_subclass(Plain).requires_grad_()
    seen = []
    given.register_hook(lambda grad: seen.append(grad.tolist()))
    (given * 2).sum().backward()
    assert seen == [[2.0, 2.0]]


def test_a_module_trains_on_a_subclass():
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    out = layer(torch.ones(3, 2).as_subclass(Plain))
    assert type(out) is Plain and type(layer.weight + 1) is torch.Tensor
    before = layer.weight.tolist()
    out.sum().backward()
    optimizer.step()
    assert np.allclose(layer.weight.tolist(), np.array(before) - 0.3)


def test_a_view_of_a_subclass_writes_to_it():
    given = torch.zeros(2, 2).as_subclass(Plain)
    row = given[0]
    row.fill_(1)
    assert type(row) is Plain and row._base is not None
    assert given.tolist() == [[1, 1], [0, 0]]


def test_a_copy_needs_a_new_empty_of_the_class():
    class Own(torch.Tensor):
        def new_empty(self, *args, **kwargs):
            return super().new_empty(*args, **kwargs).as_subclass(Own)
    made = Own([1.0, 2.0])
    made.mark = [1]
    again = copy.deepcopy(made)
    assert type(again) is Own and again.mark == [1] and again.mark is not made.mark and again.data_ptr() != made.data_ptr()
    with pytest.raises(RuntimeError, match="only works for subclass types that implement new_empty"):
        copy.deepcopy(Plain([1.0]))
    shared = copy.copy(made)
    assert type(shared) is Own and shared.mark is made.mark and shared.data_ptr() == made.data_ptr()


def test_a_warning_names_the_line_that_has_called():
    overriding.install()
    with pytest.warns(UserWarning, match="non-leaf") as seen:
        (torch.ones(1, requires_grad=True) * 2).grad
    assert seen[0].filename == __file__


def test_a_plain_method_is_asked_and_warned_of():
    theirs = pytest.importorskip("torch")


    def said(library):
        class Plain(library.Tensor):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return type(self).__name__
        made = library.ones(2).as_subclass(Plain)
        library.set_warn_always(True)                             # or C++ says it once in a process
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answers = [library.neg(made), library.nn.functional.dropout(made), made + 1]
        return answers, [(one.category, str(one.message).partition(" (Triggered")[0]) for one in caught]
    try:
        assert said(torch) == said(theirs)
    finally:
        torch.set_warn_always(False), theirs.set_warn_always(False)


def test_an_uncaught_error_shows_a_subclass():
    program = "import jtensor\nclass A(jtensor.Tensor): pass\nraise ValueError([jtensor.ones(2).as_subclass(A)])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.endswith("ValueError: [A([1., 1.])]\n")


def test_wrong_calls_are_refused_as_before():
    """The function that asks hands on what it was given, so that errors name what was written."""
    overriding.install()
    with pytest.raises(TypeError, match=r"topk\(\): argument 'k' \(position 1\) must be int, not float"):
        torch.ones(3).topk(1.5)
    with pytest.raises(TypeError, match=r"topk\(\): argument 'k' must be int, not float"):
        torch.ones(3).topk(k=1.5)
    assert torch.sum(torch.ones(2, 2), axis=0).tolist() == [2.0, 2.0]


def test_what_is_refused():
    with pytest.raises(MissingFeature):
        torch.overrides.enable_reentrant_dispatch()
    with pytest.raises(MissingFeature):
        torch.Tensor._make_subclass(Plain, torch.ones(2), dispatch_device=True)


def test_what_is_refused_is_refused_in_pytorchs_words():
    class Mode(TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 1

    with pytest.raises(RuntimeError, match="as a classmethod is not supported, please make it a plain method"), Mode():
        torch.ones(2)
    with pytest.raises(TypeError, match="expected a sequence"):
        torch.overrides.has_torch_function(object())


def test_distributions_take_what_overrides():
    class Wrapper:
        def __init__(self, tensor):
            self.tensor, self.dtype, self.device = tensor, tensor.dtype, tensor.device

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            found = func(*[a.tensor if isinstance(a, cls) else a for a in args], **(kwargs or {}))
            return type(found)([cls(one) for one in found])

    found = torch.distributions.utils.broadcast_all(Wrapper(torch.ones(3)), torch.zeros(()), 2)
    assert all(type(one) is Wrapper for one in found) and [one.tensor.tolist() for one in found] == [[1] * 3, [0] * 3, [2] * 3]
