"""Files of TorchScript that PyTorch wrote, read here: they compute what they compute there. Kept files with PyTorch's answers, and live.

``python tests/jit/test_files.py`` writes the kept files anew.
"""
import contextlib
import io
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import jtensor
from jtensor.base.errors import MissingFeature

KEPT = Path(__file__).parents[1] / "goldens" / "torchscript"
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning", "ignore:.*torch.jit.script:DeprecationWarning")
NAMES = ["net", "language", "tensors", "layers", "pictures", "losses", "algebra"]


@contextlib.contextmanager
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                # TorchScript is deprecated, tracing warns of Python's values
        yield


def _cases():
    pytest.importorskip("torch")
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        with _quiet():
            import cases
    finally:
        sys.path.pop(0)
    return cases


def _files(way):
    """{name: (PyTorch's module read from a file, its inputs, the file's bytes)}, by `torch.jit.script` or traced."""
    cases = _cases()
    import torch
    made = {}
    with _quiet():
        for name, (module, given) in cases.inputs().items():
            if way == "trace" and name == "tensors":          # answers texts and truths, which cannot be traced
                continue
            program = torch.jit.script(module) if way == "script" else torch.jit.trace(module, given, strict=False, check_trace=False)
            file = io.BytesIO()
            torch.jit.save(program, file)
            made[name] = torch.jit.load(io.BytesIO(file.getvalue())), given, file.getvalue()
    return made


@pytest.fixture(scope="module")
def scripted():
    return _files("script")


@pytest.fixture(scope="module")
def traced():
    return _files("trace")


def _plain(x):
    """An answer as JSON has it, tensors as [dtype, shape, numbers]."""
    if hasattr(x, "detach"):
        x = x.detach()
        return {"tensor": str(x.dtype), "size": list(x.shape), "numbers": np.asarray(x.tolist()).ravel().tolist()}
    if isinstance(x, dict):
        return {"dict": [[_plain(key), _plain(value)] for key, value in x.items()]}
    if isinstance(x, (list, tuple)):
        return {type(x).__name__: [_plain(one) for one in x]}
    return x


def _same(ours, theirs):
    """Asserts that two such answers agree, numbers of tensors to their last digits."""
    if isinstance(theirs, dict) and "tensor" in theirs:
        assert (ours["tensor"], ours["size"]) == (theirs["tensor"], theirs["size"])
        np.testing.assert_allclose(ours["numbers"], theirs["numbers"], rtol=1e-5, atol=2e-6)
    elif isinstance(theirs, dict):
        (kind, parts), = theirs.items()
        assert list(ours) == [kind] and len(ours[kind]) == len(parts)
        for one, other in zip(ours[kind], parts, strict=True):
            _same(one, other)
    elif isinstance(theirs, list):
        for one, other in zip(ours, theirs, strict=True):
            _same(one, other)
    else:
        assert ours == theirs and type(ours) is type(theirs)


def _here(tensors):
    return [jtensor.tensor(t.tolist(), dtype=getattr(jtensor, str(t.dtype).removeprefix("torch."))) for t in tensors]


def _read(data):
    return jtensor.jit.load(io.BytesIO(data))


@pytest.mark.parametrize("name", NAMES)
def test_a_scripted_module(name, scripted):
    theirs, given, data = scripted[name]
    ours = _read(data)
    assert str(ours) == str(theirs) and ours.code.startswith("def forward(")
    assert list(ours.state_dict()) == list(theirs.state_dict())
    _same(_plain(ours(*_here(given))), _plain(theirs(*given)))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "tensors"])
def test_a_traced_module(name, traced):
    theirs, given, data = traced[name]
    _same(_plain(_read(data)(*_here(given))), _plain(theirs(*given)))


def _told(module, method, arguments, lib):
    positional = [eval(text, {"torch": lib}) for text in arguments if "=" not in text]
    named = {text.partition("=")[0]: eval(text.partition("=")[2], {"torch": lib}) for text in arguments if "=" in text}
    try:
        return repr(getattr(module, method)(*positional, **named))
    except Exception as error:
        lines = str(error).splitlines()
        if "interpreter" in lines[0]:                         # those between are the program's, with more of them there
            return f"{type(error).__name__}: {lines[0]} {lines[-1]}"
        return f"{type(error).__name__}: {error}"


def test_methods(scripted):
    cases = _cases()
    import torch
    for name, method, arguments in cases.METHODS:
        if (name, method, arguments) != ("net", "forward", ["torch.ones(2)"]):        # whose last line is a mark under the program there
            theirs = _told(scripted[name][0], method, arguments, torch)
            assert _told(_read(scripted[name][2]) if method != "count" else _counted(scripted), method, arguments, jtensor) == theirs


def _counted(scripted, kept=[]):                              # noqa: B006 - one module for both calls that change it
    if not kept:
        kept.append(_read(scripted["net"][2]))
    return kept[0]


@pytest.mark.parametrize("name", ["net", "layers"])
def test_what_is_written_is_read_by_pytorch(name, scripted):
    read, given, data = scripted[name]
    ours = _read(data)
    with jtensor.no_grad():
        for p in ours.parameters():
            p.mul_(1.5)
    file = io.BytesIO()
    jtensor.jit.save(ours, file, _extra_files={"note.txt": "hello"})
    import torch
    with _quiet():
        extra = {"note.txt": ""}
        theirs = torch.jit.load(io.BytesIO(file.getvalue()), _extra_files=extra)
        assert extra == {"note.txt": b"hello"} and theirs.code == read.code and theirs.training == ours.training
        _same(_plain(ours(*_here(given))), _plain(theirs(*given)))


def test_it_trains_as_there(scripted):
    import torch
    _, given, data = scripted["net"]
    losses = []
    for lib, (x,) in ((jtensor, _here(given)), (torch, given)):
        module = lib.jit.load(io.BytesIO(data))
        module.train()
        optimizer = lib.optim.SGD(module.parameters(), lr=0.001)
        lib.manual_seed(5)
        found = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = module(x)[0].square().mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        losses.append(found)
    np.testing.assert_allclose(*losses, rtol=1e-4)


# -- kept files: without PyTorch ----------------------------------------------------------------------------------------

def _kept():
    return json.loads((KEPT / "answers.json").read_text())


@pytest.mark.parametrize("name", ["net", "language", "losses"])
def test_kept_files(name):
    kept = _kept()[name]
    module = jtensor.jit.load(KEPT / f"{name}.pt")
    given = [jtensor.tensor(x["numbers"], dtype=getattr(jtensor, x["tensor"].removeprefix("torch."))).view(x["size"])
             for x in kept["given"]]
    _same(json.loads(json.dumps(_plain(module(*given)))), kept["answer"])
    assert str(module) == kept["text"]


@pytest.mark.parametrize("at", range(22))
def test_kept_methods(at):
    name, method, arguments, told = _kept()["methods"][at]
    assert _told(jtensor.jit.load(KEPT / f"{name}.pt"), method, arguments, jtensor) == told


def test_a_module_of_a_file_is_a_module():
    module = jtensor.jit.load(KEPT / "net.pt")
    assert isinstance(module, jtensor.nn.Module) and isinstance(module, jtensor.jit.ScriptModule)
    assert [name for name, _ in module.named_children()] == ["c", "bn", "l", "drop"]
    assert module.to(jtensor.float64).c.weight.dtype is jtensor.float64
    import copy
    other = copy.deepcopy(module)
    with jtensor.no_grad():
        other.c.weight.zero_()
    assert module.c.weight.any() and other.code == module.code
    assert module.c.stride == (1, 1) and module.n == 3
    with pytest.raises(RuntimeError, match="Could not cast attribute 'n' to type int"):
        module.n = "a"
    with pytest.raises(AttributeError, match="Cannot mutate TorchScript constant value: 'stride'"):
        module.c.stride = 2
    with pytest.raises(AttributeError, match="'RecursiveScriptModule' object has no attribute 'zzz'"):
        _ = module.zzz
    with pytest.raises(MissingFeature, match="module.code"):
        _ = module.graph


def test_files_that_are_none(tmp_path):
    jtensor.save({"a": 1}, tmp_path / "weights.pt")
    (tmp_path / "text.pt").write_text("no archive")
    with pytest.raises(ValueError, match="does not exist"):
        jtensor.jit.load(tmp_path / "nothing.pt")
    with pytest.raises(RuntimeError, match="failed finding central directory"):
        jtensor.jit.load(tmp_path / "text.pt")
    with pytest.raises(RuntimeError, match="failed locating file constants.pkl: file not found"):
        jtensor.jit.load(tmp_path / "weights.pt")
    with pytest.raises(RuntimeError, match="Cannot use ``weights_only=True`` with TorchScript archives"):
        jtensor.load(KEPT / "net.pt")
    with pytest.warns(UserWarning, match="looks like a TorchScript archive dispatching to 'torch.jit.load'"):
        assert type(jtensor.load(KEPT / "net.pt", weights_only=False)).__name__ == "RecursiveScriptModule"
    with pytest.raises(MissingFeature, match="written in Python"):
        jtensor.jit.save(jtensor.nn.Linear(2, 2), tmp_path / "other.pt")
    assert not (tmp_path / "other.pt").exists()


# -- a file may come from anybody ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("body", [
    "return x.__class__", "import os", "return open('f')", "return torch.load('f')", "return torch.save(x, 'f')", "return (lambda: x)()",
    "return [k for k in x]", "return torch.hub.load(x)", "return x.tofile('f')", "return ops.prim.PythonOp(x)",
    "return __import__('os')", "return eval('1')", "global y", "del x", "return ops.__class__.__subclasses__()",
    "return ops.__dict__.get('load_library')", "return [x][0](x)", "return torch.__dict__.get(x)", "return {}.update"])
def test_a_program_does_no_more_than_torchscript(body):
    from jtensor.jit import programs
    unit = programs.Unit({"__torch__.py": f"def f(x: Tensor) -> Tensor:\n  {body}\n"})
    with pytest.raises((MissingFeature, AttributeError, RuntimeError)):
        unit.find("__torch__.f")(jtensor.ones(2))


def _write():
    KEPT.mkdir(exist_ok=True)
    cases, answers = _cases(), {}
    files = _files("script")
    for name in ("net", "language", "losses"):
        theirs, given, data = files[name]
        (KEPT / f"{name}.pt").write_bytes(data)
        answers[name] = {"given": [_plain(x) for x in given], "answer": _plain(theirs(*given)), "text": str(theirs)}
    import torch
    with _quiet():
        answers["methods"] = [[name, method, arguments, _told(torch.jit.load(io.BytesIO(files[name][2])), method, arguments, torch)]
                              for name, method, arguments in cases.METHODS if arguments != ["torch.ones(2)"] or method != "forward"]
    (KEPT / "answers.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    _write()
