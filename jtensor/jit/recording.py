"""What is recorded while a function runs to be traced: each operator that it calls, by the name and in the order of TorchScript.

A mode (`tensor.calling.overriding`) is told of all public functions that are called, and looks up in `lowering` what operator each one
is; a process that traces nothing pays nothing for it. Owns: `Trace`, which knows by what value a tensor goes, and how values come to their
names. May not know: which function is which operator, modules, files.
"""
import sys
import warnings

import jtensor

from ..base import sites
from ..base.errors import missing
from ..tensor.calling import overriding
from ..tensor.core import Tensor
from ..trace import executor, tape
from . import TracerWarning, graph

_WITH_GRADIENT = ("Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or detaching the "
                  "gradient\nTensor:\n{}")
_TREATED = (" might cause the trace to be incorrect. We can't record the data flow of Python values, so this value will be treated as a "
            "constant in the future. This means that the trace might not generalize to other inputs!")


class Trace:
    """One trace: what a function does with its arguments. As a context manager it records what is called within.

    ``about``: what is being made and in which language, for errors; ``whole_slices``: whether an index is recorded as TorchScript has
    it, with slices that take everything, and lists moved to the device.
    ``forms``: {operator: the form of it that is recorded alone}. `torch.export` records by a subclass of it.
    """

    about, whole_slices, forms = ("torch.jit.trace", "TorchScript"), True, {}

    def __init__(self, lower):
        self.root = graph.Block()
        self.blocks, self._values, self._lower, self._names = [self.root], {}, lower, None

    @property
    def block(self):
        """Where nodes are added."""
        return self.blocks[-1]

    # -- the mode -------------------------------------------------------------------------------------------------------

    def __enter__(self):
        executor.flush("tracing begins")          # what waits on the tape later on was computed by what is traced
        overriding.install()
        overriding.STATE.modes.append(self)
        overriding.MODES.append(self)
        return self

    def __exit__(self, *exc):
        overriding.MODES.remove(self)
        overriding.STATE.modes.remove(self)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        before, self._names = self._names, None
        try:
            return self._lower(self, func, args, kwargs or {})
        finally:
            self._names = before

    def aside(self, func, *args):
        """Calls a function without recording what it calls."""
        overriding.STATE.modes.remove(self)
        try:
            return func(*args)
        finally:
            overriding.STATE.modes.append(self)

    def within(self, func, args, kwargs):
        """Calls a function that is made of others, which are recorded."""
        overriding.STATE.modes.append(self)
        try:
            return overriding.beneath(func)(*args, **kwargs)
        finally:
            overriding.STATE.modes.pop()

    def count(self):
        """How many nodes there are."""
        return sum(1 for _ in self.root.all_nodes())

    # -- values ---------------------------------------------------------------------------------------------------------

    def set(self, tensor, value):
        """From here on a tensor goes by this value."""
        self._values[id(tensor)] = tensor, value                  # the tensor itself, so that no other one gets its address

    def knows(self, tensor):
        """Whether a tensor goes by a value."""
        return id(tensor) in self._values

    def value(self, tensor):
        """The value of a tensor; one that was made elsewhere is a constant."""
        found = self._values.get(id(tensor))
        if found is None:
            return self.constant_tensor(tensor)
        value = found[1]
        if not value.name and not (value.node is not None and value.node.kind == "prim::Attribute"):
            value.name = self._name_of(tensor)
        return value

    def constant_tensor(self, tensor):
        """A tensor that was made before, or of Python's numbers."""
        if tensor.requires_grad and (tensor.is_leaf or not _computed(tensor)):
            raise RuntimeError(_WITH_GRADIENT.format(tensor.detach()))
        if _computed(tensor):
            raise missing(f"{self.about[0]} of what has made a tensor in between, by no operator of {self.about[1]}",
                          "the same with functions of torch that work on tensors")
        return self.constant(tensor.detach())

    def number(self, value):
        """A number of Python's where a tensor is asked for."""
        return self.constant(number(value))

    def lifted(self, tensor):
        """A constant that has been made of what is written somewhere."""
        return self.constant(tensor)

    def constant(self, data, type="Tensor"):
        """A constant."""
        return self.block.add("prim::Constant", (), (type,), data).output

    def add(self, kind, inputs, types=("Tensor",), data=None):
        """A node in the block that is being recorded."""
        return self.block.add(kind, inputs, types, data, where=self.caller())

    def whole(self, tensor):
        """The number that a tensor stands for, which is asked for right after the tensor was made, as in PyTorch."""
        value = self.value(tensor)                                # looks up its name, too
        block = next((one for one in self.blocks if value.node in one.nodes), None)
        if block is None:
            return self.add("aten::Int", [value], ("int",)).output
        node = graph.Node("aten::Int", [value], ("int",))
        block.nodes.insert(block.nodes.index(value.node) + 1, node)
        return node.output

    def named_by(self, names):
        """Names of tensors, {id: name}, that take the place of the caller's variables during this call."""
        self._names = names

    def _name_of(self, tensor):
        """What the function that called has called a tensor."""
        if self._names is not None:
            return self._names.get(id(tensor), "")
        frame = self.caller()
        if frame is None:
            return ""
        for name, value in frame.f_locals.items():
            if value is tensor:
                return "" if name == "self" or not name.isidentifier() else name
        return ""

    @staticmethod
    def caller():
        """The frame that has called the public function."""
        frame = sys._getframe(1)
        while frame is not None and not overriding.is_overridable(frame.f_code):
            frame = frame.f_back
        return frame and frame.f_back

    # -- warnings -------------------------------------------------------------------------------------------------------

    def warn(self, text, frame=None):
        """A `TracerWarning` at the user's line, or in another frame; what the library's own modules look at is nobody's business."""
        frame = self.caller() if frame is None else frame
        if frame is not None and not sites.within(frame.f_code.co_filename):
            warnings.warn_explicit(text, TracerWarning, frame.f_code.co_filename, frame.f_lineno)

    def warn_of(self, what):
        """That a tensor has become a value of Python's: a "boolean", a "list"."""
        article = "a NumPy" if what == "array" else "a Python"
        self.warn(f"Converting a tensor to {article} {what}{_TREATED}")


def _computed(tensor):
    """Whether a tensor waits on the tape, on which nothing waited when the trace began."""
    value = getattr(tensor._storage, "value", None)
    return value is not None and value.array is None and type(value.segment) is tape.Segment


def number(value):
    """A tensor for a traced number."""
    return jtensor.tensor(value)


def is_tensors(made):
    """Whether a result has tensors in it."""
    return isinstance(made, Tensor) or isinstance(made, (list, tuple)) and any(isinstance(one, Tensor) for one in made)
