"""An operation that is refused leaves nothing on the tape: the program compiled for the tape serves with and without the attempt."""
import pytest

import jtensor as torch


@pytest.mark.parametrize("pattern", ["rrrrpppp", "pppprrrr", "prprprpr"])
def test_a_refused_operation_numbers_no_input(pattern):
    width = {"rrrrpppp": 3, "pppprrrr": 5, "prprprpr": 7}[pattern]
    wrong = torch.ones(2)
    wrong.tolist()

    def step(refused):
        x = torch.ones(width)
        y = ((x * 2 + 1) * 3 - 1) * x
        if refused:
            with pytest.raises(RuntimeError, match="must match the size"):
                y + wrong
        return (y * y).tolist()
    assert {tuple(step(kind == "r")) for kind in pattern} == {(64.,) * width}
