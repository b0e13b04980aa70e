"""Environment variables and bounded tables."""
import pytest

from jtensor.base import bounded, switches


@pytest.mark.parametrize("said, on", [("1", True), ("true", True), ("ON", True), (" yes ", True), ("0", False), ("False", False),
                                      ("no", False), ("off", False), ("", None)])
def test_what_counts_as_on(said, on):
    for default in (True, False):
        assert switches.is_on("JTENSOR_X", default, {"JTENSOR_X": said}) is (default if on is None else on)
        assert switches.is_on("JTENSOR_X", default, {}) is default


def test_what_is_neither_is_said():
    with pytest.warns(RuntimeWarning, match="JTENSOR_X='maybe' is neither 1 nor 0: it counts as 1") as found:
        assert switches.is_on("JTENSOR_X", True, {"JTENSOR_X": "maybe"})
    assert found[0].filename == __file__


@pytest.mark.parametrize("said, count", [("12", 12), ("1k", 1 << 10), ("500M", 500 << 20), ("2GB", 2 << 30), ("2GiB", 2 << 30),
                                         ("1T", 1 << 40), ("7b", 7), ("", 5)])
def test_sizes(said, count):
    assert switches.bytes_of("JTENSOR_X", 5, {"JTENSOR_X": said}) == count


@pytest.mark.parametrize("said", ["many", "1.5G", "-1", "G", "5X", "5KM"])
def test_what_is_no_size_is_said(said):
    with pytest.warns(RuntimeWarning, match="is no number of bytes, such as 500M: it counts as 5"):
        assert switches.bytes_of("JTENSOR_X", 5, {"JTENSOR_X": said}) == 5


def test_a_bounded_table_begins_anew():
    table = bounded.Bounded(3)
    for key in (1, 2, 3, 3, 2):
        table[key] = key                        # of what is there, nothing goes
    assert table == {1: 1, 2: 2, 3: 3}
    table[4] = 4
    assert table == {4: 4} and table.get(1) is None
