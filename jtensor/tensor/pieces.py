"""View operators that cut a tensor into a tuple of pieces: `split`, `chunk`, `unbind`, `tensor_split`.

Owns: views of which several hang on one node, as PyTorch has them, and may not be written where that matters. How a single view is made:
`views`.
"""

from ..base import geometry
from ..ops.registry import composite
from ..trace import spec as specs
from ..trace.plan import Plan
from ..trace.tape import LOCAL
from ..views import access as accesses
from ..views import rules
from .core import Tensor
from .history import attach
from .views import _index, _plans, geometry_of, hang, operator_of, share

# -- of one node ------------------------------------------------------------------------------------------------------


def views_of(self, geometries, name):
    """Several views that one node makes; PyTorch forbids in-place writes to them where their history is needed."""
    outs = [share(self, *g, creation="multi") for g in geometries]
    return outs


def _multi(self, rule, name, *args):
    size, stride, offset = geometry_of(self)
    outs = views_of(self, rule(size, stride, offset, *args), name)
    if LOCAL.grad_enabled and self.requires_grad and outs:
        logical = rule(size, geometry.contiguous_strides(size), 0, *args)
        plan, starts = _multi_plan(name, self._spec.aval, logical)
        attach(plan, [self], (0,), outs, starts)
    return tuple(outs)


def _multi_plan(name, input_aval, logical):
    programs, starts = [], []
    shape = tuple(input_aval.shape)
    for size, stride, offset in logical:
        program, own = accesses.access(shape, geometry.contiguous_strides(shape), tuple(size), tuple(stride), offset)
        programs.append((program, len(own)))
        starts.extend(own)
    key = (name, input_aval, tuple(programs))
    plan = _plans.get(key)
    if plan is None:
        def function(x, *starts):
            outs, at = [], 0
            for program, count in programs:
                outs.append(program.read(x, *starts[at:at + count]))
                at += count
            return tuple(outs)
        outputs = tuple(specs.aval(tuple(g[0]), input_aval.dtype, input_aval.device) for g in logical)
        plan = Plan(("view", name, tuple(p.key for p, _ in programs)), function, (input_aval,), outputs, ("i",) * len(starts), moves=True)
        plan.operator = operator_of(name)
        plan.specs = tuple(specs.of_aval(a) for a in outputs)
        plan.spec = plan.specs[0] if len(outputs) == 1 else None
        plan.differentiable = (input_aval.dtype.differentiable,) * len(outputs)
        _plans[key] = plan
    return plan, tuple(starts)


@composite()
def unbind(input, dim=0):
    """The slices along a dimension, as a tuple of views."""
    return _multi(input, rules.unbind, "UnbindBackward0", dim)


@composite()
def split(tensor, split_size_or_sections, dim=0):
    """Pieces of a given size (the last may be smaller), or of given sizes; a tuple of views."""
    if isinstance(split_size_or_sections, (tuple, list)):
        return _multi(tensor, rules.split, "SplitWithSizesBackward0", tuple(split_size_or_sections), dim)
    return _multi(tensor, rules.split, "SplitBackward0", _index(split_size_or_sections), dim)


@composite()
def split_with_sizes(input, split_sizes, dim=0):
    """Pieces of given sizes."""
    return _multi(input, rules.split, "SplitWithSizesBackward0", tuple(split_sizes), dim)


@composite()
def chunk(input, chunks, dim=0):
    """At most ``chunks`` pieces of equal size (the last may be smaller); a tuple of views."""
    return _multi(input, rules.chunk, "SplitBackward0", chunks, dim)

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


@composite()
def tensor_split(input, indices_or_sections, dim=0):
    """Pieces of nearly equal size, or cut at given indices; a tuple of views."""
    cuts = indices_or_sections
    if isinstance(cuts, Tensor):
        cuts = cuts.tolist()
    cuts = tuple(cuts) if isinstance(cuts, (tuple, list)) else cuts
    return _each(input, rules.tensor_split, "SliceBackward0", cuts, dim)
