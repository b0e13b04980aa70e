"""One of several processes that run all cases together.

``python process.py LIBRARY RANK WORLD FILE OUTPUT``: the ``WORLD`` processes find each other by ``FILE``; each writes what its cases
answered to ``OUTPUT``. No case may leave the processes at different places: what is refused is refused by all of them.
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

if __name__ == "__main__":
    library, rank, world, file, output = sys.argv[1:]
    rank, world = int(rank), int(world)
    torch = importlib.import_module(library)
    torch.distributed.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=world,
                                         timeout=datetime.timedelta(seconds=60))
    answers = {}
    for name, function in CASES.items():
        answers[name] = told(lambda function=function: function(torch, rank, world))
        torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    with open(output, "w") as out:
        json.dump(answers, out, indent=1, default=str)
