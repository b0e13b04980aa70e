"""Run by `test_files.py` in a process of PyTorch's own: writes its files of some cases to a folder, and says what it reads of ours there.

``python tests/export/exchange.py FOLDER CASE ...``: for each case ``CASE.theirs.pt2`` is written; of ``CASE.ours.pt2`` the graph, the
signature, the module's program and its results are printed, as JSON.
"""
import json
import logging
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import exported_cases as cases


def said(torch, program, args, kwargs):
    """What is compared of a program."""
    inner = program.module()
    args, kwargs = torch.utils._pytree.tree_map(lambda t: t.clone() if hasattr(t, "detach") else t, (args, kwargs))
    results = [one.detach().tolist() if hasattr(one, "detach") else one for one in torch.utils._pytree.tree_leaves(inner(*args, **kwargs))]
    texts = [str(part).replace("jtensor", "torch") for part in (program.graph, program.graph_signature, inner.code, program.call_spec)]
    return [texts, results, sorted(program.state_dict), list(program.constants)]


if __name__ == "__main__":
    import torch
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    every, found = cases.cases(torch), {}
    for name in names:
        module, args, kwargs = every[name]
        torch.export.save(torch.export.export(module, args, kwargs), folder / f"{name}.theirs.pt2")
        if (folder / f"{name}.ours.pt2").exists():
            found[name] = said(torch, torch.export.load(folder / f"{name}.ours.pt2"), args, kwargs)
    print("\n" + json.dumps(found))
