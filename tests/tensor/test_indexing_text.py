"""Text in a list that is an index is refused by the type of error that programs fall back on."""
import pytest

import jtensor

INDICES = {
    "list": (slice(None), ["a", "c"]), "alone": ["a"], "text": "a", "nested": [["a"]], "bytes": (slice(None), [b"a"]), "second": [1, "a"],
    "tuple": (slice(None), ("a",)), "object": (slice(None), [object()]), "none": (slice(None), [None]), "dict": (slice(None), [{}]),
}


def told(torch, index):
    x = torch.ones(2, 2)
    found = []
    for call in (lambda: x[index], lambda: x.__setitem__(index, 0)):
        try:
            call()
        except Exception as error:
            found.append((type(error).__name__, str(error).split("\n")[0]))
    return found


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("name", INDICES)
def test_as_in_pytorch(name):
    torch = pytest.importorskip("torch")
    assert told(jtensor, INDICES[name]) == told(torch, INDICES[name])


def test_text():
    assert told(jtensor, INDICES["list"]) == [("TypeError", "new(): invalid data type 'str'")] * 2
    assert told(jtensor, INDICES["bytes"]) == [("TypeError", "new(): invalid data type 'bytes'")] * 2
