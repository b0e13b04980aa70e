"""Processes that run all cases together, under either library; ``python tests/distributed/together.py --store`` keeps PyTorch's answers."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDENS = HERE.parent / "goldens" / "distributed.json"
WORLDS = 1, 2, 3


def answers(library, world):
    """What each of ``world`` processes answers to each case: a list of dictionaries."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [os.path.join(folder, str(rank)) for rank in range(world)]
        # a thread each: the processes share the cores
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        store = os.path.join(folder, "store")
        processes = [subprocess.Popen([sys.executable, str(HERE / "process.py"), library, str(rank), str(world), store, output],
                                      env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
                     for rank, output in enumerate(outputs)]
        try:
            said = [process.communicate(timeout=150)[1] for process in processes]
        finally:
            for process in processes:
                process.kill()
        assert not any(process.returncode for process in processes), "\n".join(said)
        return [json.loads(Path(output).read_text()) for output in outputs]


if __name__ == "__main__" and "--store" in sys.argv:
    GOLDENS.write_text(json.dumps({str(world): answers("torch", world) for world in WORLDS}, indent=1, sort_keys=True) + "\n")
