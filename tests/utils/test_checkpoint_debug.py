"""`torch.utils.checkpoint` with ``debug``: it runs, and an error says that there are no logs."""
import pytest

import jtensor as torch
from jtensor.utils.checkpoint import CheckpointError, checkpoint, set_checkpoint_debug_enabled


def _other_the_second_time():
    runs = []

    def function(x):
        runs.append(x)
        return ((x if len(runs) % 2 else x[:1]) * 2).sin().sum()
    return function


def test_a_checkpoint_runs_with_debug():
    x = torch.ones(2, requires_grad=True)
    checkpoint(torch.sin, x, use_reentrant=False, debug=True).sum().backward()
    assert torch.equal(x.grad, torch.ones(2).cos())
    with set_checkpoint_debug_enabled(True):
        checkpoint(torch.sin, x, use_reentrant=False).sum().backward()
    with pytest.raises(ValueError, match="`debug` is only supported"):
        checkpoint(torch.sin, x, use_reentrant=True, debug=True)


@pytest.mark.parametrize("asked, by_all, said", [(False, None, False), (True, None, True), (False, True, True), (True, False, False)])
def test_the_error_says_that_there_are_no_logs(asked, by_all, said):
    x = torch.ones(2, requires_grad=True)
    with set_checkpoint_debug_enabled(by_all):
        y = checkpoint(_other_the_second_time(), x, use_reentrant=False, debug=asked)
        with pytest.raises(CheckpointError, match="different metadata") as error:
            y.backward()
    assert ("jtensor keeps no logs" in str(error.value)) == said
