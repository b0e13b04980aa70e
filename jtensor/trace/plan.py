"""Plans: one operation made concrete, a pure function of arrays with known outputs.

A `Plan` is what a node of the tape holds: the operator with its static arguments and the avals of its inputs, worked out once
(`infer`) and shared by every node that repeats it. Scalars (Python numbers that vary: alpha, lr, slice starts) are inputs too,
after the arrays: ``function(*arrays, *scalars) -> tuple of arrays``. May not know: tensors, storages, gradients.
"""
import contextlib
import functools
import math
import threading
import weakref

import jax

from ..base import compat, dtypes
from ..base.errors import missing
from . import spec

_BY_NUMPY = dtypes._BY_NUMPY
_SCALAR_STRUCT = {}


class Plan:
    """``key`` names the operation across processes (it is hashed into the disk cache's key); ``function`` is pure.

    ``scalar_kinds`` is a tuple of 'f', 'i', 'c' or 'b', one a scalar input. ``notes`` belongs to the rooms above: the gradient's
    plans, what is saved, the operator.
    """

    __slots__ = ("key", "function", "inputs", "outputs", "scalar_kinds", "single", "kernel", "wanted", "by_hand", "by_numpy", "notes",
                 "children", "specs", "spec", "operator", "saves", "nodes", "vjps", "ways", "differentiable", "moves", "inverse", "flipped",
                 "kept", "together", "joined", "fits", "least", "most", "elementwise", "on_host", "sized", "__weakref__")

    def __init__(self, key, function, inputs, outputs, scalar_kinds=(), moves=False):
        self.key, self.function, self.inputs, self.outputs = key, function, inputs, outputs
        self.scalar_kinds = scalar_kinds
        self.single = outputs[0] if len(outputs) == 1 else None
        self.kernel = None                   # the executable that runs it by itself
        self.wanted = 0                      # how many tapes were compiled whole because there was none
        self.by_hand = None                  # what does it on single numbers, False if nothing does (`interpret`)
        self.by_numpy = None                 # what does it without a kernel, False if nothing does (`by_numpy`)
        self.notes = None
        self.specs = self.spec = None        # the tensors' specs, where they are not contiguous: filled in by `ops`
        self.operator = None
        self.saves = None
        self.nodes = {}                      # {inputs that need a gradient: how the graph's node is made}
        self.vjps = {}
        self.ways = {}                       # {how a gradient is asked for: the function that records it}
        self.differentiable = ()
        self.flipped = ()                    # inputs that are taken as they lie in memory, the transposes of what tensors show
        self.kept = ()                       # inputs that a node saves in any case
        self.together = None                 # of what puts a list of tensors together: whether it is done on the host, a room above says
        self.joined = None                   # of a tensor's pieces: what puts a list of arrays like them together, as the pieces lay
        self.fits = ()                       # the numbers that have to be held by a type: (parameter's name, type, whether negated)
        self.least, self.most = -math.inf, math.inf        # between these, all types of `fits` hold a number
        self.elementwise = None              # if the operation is one of each element, what names it whatever shape the arrays have
        self.on_host = None                  # a function of ndarrays that does the same, where that needs no tracing
        self.sized = None                    # what it has in common with the operation at other sizes, and its sizes (`dynamic`)
        self.inverse = None                  # where the gradient is a view of the gradient: a function of tensors
        self.moves = moves                   # only moves data: no arithmetic, so nothing to fence

    def jaxpr(self):
        """The function, traced: whatever is compiled is made of this."""
        for one in (*self.inputs, *self.outputs):
            if 0 in one.shape:
                _fit_a_word(one)
        return traced(self.function, tuple(self.inputs), tuple(self.scalar_kinds))

    def elements(self):
        """How many elements it reads and writes."""
        return sum(math.prod(a.shape) for a in (*self.inputs, *self.outputs))

    def __repr__(self):
        return f"Plan({self.key[0] if isinstance(self.key, tuple) else self.key}: {list(self.inputs)} -> {list(self.outputs)})"


def scalar_struct(kind):
    """The aval a scalar of this kind has inside a program."""
    found = _SCALAR_STRUCT.get(kind)
    if found is None:
        import jax.numpy as jnp
        types = {"f": jnp.float64, "i": jnp.int64, "c": jnp.complex128, "b": jnp.bool_}
        found = _SCALAR_STRUCT[kind] = jax.ShapeDtypeStruct((), types[kind])
    return found


@functools.lru_cache(maxsize=512)
def _fit_a_word(empty):
    """XLA multiplies all sizes of an array but those that are 0, and ends the process where the product is too large."""
    if math.prod([n or 1 for n in empty.shape]) * empty.dtype.itemsize >> 63:
        raise missing(f"numbers of tensors without elements of sizes like {list(empty.shape)}",
                      "sizes whose product fits 64 bits, but for zeros")


def traced(function, inputs, scalar_kinds):
    """The jaxpr of a plan's function, about a millisecond's work; programs are put together of these.

    What the function calls that is jitted is traced as it stands, in half of the time that calls in a jaxpr take; loops are `ops.loops`.
    """
    structs = [a.struct for a in inputs] + [scalar_struct(kind) for kind in scalar_kinds]
    outside, _TRACING.particular = getattr(_TRACING, "particular", False), False
    try:
        with compat.x64(), jax.disable_jit(), made_for(next((a.device.type for a in inputs if a.device.type != "cpu"), "cpu")):
            made = compat.trace(function, structs)
        if _TRACING.particular:
            PARTICULAR.add(made)
        return made
    finally:
        _TRACING.particular |= outside                      # of what is traced inside of another, it tells of both


_TRACING = threading.local()
PARTICULAR = weakref.WeakSet()          # jaxprs of which those at other sizes cannot be told


def is_particular():
    """Says that what is being traced goes by its arrays' sizes in a way of its own, as by multiples of something: from what it is at some
    sizes nothing follows for others (`sizes`)."""
    _TRACING.particular = True


@contextlib.contextmanager
def made_for(device_type):
    """What is traced, fenced and compiled inside is for a device of this type (`is_for_cpu`)."""
    before, _TRACING.device_type = getattr(_TRACING, "device_type", None), device_type
    try:
        yield
    finally:
        _TRACING.device_type = before


def is_for_cpu():
    """Whether what is being made runs on the CPU, for what is written differently for accelerators. Where nobody has said so (`made_for`),
    JAX's default device tells."""
    device_type = getattr(_TRACING, "device_type", None)
    return compat.default_device().platform == "cpu" if device_type is None else device_type != "cuda"


def infer(function, inputs, scalar_kinds=(), device=None):
    """Output avals of a pure function: one abstract evaluation (callers keep the answer)."""
    outs = traced(function, tuple(inputs), tuple(scalar_kinds)).out_avals
    if device is None:
        device = next((a.device for a in inputs), spec.devices.cpu)
    return tuple(spec.aval(out.shape, _BY_NUMPY[out.dtype], device) for out in outs)


def make(key, function, inputs, scalar_kinds=(), device=None, moves=False, outputs=None):
    """A `Plan` with its outputs inferred."""
    if outputs is None:
        outputs = infer(function, inputs, scalar_kinds, device)
    return Plan(key, function, inputs, outputs, scalar_kinds, moves)
