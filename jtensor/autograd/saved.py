"""What nodes save, and how it is looked at again: references with versions, PyTorch's checks and messages.

A saved entry is one of
    (tensor, version)                                an input: the very tensor, so that a later `.data` write has PyTorch's effect
    (storage, spec, offset, counter, version)        the result: its memory without the tensor, so that no cycle is made
    Value                                            an immutable value (the operand of an in-place operator, from before)
    Packed                                           what a user's pack hook made of it
    Remembered                                       one of these, and the value that it had: a formula has computed something of it
May not know: the Tensor class.
"""
import threading

from ..base import sites
from ..base.dtypes import bfloat16, scalar_name
from ..ops.saves import only_for
from ..storage.lifted import LIFTED_MEMORY
from ..trace.lifted import back_in, nest
from ..trace.tape import LOCAL, Value
from .graph import AccumulateGrad, OperatorNode

HINT = (" Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False).")
HINT_ANOMALY = (" Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
                "changed in there or anywhere later. Good luck!")
DETACHED = ("Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
            "out-of-place "
            "`.detach()` instead")
_hooks = []          # the stack of (thread, pack, unpack) of `saved_tensors_hooks`, of all threads: most often nobody has any
_changing = threading.Lock()
_forbidden = threading.local()
PACKED = [False]     # whether anything was ever packed: only then what is saved may come back otherwise


class Packed:
    """What a pack hook made of a saved tensor, with the hook that undoes it. ``levels``: those that its value was in."""

    __slots__ = ("packed", "undo", "levels")

    def __init__(self, packed, undo, levels=()):
        self.packed, self.undo, self.levels = packed, undo, levels
        PACKED[0] = True

    def value(self, read):
        """The Value of the tensor again."""
        found = read(self.unpack())
        return back_in(found, self.levels) if self.levels else found

    def unpack(self):
        """The tensor again."""
        found = self.undo(self.packed)
        if not hasattr(found, "_storage"):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type " + type(found).__name__)
        return found


class Remembered:
    """A saved entry and its Value when it was saved."""

    __slots__ = ("entry", "value")

    def __init__(self, entry, value):
        self.entry, self.value = entry, value


def pack(tensor):
    """A `Packed` by this thread's innermost hooks, or None if it has none."""
    thread = threading.get_ident()
    own = [entry for entry in _hooks if entry[0] == thread]
    if not own:
        return None
    return packed_by(own[-1][1], own[-1][2], tensor)


def packed_by(packing, unpacking, tensor):
    """A `Packed` by a pair of hooks."""
    version = tensor._counter.version
    previous, LOCAL.grad_enabled = LOCAL.grad_enabled, False
    try:
        packed = packing(tensor)
    finally:
        LOCAL.grad_enabled = previous
    if tensor._counter.version != version:
        raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
                           "be modified "
                           "by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to "
                           "perform "
                           "in-place operations on the input to a pack hook.")
    storage = tensor._storage
    return Packed(packed, unpacking, nest(storage.value) if storage.host is LIFTED_MEMORY else ())


def forbid(message, check=True):
    """Forbids hooks on this thread with a message (None allows them again); answers the message from before."""
    previous = getattr(_forbidden, "message", None)
    if check and message is not None and any(entry[0] == threading.get_ident() for entry in _hooks):
        raise RuntimeError(message)
    _forbidden.message = message
    return previous


def counter_of(entry):
    """(version counter, version when saved) of an entry that has one."""
    if type(entry) is tuple:
        return (entry[0]._counter, entry[1]) if len(entry) == 2 else (entry[3], entry[4])
    return None, 0


def value(entry, node, code, read, read_at):
    """The Value of a saved entry, version checked. ``read(tensor)`` and ``read_at(storage, spec, offset)`` look into storages."""
    if type(entry) is tuple:
        if len(entry) == 2:
            tensor, version = entry
            if tensor._edge is None and code >= 0:
                edge = node.edges[code]
                if edge is not None and not isinstance(edge[0], AccumulateGrad):
                    raise RuntimeError(DETACHED)
            if tensor._counter.version != version and not _is_idle(node, code):
                raise modified(tensor._counter, version, tensor._spec, edge_now(tensor), node.site)
            return read(tensor)
        storage, spec, offset, counter, version = entry
        if counter.version != version:
            raise modified(counter, version, spec, node.edges[code] if code >= 0 else of_result(node, ~code), node.site)
        return read_at(storage, spec, offset)
    if isinstance(entry, Value):
        return entry
    return value(entry.entry, node, code, read, read_at) if type(entry) is Remembered else entry.value(read)


def _is_idle(node, code):
    """Whether what was saved serves one gradient alone, which leads nowhere: that of a view made in no_grad. PyTorch does not save it."""
    served = only_for(node.plan, code) if isinstance(node, OperatorNode) else None
    return bool(served) and all(node.edges[at] is None for at in served)


def of_result(node, nr):
    """The edge of the history of a result: of a write through a view that which the view got then, while it has it."""
    seen_as = getattr(node, "seen_as", None)
    view = None if seen_as is None else seen_as()
    return (node, nr) if view is None else (view, 0)


def edge_now(tensor):
    """The edge of the history that a tensor has now, or None: PyTorch's message names it, not the one from when it was saved."""
    return None if tensor.grad_fn is None else tensor._edge


def modified(counter, version, spec, edge, site):
    """PyTorch's error for a saved tensor that was written to since, followed by the user's lines."""
    place = "" if spec.device.type == "cpu" else spec.device.type + "."
    kind = f"torch.{place}{scalar_name(spec.dtype)}Tensor"
    if spec.dtype.is_complex or spec.dtype.category == 0 or spec.dtype is bfloat16:            # PyTorch has no old name for these
        kind = f"{spec.device.type.upper()}{scalar_name(spec.dtype)}Type"
    made = ""
    if edge is not None and not isinstance(edge[0], AccumulateGrad):
        made = f", which is output {edge[1]} of {edge[0].forward_name()},"
    from .anomaly import enabled
    text = (f"one of the variables needed for gradient computation has been modified by an inplace operation: [{kind} "
            f"{list(spec.size)}]{made} "
            f"is at version {counter.version}; expected version {version} instead." + (HINT_ANOMALY if enabled() else HINT))
    if site is not None:
        text += f"\n  saved for the gradient at {sites.text(site)}"
    if counter.site:
        text += f"\n  last modified in place at {sites.text(counter.site)}"
    return RuntimeError(text)


class saved_tensors_hooks:
    """Within it, each tensor saved for backward is handed to ``pack_hook``, and what that answers to ``unpack_hook`` at backward.

    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([4., 4.])
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = pack_hook, unpack_hook

    def __enter__(self):
        message = getattr(_forbidden, "message", None)
        if message is not None:
            raise RuntimeError(message)
        _hooks.append((threading.get_ident(), *self.hooks))

    def __exit__(self, *exc):
        thread = threading.get_ident()
        with _changing:                                                # an index counts until another thread takes one away
            own = [i for i, entry in enumerate(_hooks) if entry[0] == thread]
            if own:                                                    # PyTorch takes the innermost away, whoever has put it there
                del _hooks[own[-1]]
