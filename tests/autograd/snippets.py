"""Snippets of PyTorch programs, run with ``torch`` bound to one library or the other, and what is seen of them.

A file ``snippets/*.txt`` holds programs under headings ``== name``. A program sees ``torch`` and ``err(f)``, which prints the type and the
first line of what ``f()`` raises. Seen are: the lines printed, the type and first line of an exception, and the warnings.

    python tests/autograd/snippets.py                compares jtensor with live PyTorch
    python tests/autograd/snippets.py hooks 'grad_'  the files and programs whose names contain these
    python tests/autograd/snippets.py --store        writes what PyTorch shows to tests/goldens/autograd.json
"""
import contextlib
import io
import json
import re
import sys
import threading
import types
import warnings
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "snippets"
GOLDENS = FOLDER.parent.parent / "goldens" / "autograd.json"


def load():
    """{"file/name": source} of all programs."""
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        parts = re.split(r"^== (.+)\n", path.read_text(), flags=re.M)
        for name, source in zip(parts[1::2], parts[2::2], strict=True):
            key = f"{path.stem}/{name.strip()}"
            if key in found:
                raise ValueError(f"two programs are called {key}")
            found[key] = source.strip() + "\n"
    return found


def clean(text):
    """Without addresses, PyTorch's place in its C++ sources, and the names of the two libraries."""
    text = re.sub(r"0x[0-9a-f]+", "0x0", str(text))
    text = re.sub(r" \(Triggered internally at .*", "", text, flags=re.S)
    return text.replace("jtensor.", "torch.")


def first_line(error):
    lines = clean(error).strip().split("\n")
    return lines[0] if lines else ""


def err(f):
    try:
        answer = f()
    except Exception as error:
        print(f"{type(error).__name__}: {first_line(error)}")
    else:
        print("no error:", answer)


def run(source, torch):
    """What is seen of a program."""
    out, error = io.StringIO(), None
    module = types.ModuleType("snippet")
    vars(module).update(torch=torch, err=err, threading=threading)
    sys.modules["snippet"] = module
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("always")
        try:
            exec(compile(source, "<snippet>", "exec"), vars(module))
        except Exception as raised:
            error = [type(raised).__name__, first_line(raised)]
        finally:
            torch.autograd.set_detect_anomaly(False)
            torch.set_grad_enabled(True)
            torch.set_warn_always(before)
            vars(module).clear()
    seen = [[w.category.__name__, first_line(w.message)] for w in caught if "donat" not in str(w.message)]
    return {"out": clean(out.getvalue()).split("\n")[:-1], "error": error, "warnings": seen}


def live_torch():
    import torch
    import torch.autograd.forward_ad
    import torch.utils.checkpoint
    return torch


def differences(expected, seen):
    """Lines that tell two sights apart."""
    lines = []
    for kind in ("out", "error", "warnings"):
        one, other = expected[kind] or [], seen[kind] or []
        for at in range(max(len(one), len(other))):
            a, b = (x[at] if at < len(x) else None for x in (one, other))
            if a != b:
                lines += [f"  {kind}[{at}] torch:   {a}", f"  {kind}[{at}] jtensor: {b}"]
    return lines


def _main(arguments):
    sys.path.insert(0, str(FOLDER.parents[2]))
    import jtensor
    torch = live_torch()
    programs = load()
    wanted = [a for a in arguments if not a.startswith("--")]
    programs = {k: v for k, v in programs.items() if not wanted or any(w in k for w in wanted)}
    stored, wrong = {}, 0
    for key, source in programs.items():
        expected = stored[key] = run(source, torch)
        if "--torch" in arguments:
            print(key, json.dumps(expected, indent=1))
            continue
        if "--store" not in arguments:
            lines = differences(expected, run(source, jtensor))
            if lines:
                wrong += 1
                print("==", key, *lines, sep="\n")
    if "--store" in arguments:
        GOLDENS.parent.mkdir(exist_ok=True)
        GOLDENS.write_text(json.dumps(stored, indent=0, ensure_ascii=False) + "\n")
    print(f"{len(programs)} programs, {wrong} differ")


if __name__ == "__main__":
    _main(sys.argv[1:])
