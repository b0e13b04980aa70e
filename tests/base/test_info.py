"""`torch.finfo` and `torch.iinfo` beside live PyTorch."""
import copy
import pickle

import pytest

from jtensor.base import dtypes
from jtensor.base.info import finfo, iinfo

FIELDS = ["bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"]
PROGRAMS = [
    "fi()", "ii()", "fi(3)", "ii('a')", "fi(None)", "fi(type=d.float16)", "ii(type=d.int8)", "fi(dtype=d.float32)", "ii(dtype=d.int8)",
    "fi(d.float32, 1)", "ii(3, 4)", "fi(float)", "fi(complex)", "ii(int)", "ii(float)", "fi(bool)", "ii(bool)", "fi(str)",
    "fi(d.float32) == fi(d.float32)", "fi(d.float32) != fi(d.float16)", "fi(d.float32) == 3", "fi(d.complex64) == fi(d.float32)",
    "ii(d.int8) == ii(d.int8)", "ii(d.int8) == fi(d.float16)", "fi(d.float32) < fi(d.float16)", "hash(fi(d.float32))", "hash(ii(d.int8))",
    "fi", "ii", "fi.__module__", "fi.__name__", "ii.__qualname__", "fi(d.float32).foo", "type(fi(d.float32).dtype)", "str(ii(d.int8))",
    "pickle.dumps(fi(d.float32))", "copy.copy(ii(d.int8))", "type('Derived', (fi,), {})",
    "setattr(fi(d.float32), 'eps', 3)", "setattr(fi(d.float32), 'bits', 3)", "setattr(ii(d.int8), 'foo', 3)",
]


def outcome(program, **scope):
    try:
        value = eval(program, {"pickle": pickle, "copy": copy, **scope})
    except Exception as error:
        return type(error), str(error)
    return "type" if isinstance(value, type) else type(value).__name__, repr(value)


@pytest.mark.parametrize("d", dtypes.ALL, ids=repr)
def test_limits_are_pytorchs(d):
    torch = pytest.importorskip("torch")
    for name, mine in (("finfo", finfo), ("iinfo", iinfo)):
        def answer(f, dtype):
            info = f(dtype)
            return repr(info), [getattr(info, field, None) for field in FIELDS], [type(getattr(info, field, None)) for field in FIELDS]

        scope = {"answer": answer, "f": getattr(torch, name), "d": getattr(torch, d.name)}
        assert outcome("answer(f, d)", **{**scope, "f": mine, "d": d}) == outcome("answer(f, d)", **scope)


@pytest.mark.parametrize("program", PROGRAMS)
def test_texts_and_refusals_are_pytorchs(program):
    torch = pytest.importorskip("torch")
    assert outcome(program, fi=finfo, ii=iinfo, d=dtypes) == outcome(program, fi=torch.finfo, ii=torch.iinfo, d=torch)


def test_default_dtype_counts():
    dtypes.set_default_dtype(dtypes.float64)
    try:
        assert finfo().bits == 64
    finally:
        dtypes.set_default_dtype(dtypes.float32)
    assert finfo().eps == 2.0**-23 and iinfo(dtypes.uint64).max == 2**64 - 1
