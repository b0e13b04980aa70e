"""One of several processes that run all cases together.

``python process.py LIBRARY RANK WORLDS FILE OUTPUT``: one group of the processes after the other, as large as ``WORLDS`` says (3,2,1),
runs all cases. Its members find each other by ``FILE``; each writes what its cases answered to ``OUTPUT``, by the size of the group. A
process that is in all groups has imported its library once, and compiled what they have in common. No case may leave the processes at
different places: what is refused is refused by all of them.
"""
import datetime
import importlib
import json
import sys

import checkpoint_cases  # noqa: F401
import group_cases  # noqa: F401  whose cases come first
import optim_cases  # noqa: F401
import training_cases  # noqa: F401
import uneven_cases  # noqa: F401
from registry import CASES, told


def answered(torch, rank, world):
    """What each case answers, or its error."""
    found = {}
    for name, function in CASES.items():
        found[name] = told(lambda function=function: function(torch, rank, world))
        torch.distributed.barrier()
    return found


if __name__ == "__main__":
    library, rank, worlds, file, output = sys.argv[1:]
    rank, answers = int(rank), {}
    torch = importlib.import_module(library)
    importlib.import_module(library + ".distributed.nn")          # PyTorch's takes the group that it is imported in for good
    for world in map(int, worlds.split(",")):
        if rank >= world:
            continue
        torch.distributed.init_process_group("gloo", init_method=f"file://{file}.{world}", rank=rank, world_size=world,
                                             timeout=datetime.timedelta(seconds=60))
        answers[world] = answered(torch, rank, world)
        torch.distributed.destroy_process_group()
    with open(output, "w") as out:
        json.dump(answers, out, indent=1, default=str)
