"""The text of a sparse tensor: the texts of its parts, then size, number of elements, type, layout and history. May not know:
operations."""
import numpy as np

from ..base import dtypes
from ..tensor.formatting import OPTIONS, array_text
from ..tensor.printing import _gradient


def text(tensor):
    """What ``repr(tensor)`` says."""
    indent = len("tensor(")
    parts = [(name, part.detach()) for name, part in tensor._parts_shown()]
    shown = (",\n" + " " * indent).join([_part(name, part, indent) for name, part in parts])
    notes = [f"device='{tensor.device}'"] if tensor.device.type != "cpu" else []
    notes += [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    if tensor.dtype not in (dtypes.get_default_dtype(), dtypes.default_complex(), dtypes.int64, dtypes.bool):
        notes.append(f"dtype={tensor.dtype}")
    notes.append(f"layout={tensor.layout}")
    if gradient := _gradient(tensor):
        notes.append(gradient)
    return _with("tensor(" + shown, notes, indent, tensor.is_sparse)


def _with(text, notes, indent, new_line):
    """Adds the notes; the first begins a line of its own where ``new_line`` says so, others where they would pass the line's width."""
    column = len(text) - text.rfind("\n") + 1
    for note in notes:
        if new_line or column + len(note) + 2 > OPTIONS.linewidth:
            text, column, new_line = text + ",\n" + " " * indent + note, indent + len(note), False
        else:
            text, column = text + ", " + note, column + len(note) + 2
    return text + ")"


def _part(name, part, indent):
    lead = f"{name}=tensor("
    empty = f", size={tuple(part.shape)}" if part.numel() == 0 else ""
    return lead + array_text(np.asarray(part._host()), indent + len(lead)) + empty + ")"
