"""Windows are PyTorch's, to the last bits of the functions that they are made of."""
import pytest

import jtensor

TOP = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]
OTHERS = {name: {} for name in ("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_hamming", "hamming", "hann", "kaiser",
                                "nuttall")}
OTHERS["general_cosine"] = {"a": [0.4, 0.3, 0.3]}


def call(library, path, *args, **options):
    function = library
    for part in path.split("."):
        function = getattr(function, part)
    try:
        made = function(*args, **{k: getattr(library, v) if k == "dtype" else v for k, v in options.items()})
    except Exception as error:
        return type(error), str(error).partition(", got: TensorOptions" if "TensorOptions" in str(error) else ", got: torch.int64")[0]
    return str(made.dtype), made.requires_grad, made.tolist()


def same(path, *args, **options):
    torch = pytest.importorskip("torch")
    ours, theirs = call(jtensor, path, *args, **options), call(torch, path, *args, **options)
    assert ours[:2] == theirs[:2], (args, options)
    if len(theirs) == 3:
        assert ours[2] == pytest.approx(theirs[2], rel=2e-5, abs=1e-6), (args, options)


@pytest.mark.parametrize("name", TOP)
def test_top_level(name):
    for args, options in [
        ((0,), {}),
        ((1,), {}),
        ((2,), {}),
        ((7,), {}),
        ((8, False), {}),
        ((6,), {"dtype": "float64", "requires_grad": True}),
        ((3,), {"dtype": "int64"}),
        ((-1,), {}),
    ]:
        same(name, *args, **options)


@pytest.mark.parametrize("name", OTHERS)
def test_signal(name):
    for args, options in [((0,), {}), ((1,), {}), ((7,), {}), ((8,), {"sym": False, "dtype": "float64"}), ((4,), {"requires_grad": True})]:
        same(f"signal.windows.{name}", *args, **OTHERS[name], **options)
