"""Single statements whose outcome under PyTorch is not obvious: what is refused, in which order, and how the result lies in memory.

Each line of ``statements.txt`` runs under both libraries in a scope of small tensors; compared are the error (type and first line), the
result ``r``, and the versions and values of the tensors in the scope.
"""
import enum
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")


class Label(enum.IntEnum):
    THREE = 3


class Part(float):
    pass


PARTS = re.split(r"^== (.+)\n", Path(__file__).with_name("statements.txt").read_text(), flags=re.M)
STATEMENTS = dict(zip(PARTS[1::2], PARTS[2::2], strict=True))


def outcome(library, statement):
    """What the statement does, as text."""
    scope = {"torch": library, "np": np, "x": library.ones(3), "e": library.ones(1).expand(3), "v": library.arange(6.),
             "xg": library.ones(3, requires_grad=True), "m": library.arange(6.).view(2, 3), "z": library.tensor(1.),
             "n0": library.ones(0), "n3": library.ones(0, 3), "three": Label.THREE, "half": Part(0.5)}
    before = {name: t._version for name, t in scope.items() if hasattr(t, "_version")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement.replace("\\n", "\n"), scope)
        r = scope.get("r")
        seen = (r.tolist(), r.stride(), str(r.dtype).split(".")[-1], r.untyped_storage().nbytes()) if hasattr(r, "stride") else \
            (r.tolist(), r.strides, str(r.dtype)) if isinstance(r, np.ndarray) else r
    except Exception as error:
        seen = f"{type(error).__name__}: {error}".splitlines()[0], scope["r"].tolist() if "r" in scope else None
    return seen, {name: (scope[name].tolist(), scope[name]._version) for name in before if scope[name]._version != before[name]}


@pytest.mark.parametrize("group", STATEMENTS)
def test_statements_do_what_they_do_under_pytorch(group):
    wrong = {}
    for line in STATEMENTS[group].splitlines():
        wanted, seen = outcome(torch, line), outcome(jtensor, line)
        assert "NameError" not in repr(wanted) and "SyntaxError" not in repr(wanted), line
        if repr(wanted) != repr(seen):
            wrong[line] = wanted, seen
    assert not wrong
