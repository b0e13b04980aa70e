"""Arguments as PyTorch binds them: what a function takes whatever Python thinks of it, and what a refused call leaves behind."""
import importlib.util
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import jtensor as torch
from jtensor.tensor.calling import taking
from jtensor.tensor.calling.refusals import refusal
from jtensor.tensor.calling.taking import signatures

NAMES = [line.split(" ", 1)[0] for line in Path(taking.__file__).with_name("signatures.txt").read_text().splitlines()]


def refused(call):
    with pytest.raises(TypeError) as caught:
        call()
    return str(caught.value).splitlines()[0]


def test_a_refused_operation_leaves_nothing_on_the_tape():
    there, gone = torch.ones(3), torch.ones(3, device="meta")
    doubled, number = there * 2, torch.tensor(1.)
    for call in (lambda: there + gone, lambda: gone * there, lambda: torch.atan2(there, gone), lambda: gone + number,
                 lambda: number * gone):
        try:
            call()
        except RuntimeError:
            pass
    assert doubled.tolist() == [2, 2, 2] and (there + number).tolist() == [2, 2, 2]


def test_a_static_argument_of_another_type_is_refused_before_anything_is_recorded():
    x = torch.ones(3)
    assert refused(lambda: x.logit_(x)) == "logit_(): argument 'eps' (position 1) must be float, not Tensor"
    assert refused(lambda: x.topk(np.float32(1))) == "topk(): argument 'k' (position 1) must be int, not numpy.float32"
    assert refused(lambda: x.cumsum(0.0)) == "cumsum(): argument 'dim' (position 1) must be int, not float"
    assert x.tolist() == [1, 1, 1] and x._version == 0


def test_what_was_written_as_a_keyword_is_called_so():
    x = torch.ones(3)
    assert refused(lambda: torch.sum(x, "a")).startswith("sum() received an invalid combination of arguments - got (Tensor, str),")
    assert refused(lambda: torch.sum(x, dim="a")).startswith("sum() received an invalid combination of arguments - got (Tensor, dim=str),")
    assert refused(lambda: x.cumsum(dim="a")) == "cumsum(): argument 'dim' must be int, not str"


def test_the_names_of_numpy_are_taken():
    x = torch.arange(6.).view(2, 3)
    assert torch.sum(x, axis=0, keepdims=True).shape == (1, 3) and x.mean(axis=1).shape == (2,)
    assert torch.add(x=x, x2=x).shape == (2, 3)
    assert x.view(size=(3, 2)).shape == x.reshape(shape=[3, 2]).shape == x.permute(dims=(1, 0)).shape == (3, 2)
    assert bool(np.all(torch.tensor([True, True])))                 # chex asks so


def test_a_second_name_speaks_of_itself():
    assert refused(lambda: torch.absolute("a")) == "absolute(): argument 'input' (position 1) must be Tensor, not str"
    assert refused(lambda: torch.ones(2).arccos(1)) == "TensorBase.arccos() takes no arguments (1 given)"


def test_keywords_that_cannot_be_told_may_have_been_written():
    """Of ``f(*args, **options)`` the code does not say what was named."""
    options, out = {"dim": 0, "descending": True, "stable": True}, (torch.empty(0), torch.empty(0, dtype=torch.int64))
    assert torch.sort(torch.tensor([1., 3., 2.]), **options, out=out)[1].tolist() == [1, 2, 0]
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.sort(torch.ones(3), **options | {"dim": 5})
    assert torch.argsort(torch.tensor([1., 3., 2.]), **options).tolist() == [1, 2, 0]
    assert torch.tensor([1., 3., 2.]).argsort(**options).tolist() == [1, 2, 0]


def test_methods_have_no_out():
    x = torch.ones(3)
    assert "out=Tensor" in refused(lambda: x.eq(x, out=torch.zeros(3, dtype=torch.bool)))
    assert torch.add(x, x, out=torch.zeros(3)).tolist() == [2, 2, 2]


def test_every_line_of_the_file_is_understood():
    for name in NAMES:
        assert signatures(name)


CALLS = {"none": ((), {}), "text": (("a",), {}), "number": ((1,), {}), "list": (([1.5],), {}), "many": ((0,) * 12, {}),
         "odd": ((0,), {"foo": 1})}


def test_refusals_are_pytorchs():
    """Calls that no function takes, of one function in nine."""
    oracle = pytest.importorskip("torch")
    wrong = {}
    for name in NAMES[::9]:
        method = name.startswith("Tensor.")
        inner = name.startswith("nn.")
        space = oracle.ones(3) if method else oracle._C._nn if inner else oracle if hasattr(oracle, name) else oracle.nn.functional
        function = getattr(space, name.removeprefix("Tensor.").removeprefix("nn."), None)
        for kind, (args, kwargs) in CALLS.items() if type(function) is type(oracle.relu) else ():     # others Python binds
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    function(*args, **kwargs)
                except TypeError as error:
                    said = re.sub(r"^Tensor\.", "TensorBase.", str(error).splitlines()[0])      # so a bound method calls itself
                except Exception:
                    continue
                else:
                    continue
            ours = refusal(name, args, kwargs)
            if ours is not None and str(ours).splitlines()[0] != said:
                wrong[name, kind] = said, str(ours).splitlines()[0]
    assert not wrong


def test_the_file_is_up_to_date():
    pytest.importorskip("torch")
    path = Path(__file__).parents[1] / "house" / "make_signatures.py"
    spec = importlib.util.spec_from_file_location("make_signatures", path)
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert maker.PATH.read_text().splitlines() == maker.lines()


def test_other_names_of_arguments_are_known_beside_subclasses():
    class Mine(torch.Tensor):
        pass

    m = torch.ones(3, 3)
    assert type(m.as_subclass(Mine) + 1) is Mine                    # from now on classes are asked before functions
    assert [len(pieces) for pieces in (torch.hsplit(m, sections=3), torch.tensor_split(m, indices=(1,)))] == [3, 2]
    assert torch.linalg.cholesky(input=torch.eye(2)).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'output_size'"):
        torch.nn.functional.adaptive_max_pool2d(m[None])


def test_the_size_of_pieces_has_a_name_of_its_own_in_the_method():
    x = torch.arange(5.0)
    assert [list(map(len, x.split(split_size=n))) for n in (2, [1, 4])] == [[2, 2, 1], [1, 4]]
    assert len(torch.split(x, split_size_or_sections=2)) == 3
    for refused in (lambda: x.split(split_size_or_sections=2), lambda: torch.split(x, split_size=2)):
        with pytest.raises(TypeError):
            refused()
