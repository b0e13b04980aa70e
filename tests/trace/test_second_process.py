"""Programs are kept on disk: a second process compiles nothing, and makes the choices of the first."""
import json
import os
import subprocess
import sys

from jtensor.trace import choosing

SCRIPT = """
import itertools
import json
import jtensor as torch
from jtensor.trace.cache import store
torch.manual_seed(0)
w = torch.rand(6, 3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for k in range(3):
    optimizer.zero_grad()
    loss = (torch.rand(4, 6) @ w).tanh().square().mean()
    loss.backward()
    optimizer.step()
    w.data[k % 6] = 0.25 * k
    w.data /= torch.linalg.svdvals(w.data).max()        # a library's routine: where it is, a process that only loads does not learn
report = torch.report()
print(json.dumps({"programs": report.programs, "kernels": report.kernels, "loss": loss.item().hex(), "w": w.tolist()}))
store.flush()                   # the end waits for some seconds only
"""


LENGTHS = """
import json
import jtensor as torch
from jtensor.trace.cache import store
for n in range(900, 907):                   # none comes again, and after three programs of either size none is compiled any more
    x = torch.linspace(0, 1, n)
    for _ in range(20):
        x = (x * 0.5 + 1).sin().tanh()
    assert x.isfinite().all()
report = torch.report()
print(json.dumps({"programs": report.programs, "kernels": report.kernels}))
store.flush()
"""


def second_process(folder, script=SCRIPT, **more):
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                         env={**os.environ, "JTENSOR_CACHE_DIR": str(folder), **more})
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_second_process_compiles_nothing(tmp_path):
    folder = tmp_path / "programs"
    first, second = second_process(folder), second_process(folder)
    assert first["programs"]["compiled"] >= 1 and oct(folder.stat().st_mode & 0o777) == "0o700"
    assert "compiled" not in second["programs"] and "compiled" not in second["kernels"]
    assert sum(second["programs"].values()) == sum(first["programs"].values())
    assert (second["loss"], second["w"]) == (first["loss"], first["w"])
    for entry in sorted(folder.iterdir())[1:]:                      # all but one entry damaged: several programs are among them
        entry.write_bytes(entry.read_bytes()[:-7] + b"rubbish")
    third = second_process(folder)
    assert third["programs"].get("compiled", 0) + third["kernels"].get("compiled", 0) > 0
    assert (third["loss"], third["w"]) == (first["loss"], first["w"])


def test_a_second_process_makes_the_same_choices(tmp_path):
    """What is there already is taken, and tapes that were not worth a program do not become so because others cost nothing now."""
    first, second = [second_process(tmp_path / "programs", LENGTHS) for _ in range(2)]
    assert first["programs"]["compiled"] == 2 * choosing.tiers.TRIED        # of large tapes, and of small ones
    assert "compiled" not in second["programs"] and "compiled" not in second["kernels"]
