"""`make_tensor` against live PyTorch: numbers of one seed, strides, refusals."""
import warnings

import pytest

import jtensor

torch = pytest.importorskip("torch")

CALLS = [((3, 2), {}), (((2, 3),), {}), ((), {}), ((4,), {"low": 0, "high": 3}), ((2, 3), {"noncontiguous": True}),
         ((1,), {"noncontiguous": True}), ((50,), {"low": -1, "high": 2, "exclude_zero": True}),
         ((1, 2, 2, 2), {"memory_format": "channels_last"}), ((3,), {"requires_grad": True}), ((3,), {"low": 2, "high": 2}),
         ((3,), {"low": 3, "high": 2}), ((3,), {"low": float("nan")}), ((3,), {"low": -1e400, "high": 1e400}),
         ((3,), {"low": 1e300, "high": 1e301}),
         ((3,), {"noncontiguous": True, "memory_format": "channels_last"}), ((0, 3), {"noncontiguous": True})]
DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()


def made(T, dtype, args, options):
    T.manual_seed(3)
    options = {name: getattr(T, value) if name == "memory_format" else value for name, value in options.items()}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            x = T.testing.make_tensor(*args, dtype=getattr(T, dtype), device="cpu", **options)
        except Exception as error:
            return type(error).__name__, str(error).replace("jtensor", "torch")
    values = repr(x.detach().tolist())
    return tuple(x.shape), x.stride(), str(x.dtype).split(".")[1], x.requires_grad, values, [str(w.message) for w in seen]


@pytest.mark.parametrize("dtype", DTYPES)
def test_make_tensor(dtype):
    for args, options in CALLS:
        assert made(jtensor, dtype, args, options) == made(torch, dtype, args, options), (args, options)
