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


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    for name in ("_asleep", "_failures"):
        monkeypatch.setattr(arrival, name, 0)


@pytest.mark.parametrize("times", [0, 1, 3])
def test_what_arrives_soon_is_awaited(times, monkeypatch):
    monkeypatch.setattr(arrival, "AWAKE", 60)
    late = Late(times)
    assert arrival.awaited(late) is late and late.times == -1


def test_what_arrives_late_is_left_to_the_runtime(monkeypatch):
    monkeypatch.setattr(arrival, "AWAKE", 0)
    late = Late(10)
    assert arrival.awaited(late) is late and late.times == 9


def test_who_stays_awake_in_vain_does_it_less_and_less(monkeypatch):
    monkeypatch.setattr(arrival, "AWAKE", 0.0003)
    slept = [arrival.awaited(Late(10 ** 9)).times == 10 ** 9 - 1 for _ in range(300)]
    tries = [at for at, asleep in enumerate(slept) if not asleep]
    assert tries == [0, 2, 5, 10, 19, 36, 69, 134, 199, 264]
    monkeypatch.setattr(arrival, "_asleep", 0)
    assert arrival.awaited(Late(1)).times == -1 and arrival._failures == 0


def test_numbers_are_those_of_the_program():
    a = torch.ones(300, 300)
    assert (a @ a).sum().item() == 300 ** 3 and bool((a @ a)[0, 0] == 300) and (a * 2)[1, 2].item() == 2
