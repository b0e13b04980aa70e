"""What processes do together, beside PyTorch's answers: those of its processes where it is installed, else those that were stored."""
import importlib.util
import json

from .together import GOLDENS, answers

# What names its library, or where its loops round otherwise.
LIBRARY = "torch.distributed"


def differences(mine, theirs):
    wrong = []
    for rank, (ours, expected) in enumerate(zip(mine, theirs, strict=True)):
        assert ours.keys() == expected.keys()
        for name in expected:
            text, wanted = (json.dumps(one[name], sort_keys=True) for one in (ours, expected))              # as they were stored
            text = text.replace("jtensor.distributed", LIBRARY)
            if text != wanted:
                wrong.append((name, rank, text, wanted))
    return wrong


def test_processes_answer_as_pytorchs():
    theirs = answers("torch") if importlib.util.find_spec("torch") is not None else json.loads(GOLDENS.read_text())
    mine = answers("jtensor")
    assert mine.keys() == theirs.keys()
    assert [wrong for world in theirs for wrong in differences(mine[world], theirs[world])] == []


def test_a_difference_is_found():
    assert differences([{"a": [1, 2]}], [{"a": [1, 3]}])
