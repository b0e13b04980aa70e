"""Writes `jtensor/library/overloads.txt`: by which names of its forms PyTorch calls the operators that jtensor has, too.

    python tests/house/make_overloads.py

One line for each operator: its name in ``torch.ops.aten`` and those of its forms that have to do with tensors. Needs PyTorch;
``tests/library/test_aten.py`` says when the file is stale.
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "jtensor" / "library" / "overloads.txt"


def text():
    """The file's text."""
    import torch

    from jtensor.library import aten
    forms = {}
    for schema in torch._C._jit_get_all_schemas():
        library, _, name = schema.name.partition("::")
        if library == "aten" and "Tensor" in str(schema) and "Dict(" not in str(schema) and aten.function_of(name) is not None:
            forms.setdefault(name, []).append(schema.overload_name or "default")
    return "".join(f"{name} {' '.join(found)}\n" for name, found in sorted(forms.items()))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PATH.write_text(text())
    print(f"{PATH}: {len(PATH.read_text().splitlines())} operators")
