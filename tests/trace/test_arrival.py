"""Whoever looks at an array that is not there yet stays awake for a while, and not for ever."""
import pytest

import jtensor as torch
from jtensor.trace import arrival


class Late:
    """An array that is there when it has been asked so often."""

    def __init__(self, times):
        self.times = times

    def is_ready(self):
        self.times -= 1
        return self.times < 0


@pytest.mark.parametrize("times", [0, 1, 3])
def test_what_arrives_soon_is_awaited(times, monkeypatch):
    monkeypatch.setattr(arrival, "AWAKE", 60)
    late = Late(times)
    assert arrival.awaited(late) is late and late.times == -1


def test_what_arrives_late_is_left_to_the_runtime(monkeypatch):
    monkeypatch.setattr(arrival, "AWAKE", 0)
    late = Late(10)
    assert arrival.awaited(late) is late and late.times == 9
    monkeypatch.setattr(arrival, "AWAKE", 0.0003)
    assert arrival.awaited(Late(10 ** 9)).times > 0


def test_numbers_are_those_of_the_program():
    a = torch.ones(300, 300)
    assert (a @ a).sum().item() == 300 ** 3 and bool((a @ a)[0, 0] == 300) and (a * 2)[1, 2].item() == 2
