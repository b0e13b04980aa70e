"""The text of a tensor: `repr`, `str` and `format`.

Owns: what stands around the numbers, in PyTorch's order and line breaks: the name of the class, device, size, dtype, gradient, and the
line before a parameter. The numbers are `formatting`'s. May not know: how a tensor is stored or computed. Of a tensor it asks only
``dtype``, ``shape``, ``device``, ``requires_grad``, ``grad_fn``, ``is_meta`` and ``_host()``, the one copy to NumPy; nothing is compiled.
"""
from ..base import dtypes
from .formatting import OPTIONS, array_text


def tensor_str(tensor, *, tensor_contents=None, notes=()):
    """What ``repr(tensor)`` and ``str(tensor)`` say. ``tensor_contents`` stands in for the numbers if given; ``notes`` follow last.

    A class derived from `Tensor` is named by its own name; of a parameter see also `parameter_str`.

    >>> import jtensor
    >>> tensor_str(jtensor.tensor([1.5, 2.0]), tensor_contents="two numbers")
    'tensor(two numbers)'
    """
    kind = type(tensor)
    plain = _is_ours(kind, "Tensor") or _is_ours(kind, "Parameter")
    prefix = "tensor(" if plain else f"{kind.__name__}("
    indent = len(prefix)
    if tensor_contents is None:
        tensor_contents = "..." if tensor.is_meta else array_text(tensor._host(), indent)
    text = _with_notes(prefix + tensor_contents, [*_notes(tensor), *notes], indent)
    return text if plain or not _is_parameter(tensor) else f"Parameter({text})"


def parameter_str(parameter):
    """What ``repr`` says of a `Parameter`: a line that names it, then the tensor."""
    return "Parameter containing:\n" + tensor_str(parameter)


def tensor_format(tensor, specification):
    """What ``format(tensor, specification)`` says: a tensor of no dimensions is formatted as the Python number in it.

    Any other tensor takes no specification: ``TypeError``.
    """
    if len(tensor.shape) == 0 and not tensor.is_meta and _is_ours(type(tensor), "Tensor"):
        return format(tensor._host().item(), specification)
    return object.__format__(tensor, specification)


def _is_ours(kind, name):
    """Whether a class is the library's own ``Tensor`` or ``Parameter``, asked by name: this room stands below both."""
    return kind.__name__ == name and kind.__module__.partition(".")[0] in ("jtensor", "torch")


def _is_parameter(tensor):
    return getattr(tensor, "_is_param", False) or any(_is_ours(base, "Parameter") for base in type(tensor).__mro__)


def _notes(tensor):
    """What follows the numbers, in order: device, size, dtype, gradient."""
    notes = []
    if tensor.device.type != "cpu":
        notes.append(f"device='{tensor.device}'")
    dtype, shape = tensor.dtype, tuple(tensor.shape)
    default = dtypes.get_default_dtype()
    empty = 0 in shape
    # the size is written where the numbers do not show it, the dtype where they would be read back as another one
    if tensor.is_meta or (empty and len(shape) != 1) or (not empty and not OPTIONS.edgeitems):
        notes.append(f"size={shape}")
    silent = (default,) if tensor.is_meta or empty else (default, dtypes.default_complex(), dtypes.int64, dtypes.bool)
    if dtype not in silent:
        notes.append(f"dtype={dtype}")
    gradient = _gradient(tensor)
    if gradient:
        notes.append(gradient)
    return notes


def _gradient(tensor):
    try:
        node = tensor.grad_fn
    except RuntimeError:                   # a view whose history an in-place write in no_grad mode has made meaningless
        return "grad_fn=<Invalid>"
    if node is not None:
        return f"grad_fn=<{node.name().rpartition('::')[2]}>"
    return "requires_grad=True" if tensor.requires_grad else None


def _with_notes(text, notes, indent):
    """Adds the notes and the closing bracket; a note that would pass the line width goes to a line of its own."""
    parts = [text]
    column = len(text) - text.rfind("\n") + 1
    for note in notes:
        if column + len(note) + 2 > OPTIONS.linewidth:
            parts.append(",\n" + " " * indent + note)
            column = indent + len(note)
        else:
            parts.append(", " + note)
            column += len(note) + 2
    return "".join(parts) + ")"
