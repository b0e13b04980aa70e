"""What anomaly detection shows of a script that `python -m jtensor` runs: the script's own frames, as if Python had run it."""
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import warnings
import torch

def root(x):
    return x.sqrt()

with warnings.catch_warnings(record=True) as seen, torch.autograd.detect_anomaly():
    warnings.simplefilter("always")
    y = root(torch.tensor([-1.0], requires_grad=True))
    try:
        y.sum().backward()
    except RuntimeError as error:
        print(error)
print(str(seen[-1].message).split(" (Triggered")[0])
"""


def test_the_traceback_begins_in_the_script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    found = subprocess.run([sys.executable, "-m", "jtensor", str(path)], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert found.stdout.splitlines() == [
        "Function 'SqrtBackward0' returned nan values in its 0th output.",
        "Error detected in SqrtBackward0. Traceback of forward call that caused the error:",
        f'  File "{path}", line 10, in <module>', "    y = root(torch.tensor([-1.0], requires_grad=True))",
        f'  File "{path}", line 6, in root', "    return x.sqrt()", ""], found.stderr
