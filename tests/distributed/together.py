"""Processes that run all cases together, under either library; ``python tests/distributed/together.py --store`` keeps PyTorch's answers."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDENS = HERE.parent / "goldens" / "distributed.json"
WORLDS = 3, 2, 1


def answers(library):
    """What each process of each group answers to each case: {size of the group: a list of dictionaries}."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [os.path.join(folder, str(rank)) for rank in range(max(WORLDS))]
        # a thread each: the processes share the cores; what they write goes with the folder
        environment = os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": folder}
        command = [sys.executable, str(HERE / "process.py"), library]
        more = [",".join(map(str, WORLDS)), os.path.join(folder, "store")]
        processes = [subprocess.Popen([*command, str(rank), *more, output], env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
                     for rank, output in enumerate(outputs)]
        try:
            said = [process.communicate(timeout=150)[1] for process in processes]
        finally:
            for process in processes:
                process.kill()
        assert not any(process.returncode for process in processes), "\n".join(said)
        found = [json.loads(Path(output).read_text()) for output in outputs]
    return {str(world): [found[rank][str(world)] for rank in range(world)] for world in WORLDS}


if __name__ == "__main__" and "--store" in sys.argv:
    GOLDENS.write_text(json.dumps(answers("torch"), indent=1, sort_keys=True) + "\n")
