"""The device that `with torch.device(...)` or `torch.set_default_device` chooses: what follows it and what does not, as under PyTorch."""
import threading

import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")

MADE = """
as_tensor(c)
as_tensor(a)
as_tensor([1])
tensor(c.clone())
tensor(a)
asarray(c)
asarray(a)
from_numpy(a)
Tensor(2)
Tensor([1.])
DoubleTensor(2)
normal(0., 1., (2,))
normal(0., 1., (2,), device="meta")
tril_indices(2, 2)
triu_indices(2, 2)
triu_indices(2, 2, device="cpu")
range(0, 2)
arange(2)
linspace(0, 1, 2)
zeros_like(c)
quasirandom.SobolEngine(2, scramble=True, seed=1).draw(1)
UntypedStorage(3)
FloatStorage(3)
utils.data.default_convert(a)
nn.Linear(1, 1).weight
zeros(2, out=c)
arange(2., out=c)
"""


def _place(library, line):
    given = {"c": library.ones(2), "a": np.ones(2)}
    try:
        with library.device("meta"):
            return str(eval(f"torch.{line}", {"torch": library, **given}).device)
    except RuntimeError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", MADE.strip().splitlines())
def test_what_is_made_follows_the_chosen_device_or_not(line):
    assert _place(jtensor, line) == _place(torch, line)


@pytest.mark.parametrize("library", [torch, jtensor], ids=["torch", "jtensor"])
def test_a_thread_chooses_for_itself(library):
    seen = []

    def look():
        seen.append((str(library.ones(1).device), str(library.get_default_device())))

    library.set_default_device("meta")
    try:
        look()
        with library.device("cpu"):
            look()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    finally:
        library.set_default_device(None)
    assert seen == [("meta", "meta"), ("cpu", "cpu"), ("cpu", "cpu")]
