"""Functions and methods of the library are pickled by where they are found, as PyTorch's are."""
import pickle
from types import FunctionType

import pytest

import jtensor

ROOMS = {"jtensor": jtensor, "linalg": jtensor.linalg, "fft": jtensor.fft, "special": jtensor.special,
         "nn.functional": jtensor.nn.functional, "nn.init": jtensor.nn.init, "Tensor": jtensor.Tensor}
# Those that PyTorch's pickles do not find either: each chooses between two functions.
CHOOSING = {f"{kind}max_pool{n}d" for kind in ("", "adaptive_", "fractional_") for n in (1, 2, 3)}


@pytest.mark.parametrize("room", ROOMS)
def test_public_functions_come_back_from_a_pickle(room):
    wrong = []
    for name in dir(ROOMS[room]):
        function = getattr(ROOMS[room], name)
        if name.startswith("_") or not isinstance(function, FunctionType) or room == "nn.functional" and name in CHOOSING:
            continue
        try:
            if pickle.loads(pickle.dumps(function)) is not function:
                wrong.append(name)
        except Exception as error:
            wrong.append((name, str(error)))
    assert not wrong


def test_what_chooses_is_not_found_by_pytorchs_pickles_either():
    torch = pytest.importorskip("torch")
    for name in CHOOSING & set(dir(torch.nn.functional)):
        with pytest.raises(Exception, match="pickle|not found"):
            pickle.dumps(getattr(torch.nn.functional, name))
