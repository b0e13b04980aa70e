"""View operators that cut a tensor into a tuple of pieces: `split`, `chunk`, `unbind`, `tensor_split`.

Owns: views of which several hang on one node, as PyTorch has them, and may not be written where that matters. How a single view is made:
`views`.
"""
import functools
from contextlib import suppress

from jax import lax

from ...base import dtypes, geometry
from ...base.bounded import Bounded
from ...base.naming import type_name
from ...ops.families.composing import no_bools
from ...ops.registry import composite
from ...storage import VersionCounter
from ...trace import spec as specs
from ...trace.plan import Plan
from ...trace.tape import LOCAL
from ...views import access as accesses
from ...views import rules
from ..calling.entries import refuse_entry
from ..calling.refusals import refusal
from ..core import Tensor
from ..history import attach, refuse_stale
from .views import _indices, _plans, geometry_of, hang, operator_of, share, share_spec

# -- of one node ------------------------------------------------------------------------------------------------------


def _multi(self, rule, name, *args):
    spec = self._spec
    key = rule, name, spec, args
    found = _known.get(key)
    if found is None:
        size, stride = tuple(spec.size), spec.stride
        try:
            geometries = rule(size, stride, 0, *args)
        except Exception:
            if rule is rules.split or rule is rules.unbind:        # the others check their arguments before autograd is asked
                refuse_stale((self,))
            raise
        pieces = [(specs.spec(*g[:2], spec.dtype, spec.device, spec.conj, spec.neg), g[2]) for g in geometries]
        found = _known[key] = [pieces, None, ()]
    at = self._offset
    outs = tuple([share_spec(self, made, at + delta, "multi") for made, delta in found[0]])
    if LOCAL.grad_enabled and outs and self.requires_grad:
        if found[1] is None:
            size = tuple(spec.size)
            found[1:] = _multi_plan(name, spec.aval, rule(size, geometry.contiguous_strides(size), 0, *args), args[-1] % len(size))
        attach(found[1], (self,), (0,), outs, found[2])
    return outs


_known = Bounded(1 << 14)  # {(rule, name, Spec, arguments): [(Spec, offset from the tensor's) of the pieces, plan of the node, its starts]}


def _multi_plan(name, input_aval, logical, dim):
    programs, starts = [], []
    shape = tuple(input_aval.shape)
    for size, stride, offset in logical:
        program, own = accesses.access(shape, geometry.contiguous_strides(shape), tuple(size), tuple(stride), offset)
        programs.append((program, len(own)))
        starts.extend(own)
    key = (name, input_aval, tuple(programs), dim)
    plan = _plans.get(key)
    if plan is None:
        def function(x, *starts):
            outs, at = [], 0
            for program, count in programs:
                outs.append(program.read(x, *starts[at:at + count]))
                at += count
            return tuple(outs)

        def joined(pieces):
            return _joined([lax.expand_dims(p, (dim,)) if p.ndim < len(shape) else p for p in pieces], dim)
        outputs = tuple(specs.aval(tuple(g[0]), input_aval.dtype, input_aval.device) for g in logical)
        lasting = "view", name, tuple(p.key for p, _ in programs), dim
        plan = Plan(lasting, function, (input_aval,), outputs, ("i",) * len(starts), moves=True)
        plan.operator, plan.joined = operator_of(name), joined
        plan.specs = tuple(specs.of_aval(a) for a in outputs)
        plan.spec = plan.specs[0] if len(outputs) == 1 else None
        plan.differentiable = (input_aval.dtype.differentiable,) * len(outputs)
        _plans[key] = plan
    return plan, tuple(starts)


def _joined(pieces, dim):
    """The pieces one behind the other. A few are padded and added up: that XLA does in one pass with what makes and takes them."""
    if len(pieces) > FEW:
        return lax.concatenate(pieces, dim)
    sizes = [p.shape[dim] for p in pieces]
    nothing = pieces[0].dtype.type(complex(-0.0, -0.0) if pieces[0].dtype.kind == "c" else -0.0)        # adds nothing to any number
    padded = []
    for at, p in enumerate(pieces):
        edges = [(0, 0, 0)] * p.ndim
        edges[dim] = sum(sizes[:at]), sum(sizes[at + 1:]), 0
        padded.append(lax.pad(p, nothing, edges))
    return functools.reduce(lax.add, padded)


FEW = 4


def _whole(n, name, what, position):
    """An argument that must be an integer; `_multi` knows calls again by their arguments, and 1.0 and True equal 1."""
    if n.__class__ is int:
        return n
    refuse_entry()
    if not hasattr(n, "__index__") or isinstance(n, bool):
        raise TypeError(f"{name}(): argument '{what}' (position {position}) must be int, not {type_name(type(n))}")
    return n.__index__()


def _sizes(sizes):
    """The ints of a list; of one with anything else it is asked first whether PyTorch takes it."""
    if any(n.__class__ is not int for n in sizes):
        refuse_entry()
    return tuple([n.__index__() for n in sizes])


@composite()
def unbind(input, dim=0):
    """The slices along a dimension, as a tuple of views."""
    return _multi(input, rules.unbind, "UnbindBackward0", _whole(dim, "unbind", "dim", 1))


def _split(tensor, size, dim):
    """By a number or by numbers, which PyTorch has two functions for behind one that is written in Python."""
    if size.__class__ is int and dim.__class__ is int:
        return _multi(tensor, rules.split, "SplitBackward0", size, dim)
    if isinstance(size, Tensor):
        with suppress(ValueError):
            size = int(size)
    of_one_size = isinstance(size, int)
    refused = refusal("nn.split" if of_one_size else "split_with_sizes", (tensor, size, dim), {})
    if refused is not None:
        refused.final = True                                    # a number of NumPy's is none here: not to be tried again as an int
        raise refused
    if of_one_size:
        return _multi(tensor, rules.split, "SplitBackward0", size, dim.__index__())
    return _multi(tensor, rules.split, "SplitWithSizesBackward0", tuple([n.__index__() for n in size]), dim.__index__())


@composite(method=False)
def split(tensor, split_size_or_sections, dim=0):
    """Pieces of a given size (the last may be smaller), or of given sizes; a tuple of views."""
    if not isinstance(tensor, Tensor):
        raise AttributeError(f"'{type_name(type(tensor))}' object has no attribute 'split'")
    return _split(tensor, split_size_or_sections, dim)


@composite("split", function=False)                  # PyTorch calls the size by another name here than in the function
def _split_method(input, split_size, dim=0):
    """Pieces of a given size (the last may be smaller), or of given sizes; a tuple of views."""
    return _split(input, split_size, dim)


@composite()
def split_with_sizes(input, split_sizes, dim=0):
    """Pieces of given sizes."""
    return _multi(input, rules.split, "SplitWithSizesBackward0", _sizes(split_sizes), _whole(dim, "split_with_sizes", "dim", 2))


@composite()
def chunk(input, chunks, dim=0):
    """At most ``chunks`` pieces of equal size (the last may be smaller); a tuple of views."""
    chunks, dim, size = _whole(chunks, "chunk", "chunks", 1), _whole(dim, "chunk", "dim", 2), input._spec.size
    name = "SplitWithSizesBackward0" if -len(size) <= dim < len(size) and not size[dim] else "SplitBackward0"
    return _multi(input, rules.chunk, name, chunks, dim)


# -- that do not know of each other -----------------------------------------------------------------------------------


def _unaware(pieces):
    """The same, each with its own history and count of writes, and none a view: what is written to one, autograd sees of that one only."""
    for piece in pieces:
        piece._info, piece._counter = None, VersionCounter()
    return pieces


@composite()
def unsafe_split(tensor, split_size, dim=0):
    """`split` whose pieces may be written to although they share the tensor's memory: autograd takes them for tensors of their own."""
    size, dim = _whole(split_size, "unsafe_split", "split_size", 1), _whole(dim, "unsafe_split", "dim", 2)
    return _unaware(_multi(_resolved(tensor), rules.split, "UnsafeSplitBackward0", size, dim))


def _resolved(tensor):
    """The tensor without a conjugate or negative bit: pieces that are no views show none."""
    spec = tensor._spec
    return tensor.resolve_conj().resolve_neg() if spec.conj or spec.neg else tensor


@composite()
def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """`split_with_sizes` of that kind (`unsafe_split`)."""
    dim = _whole(dim, "unsafe_split_with_sizes", "dim", 2)
    return _unaware(_multi(_resolved(input), rules.split, "UnsafeSplitWithSizesBackward0", _sizes(split_sizes), dim))


@composite()
def unsafe_chunk(input, chunks, dim=0):
    """`chunk` of that kind (`unsafe_split`)."""
    chunks, dim, size = _whole(chunks, "unsafe_chunk", "chunks", 1), _whole(dim, "unsafe_chunk", "dim", 2), input._spec.size
    empty = -len(size) <= dim < len(size) and not size[dim]
    name = "UnsafeSplitWithSizesBackward0" if empty else "UnsafeSplitBackward0"
    return _unaware(_multi(_resolved(input), rules.chunk, name, chunks, dim))


# -- each with a node -------------------------------------------------------------------------------------------------


def _each(self, geometries_of, name, *args):
    """Several views, each with a history of its own (PyTorch makes these by slicing)."""
    size, stride, offset = geometry_of(self)
    made = geometries_of(size, stride, offset, *args)
    outs = [share(self, *g) for g in made]
    if LOCAL.grad_enabled and self.requires_grad:
        for out, logical in zip(outs, geometries_of(size, geometry.contiguous_strides(size), 0, *args), strict=True):
            hang(self, out, name, logical)
    return tuple(outs)


@composite(asked=True)
def tensor_split(input, indices_or_sections, dim=0):
    """Pieces of nearly equal size, or cut at given indices; a tuple of views."""
    cuts = indices_or_sections
    no_bools(cuts, dim)
    if isinstance(cuts, Tensor):
        if cuts._spec.dtype is not dtypes.int64:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                               f"{dtypes.scalar_name(cuts._spec.dtype)}")
        if cuts._spec.ndim > 1:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
                               f"got a tensor with {cuts._spec.ndim} dims")
        cuts = cuts.tolist()
    cuts = _indices(cuts) if isinstance(cuts, (tuple, list)) else cuts
    return _each(input, rules.tensor_split, "SliceBackward0", cuts, dim)
