"""Runs one and the same program with jtensor and with torch, and compares what it answers."""
import importlib
import warnings

import numpy as np
import pytest


def plain(x):
    """Tensors as (dtype, nested lists), containers gone through, everything else as it is."""
    if hasattr(x, "detach") and hasattr(x, "dtype"):
        return str(x.dtype), np.asarray(x.detach().numpy()).tolist()
    if isinstance(x, dict):
        return {plain(key) if not isinstance(key, str) else key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    return x


def raised(function):
    """The exception's type and text, as a program's answer."""
    try:
        function()
    except Exception as e:
        return type(e).__name__, str(e).replace("jtensor", "torch")
    return "nothing raised"


def warned(function):
    """The categories and texts of the warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function()
    return [(w.category.__name__, str(w.message)) for w in seen]


def both(program):
    """``program(torch)`` in torch and in jtensor: (torch's answer, jtensor's)."""
    torch = pytest.importorskip("torch")
    answers = []
    for library in (torch, importlib.import_module("jtensor")):
        library.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers.append(plain(program(library)))
    return answers


def same(program):
    """Asserts that a program answers alike in both."""
    theirs, ours = both(program)
    if ours != theirs:
        pairs = zip(theirs, ours) if isinstance(theirs, list) and isinstance(ours, list) else [(theirs, ours)]
        pytest.fail("\n".join(f"{i}: torch {a!r}\n{i}: jtensor {b!r}" for i, (a, b) in enumerate(pairs) if a != b) or "lengths differ")


def close(program, rtol=1e-5, atol=1e-6):
    """Asserts that a program's numbers are close in both, everything else alike."""
    def compare(a, b, path):
        if isinstance(a, dict):
            assert list(a) == list(b), path
            for key in a:
                compare(a[key], b[key], f"{path}.{key}")
        elif isinstance(a, (list, tuple)):
            assert len(a) == len(b), path
            for i, pair in enumerate(zip(a, b)):
                compare(*pair, f"{path}[{i}]")
        elif isinstance(a, float):
            np.testing.assert_allclose(b, a, rtol=rtol, atol=atol, err_msg=path)
        else:
            assert a == b, path

    theirs, ours = both(program)
    compare(theirs, ours, "answer")
