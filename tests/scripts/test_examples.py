"""Every script of `examples/` runs under `python -m jtensor`; where PyTorch is installed it prints what it prints there."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
ARGUMENTS = {"digits.py": ["--epochs", "15"], "heat.py": ["--steps", "40"], "life.py": ["--generations", "20"]}

# Scripts whose numbers pass through long sums, with the relative difference allowed and its reason. All other text is equal.
LOOSE = {"digits.py": (1e-3, "the order of summation in matmul differs in the last bit and training amplifies it")}
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def printed(*command):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")])}
    options = {"capture_output": True, "text": True, "cwd": EXAMPLES, "stdin": subprocess.DEVNULL, "timeout": 1200}
    found = subprocess.run([sys.executable, *command], env=env, **options)
    assert found.returncode == 0, found.stderr[-3000:]
    return found.stdout


def differences(ours, theirs, tolerance):
    """Lines that differ: in any character but digits of numbers, or in a number by more than the tolerance."""
    pairs = list(zip(ours.splitlines(), theirs.splitlines(), strict=True))
    return [pair for pair in pairs if pair[0] != pair[1] and not (tolerance and _close(*pair, tolerance))]


def _close(a, b, tolerance):
    texts = [re.sub(r" +", " ", NUMBER.sub("#", line)) for line in (a, b)]
    x, y = ([float(number) for number in NUMBER.findall(line)] for line in (a, b))
    return texts[0] == texts[1] and all(abs(p - q) <= tolerance * max(abs(p), abs(q)) for p, q in zip(x, y, strict=True))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_prints_what_torch_prints(script):
    arguments = [str(script), *ARGUMENTS.get(script.name, [])]
    ours = printed("-m", "jtensor", *arguments)
    assert ours.strip()
    if script.name == "digits.py":
        assert float(re.fullmatch(r"test accuracy ([\d.]+)%", ours.splitlines()[-1]).group(1)) > 95
    if importlib.util.find_spec("torch") is None:
        pytest.skip("ran under jtensor; PyTorch, to compare with, is not installed")
    tolerance, _ = LOOSE.get(script.name, (0, None))
    assert not differences(ours, printed(*arguments), tolerance)


def test_differences_are_seen():
    assert differences("loss 0.5\nx", "loss 0.5\nx", 0) == []
    assert differences("loss 0.5", "loss 0.5001", 0) and not differences("loss 0.5", "loss 0.5001", 1e-3)
    assert differences("loss 0.5", "loss 0.6", 1e-2) and differences("loss 0.5", "Loss 0.5", 1e-2)
    with pytest.raises(ValueError):
        differences("a\nb", "a", 0)


@pytest.mark.skipif("CI" not in os.environ, reason="takes a kernel of its own; CI runs it")
@pytest.mark.parametrize("notebook", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_the_notebook_prints_the_same_twice(notebook, tmp_path):
    """Both libraries in one process, on the same cells; every pair of printed texts is equal."""
    for needed in ("torch", "matplotlib", "ipykernel", "nbclient"):
        pytest.importorskip(needed)
    cells = pytest.importorskip("nbformat").read(notebook, 4).cells
    path = tmp_path / "run.py"  # in a process of its own: the client runs an event loop and warns about its own affairs
    path.write_text(
        "import json, nbclient, nbformat, sys\n"
        f"notebook = nbformat.read({str(notebook)!r}, 4)\n"
        f"options = dict(timeout=1200, kernel_name='python3', resources={{'metadata': {{'path': {str(EXAMPLES)!r}}}}})\n"
        "nbclient.NotebookClient(notebook, **options).execute()\n"
        "json.dump([output for cell in notebook.cells for output in cell.get('outputs', [])], sys.stdout)\n"
    )
    outputs = json.loads(printed(str(path)))
    texts = ["".join(one.get("text", "")) + "".join(one.get("data", {}).get("text/plain", "")) for one in outputs]
    assert sum("[identical]" in text for text in texts) == sum(cell.source.startswith("%%both") for cell in cells) > 0
    assert not [text for text in texts if "[DIFFERENT]" in text]
