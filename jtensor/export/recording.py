"""What is recorded of a module that is exported: the operators below it, by the recording that `torch.jit.trace` is made by.

Sizes are numbers here, constants arguments of the graph. Owns: `Trace`, what is told of each value besides (its size, where in the
program it came from), and what must not happen while one records. May not know: which function is which operator (`lowering`).
"""
import linecache

import jtensor

from ..base import sites
from ..base.errors import missing
from ..jit import graph, recording
from ..tensor.calling import overriding
from ..tensor.core import Tensor
from ..trace.tape import LOCAL

_WRITTEN = ("writing to a tensor that is neither an argument nor a buffer of the exported module", "a buffer: register_buffer")
_TOLD = frozenset("""dim ndimension size stride numel nelement storage_offset element_size is_contiguous is_floating_point is_complex
                     is_signed is_same_size get_device is_inference __len__ result_type can_cast promote_types is_tensor is_shared is_pinned
                     is_neg is_conj __hash__ sym_size __dir__ type finfo iinfo numel_ is_set_to data_ptr has_names __format__ __repr__
                     is_cpu""".split())
"""What answers no tensor and looks at no number of one: all the others would be baked into the program."""


class Trace(recording.Trace):
    """One trace. ``attributes``: {id of a tensor: its dotted name} of the module's own tensors that are neither parameters nor buffers."""

    about, whole_slices = ("torch.export", "torch.ops.aten"), False
    forms = {name: f"{name}.vec" for name in ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d",
                                              "upsample_bilinear2d", "upsample_bicubic2d", "upsample_trilinear3d")}

    def __init__(self, lower, attributes=None):
        super().__init__(lower)
        self.attributes, self.told, self.constants = attributes or {}, {}, {}
        self._mode, self._unseen = None, []

    def __enter__(self):
        self._mode = self._surroundings()
        return super().__enter__()

    def _surroundings(self):
        return jtensor.is_grad_enabled(), jtensor.is_autocast_enabled("cpu"), jtensor.is_autocast_enabled("cuda"), len(LOCAL.levels or ())

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name.endswith("_") and not name.endswith("__") or name in ("__setitem__", "__set__") or name.startswith("__i"):
            if args and isinstance(args[0], Tensor) and name != "requires_grad_" and (not self.knows(args[0]) or any(
                    one._storage is args[0]._storage for one, _ in self.constants.values())):
                raise missing(*_WRITTEN)
        made = super().__torch_function__(func, types, args, kwargs)
        for one in made if isinstance(made, (list, tuple)) else (made,):
            if isinstance(one, Tensor) and not self.knows(one):
                self._unseen.append(one)                          # made within, by nothing that was recorded: no constant
        if name not in _TOLD and name not in ("__get__", "__set__") and _is_number(made):
            raise missing(f"torch.export of {name}, whose answer depends on numbers in tensors", "the same with tensors: torch.where")
        return made

    def add(self, kind, inputs, types=("Tensor",), data=None):
        """A node, which knows where in the program it came from."""
        if self._surroundings() != self._mode:
            raise missing("torch.export of regions of torch.no_grad, autocast, or vmap",
                          "the same outside of the module, or tensor.detach()")
        node = self.block.add(kind, inputs, types, data)
        node.where = _stack(self.caller()), self.block.path
        return node

    def set(self, tensor, value):
        """From here on a tensor goes by this value."""
        super().set(tensor, value)
        self.told[value] = told_of(tensor)

    def constant_tensor(self, tensor, fresh=False):
        """A tensor that was made before, or (``fresh``) of what is written in the program: an argument of the graph."""
        aliases = any(one._storage is tensor._storage for one, _ in self._values.values())
        if aliases or any(one is tensor for one in self._unseen) or not fresh and recording._computed(tensor):
            raise missing(f"{self.about[0]} of what has made a tensor in between, by no operator of {self.about[1]}",
                          "the same with functions of torch that work on tensors")
        value = graph.Node("prim::Attribute", data=None).output
        self.constants[value] = tensor, tensor._version
        self.set(tensor, value)
        return value

    def number(self, value):
        """A number where a tensor is asked for stays one."""
        return self.constant(value)

    def lifted(self, tensor, detached=False):
        """A copy of a tensor that is written out in the program."""
        value = self.add("aten::lift_fresh_copy", [self.constant_tensor(tensor, fresh=True)], data=form("lift_fresh_copy")).output
        self.told[value] = told_of(tensor)
        if detached:
            value = self.add("aten::detach_", [value], data=form("detach_")).output
            self.told[value] = told_of(tensor)
        return value

    def constant(self, data, type="Tensor"):
        """A constant; those that are tensors come as arguments."""
        if isinstance(data, Tensor):
            return self.lifted(data)
        return super().constant(data, type)

    def warn(self, text, frame=None):
        """Nothing: what TorchScript's tracer warns of is an error here, or a size, which is a number."""

    def finish(self):
        """Raises where a constant was written to."""
        for tensor, version in self.constants.values():
            if tensor._version != version:
                raise missing(*_WRITTEN)


def is_active():
    """Whether something is being exported, in this thread."""
    return any(isinstance(one, Trace) for one in overriding.STATE.modes)


def _is_number(made):
    if isinstance(made, (list, tuple)):
        return bool(made) and not recording.is_tensors(made) and all(map(_is_number, made))
    return isinstance(made, (int, float, complex))


def form(name):
    """The schema of an operator that has one, or of a form such as ``std.correction``."""
    from ..jit import schemas
    return schemas.forms(name)[0]


def told_of(tensor):
    """A tensor without numbers that is like this one."""
    return without_numbers(tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.requires_grad)


def without_numbers(shape, strides, offset, dtype, requires_grad):
    """A tensor without numbers."""
    last = offset + sum([(n - 1) * step for n, step in zip(shape, strides, strict=True)])
    with jtensor.no_grad():
        made = jtensor.empty(last + 1 if 0 not in shape else offset, dtype=dtype, device="meta").as_strided(shape, strides, offset)
    return made.requires_grad_() if requires_grad else made


def _stack(frame):
    """The lines in methods called ``forward`` that led here, as text; those of `torch.nn.Module` itself are not among them."""
    lines = []
    while frame is not None:
        code = frame.f_code
        if code.co_name == "forward" and not (sites.within(code.co_filename) and sites.room(code.co_filename).startswith("export/")):
            line = linecache.getline(code.co_filename, frame.f_lineno).strip()
            lines.insert(0, f'File "{code.co_filename}", line {frame.f_lineno}, in forward' + (f"\n    {line}" if line else ""))
        frame = frame.f_back
    return "\n  ".join(lines) or None
