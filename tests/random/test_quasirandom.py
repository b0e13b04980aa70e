"""Sobol's points: PyTorch's to the bit, and as evenly spread as they must be."""
import numpy as np
import pytest

import jtensor
from jtensor.quasirandom import _directions


def programs(torch):
    engine = torch.quasirandom.SobolEngine
    a, b, c = engine(5), engine(70, scramble=True, seed=7), engine(3, scramble=True)
    yield a.draw(1), a.draw(6), a.draw(), a.num_generated, a.quasi, a.reset().draw(2), a.fast_forward(9).draw(3), repr(a)
    yield b.draw(33), b.draw(3, dtype=torch.float64), b.sobolstate, b.shift, repr(b), b._first_point
    yield c.draw(4), c.draw(0), c.fast_forward(0).num_generated, engine(2).draw_base2(3)
    out = torch.zeros(0)
    yield engine(2).draw(3, out=out), out, engine(3).fast_forward(1000).draw(2), engine(1).fast_forward(2).draw()
    for wrong in (lambda: engine(0), lambda: engine(21202), lambda: engine(2).draw(0), lambda: engine(2).draw(-1),
                  lambda: engine(2).fast_forward(3).draw_base2(2), lambda: engine(2).draw(3, dtype=torch.int32),
                  lambda: engine(2).draw(3, dtype=torch.float16)):
        try:
            yield [wrong()]
        except Exception as error:
            yield type(error).__name__, str(error)


def plain(answer):
    return [(str(t.dtype), t.tolist()) if hasattr(t, "tolist") else t for t in answer]


def test_points_are_pytorchs():
    torch = pytest.importorskip("torch")
    answers = []
    for library in (torch, jtensor):
        library.manual_seed(4)
        answers.append([plain(answer) for answer in programs(library)])
    assert answers[0] == answers[1]


def test_all_direction_numbers_are_pytorchs():
    torch = pytest.importorskip("torch")
    theirs = torch.zeros(21201, 30, dtype=torch.int64)
    torch._sobol_engine_initialize_state_(theirs, 21201)
    assert (_directions(21201) == theirs.numpy()).all()


def test_stored_points():
    """What PyTorch 2.13 answers."""
    assert jtensor.quasirandom.SobolEngine(3).draw(6)[4:].tolist() == [[0.375, 0.375, 0.625], [0.875, 0.875, 0.125]]
    assert jtensor.quasirandom.SobolEngine(3, scramble=True, seed=3).shift.tolist() == [73513868, 241083994, 750744354]


@pytest.mark.parametrize("scramble", [False, True])
def test_each_interval_of_each_dimension_has_its_point(scramble):
    points = jtensor.quasirandom.SobolEngine(40, scramble=scramble, seed=1).draw(64).numpy()
    assert (np.sort(np.floor(points * 64), 0) == np.arange(64)[:, None]).all()


@pytest.mark.parametrize("scramble", [False, True])
def test_in_one_piece_or_in_several(scramble):
    def engine():
        return jtensor.quasirandom.SobolEngine(4, scramble=scramble, seed=2)
    whole, parts, skipped = engine().draw(20), engine(), engine().fast_forward(12)
    assert jtensor.equal(jtensor.cat([parts.draw(n) for n in (1, 0, 7, 12)]), whole) and jtensor.equal(skipped.draw(8), whole[12:])
