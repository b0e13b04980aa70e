"""A tape that is one write to a large array writes in place, and into a copy where somebody else has the array."""
import numpy as np

import jtensor as torch
from jtensor.tensor.values import read
from jtensor.trace import tape

ROWS = 300                                              # of 300 numbers: 360,000 bytes


def written(x, steps):
    """Where the array lies after each step's write, looked at in between."""
    places = []
    for i in range(steps):
        x[i % ROWS] = float(i)
        assert x[i % ROWS, 3].item() == i
        places.append(read(x).array.unsafe_buffer_pointer())
    return places


def test_rows_of_a_table_are_written_in_place(afresh, monkeypatch):
    monkeypatch.setattr(tape.Local, "threads", 1)          # while another thread has a tape, nothing is written over
    x = torch.zeros(ROWS, ROWS)
    assert len(set(written(x, 12)[6:])) == 1
    kept, expected = x.jax(), x.numpy().copy()
    view, copy = x[:2].t(), x.clone()
    written(x, 3)
    np.testing.assert_array_equal(np.asarray(kept), expected)
    np.testing.assert_array_equal(copy.numpy(), expected)
    assert view[0].tolist() == [0.0, 1.0] and x[2, 5].item() == 2


def test_numbers_that_came_from_the_host_stay_there(afresh):
    array = np.ones((ROWS, ROWS), np.float32)
    for _ in range(5):
        x = torch.tensor(array)
        y = x + 1
        assert y[0, 0].item() == 2 and x[0, 0].item() == 1
        assert (torch.tensor(array) * 3)[1, 1].item() == 3 and array[1, 1] == 1
