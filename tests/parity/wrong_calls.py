"""Wrong calls, as users make them: what PyTorch says of each, and that the tensors are afterwards what it leaves them.

Each line runs in a scope of small tensors. Seen are the type and first line of the exception, and what has become of the tensors that
are there (value, shape, version, gradient). What PyTorch shows is stored in ``tests/goldens/wrong_calls.json``.

    python tests/parity/wrong_calls.py --store        asks live PyTorch again
"""
import importlib
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np

CALLS = Path(__file__).with_suffix(".txt")
GOLDENS = CALLS.parents[1] / "goldens" / "wrong_calls.json"
NAMES = ("x", "m", "i", "b", "c", "z", "xg")


def calls():
    """The statements of the file, one on a line."""
    return CALLS.read_text().splitlines()


def scope(name):
    """What a statement finds, of one library or the other."""
    torch = importlib.import_module(name)
    torch.distributions.Distribution.set_default_validate_args(True)       # PyTorch's compiler switches it off when it is imported
    return {"torch": torch, "np": np, "F": torch.nn.functional, "nn": torch.nn, "optim": importlib.import_module(name + ".optim"),
            "data": importlib.import_module(name + ".utils.data"), "x": torch.ones(3), "m": torch.arange(6.).view(2, 3),
            "i": torch.tensor([0, 1, 2]), "b": torch.tensor([True, False, True]), "c": torch.ones(3, dtype=torch.complex64),
            "z": torch.tensor(1.), "xg": torch.ones(3, requires_grad=True), "me": torch.ones(3, device="meta")}


def state(t):
    """What is compared of a tensor, as text."""
    grad = t.grad.tolist() if t.is_leaf and t.grad is not None else None
    return repr((t.tolist(), tuple(t.shape), t._version, t.requires_grad, t.is_leaf, grad))


def seen(name, statement):
    """[the exception, {tensor: state} of those that are not as they were]."""
    found = scope(name)
    tensors = {key: found[key] for key in NAMES}
    before = {key: state(t) for key, t in tensors.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(statement.replace("\\n", "\n"), "<call>", "exec"), found)
            said = "nothing"
        except Exception as error:
            said = f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"
    said = re.sub("0x[0-9a-f]+", "0x", said).replace("jtensor.", "torch.")
    return [said, {key: after for key, t in tensors.items() if (after := state(t)) != before[key]}]


if __name__ == "__main__":
    sys.path.insert(0, str(CALLS.parents[2]))
    if "--store" in sys.argv:
        GOLDENS.write_text(json.dumps({call: seen("torch", call) for call in calls()}, indent=0) + "\n")
    stored = json.loads(GOLDENS.read_text())
    for call in calls():
        if (ours := seen("jtensor", call)) != stored[call]:
            print(f"{call}\n    PyTorch {stored[call]}\n    jtensor {ours}")
