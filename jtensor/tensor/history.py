"""The history of a tensor: the graph node of a recorded operation, what it saves, and where gradients go from it.

Owns: which inputs need a gradient, `edge_of`, `attach` (a node for fresh results), `save`, and `rebase` (a node that becomes the history
of a tensor written in place, or of the base under a view). How a node runs its backward: `replay`. May not know: how operators are called.
"""
import functools
import sys
import weakref
from textwrap import indent
from types import FunctionType

from ..autograd import gradmode_checks as checks
from ..autograd import saved as saving
from ..autograd.graph import AccumulateGrad, CopySlices, OperatorNode, accumulator, node_class, sequence
from ..base import sites
from ..base.dtypes import scalar_name
from ..ops import saves
from ..ops.double import is_number
from ..ops.operator import Operator
from ..trace.cache.codes import CODES
from ..trace.tape import LOCAL

_getframe, _inside, user_site = sys._getframe, sites._inside, sites.user_site         # in the text of `maker`, too

# -- needs and edges --------------------------------------------------------------------------------------------------


def needs_of(plan, tensors):
    """Positions of the inputs that need gradients."""
    needs = tuple([i for i, t in enumerate(tensors) if t._requires_grad or t._info is not None and t.requires_grad])
    if needs and plan.operator.nondiff:
        blocked = blocked_positions(plan)
        return tuple([i for i in needs if i not in blocked]) if blocked else needs
    return needs


def blocked_positions(plan):
    """Inputs that an operator declares not differentiable."""
    found = []
    for name in plan.operator.nondiff:
        where = plan.notes.where.get(name) if isinstance(name, str) else None
        if where is not None:
            found.extend(where if type(where) is tuple else (where,))
    return found


class _Needs(dict):
    """{which inputs need a gradient, a flag each: their positions}."""

    def __missing__(self, flags):
        found = self[flags] = tuple([at for at, flag in enumerate(flags) if flag])
        return found


NEEDS = _Needs()


class Unrecorded(Exception):
    """An input that requires a gradient is an inference tensor: whether the operation is recorded at all is for `_unrecorded` to say."""


def edge_of(tensor, recording=False):
    """The edge that leads a gradient to a tensor that requires it; `Unrecorded` for an inference tensor while ``recording``."""
    info = tensor._info
    if info is not None and info.version != tensor._counter.version:
        tensor._refresh()
    edge = tensor._edge
    if edge is not None or not tensor._requires_grad:              # a view of a leaf made in no_grad requires grad but leads nowhere
        return edge
    auto = tensor._auto
    if auto is not None:
        if recording and auto.inference:
            raise Unrecorded
        if auto.accumulator is not None:
            node = auto.accumulator()
            if node is not None:
                return node, 0
    return accumulator(tensor)


def refuse_stale(tensors):
    """Raises for a view that cannot have a history any more: PyTorch asks for edges before it looks at anything else."""
    if LOCAL.grad_enabled:
        for tensor in tensors:
            if tensor.requires_grad:
                edge_of(tensor)


# -- nodes ------------------------------------------------------------------------------------------------------------


def node_type(operator):
    found = operator.node_class
    if found is None:
        found = operator.node_class = node_class(operator.backward)
    return found


def attach(plan, tensors, needs, outs, scalars, originals=None):
    """Makes the node of a recorded operation and hangs it on its outputs."""
    node = make_node(plan, tensors, needs, scalars, outs, originals)
    if node is not None:
        for k, out in enumerate(outs):
            if plan.differentiable[k]:
                out._edge, out._requires_grad = (node, k), True
    return node


def make_node(plan, tensors, needs, scalars, outs, originals=None, skip=2):
    """The node of an operation of whose inputs those at ``needs`` need a gradient; None where there is none to be had.

    ``originals``: {position: Value} of inputs that the operation overwrites; ``skip``: see `sites.user_site`.
    """
    needs, cls, codes = plan.nodes.get(needs) or _way_to_make(plan, needs)
    if not needs:
        if cls is None:
            raise RuntimeError(f"Autograd not support dtype: {scalar_name(plan.specs[0].dtype)}")
        return None
    node = cls()
    try:
        if len(tensors) == 1:
            tensor, = tensors
            node.edges = (tensor._edge if tensor._info is None and tensor._edge is not None else edge_of(tensor, True),)
        else:
            edges = []                      # a comprehension would be a function call
            for at, tensor in enumerate(tensors):
                edges.append(None if at not in needs else
                             tensor._edge if tensor._info is None and tensor._edge is not None else edge_of(tensor, True))
            node.edges = tuple(edges)
    except Unrecorded:
        if _unrecorded(plan, tensors):
            return None
        node.edges = tuple([edge_of(tensor) if at in needs else None for at, tensor in enumerate(tensors)])
    node.sequence = sequence()
    node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = node.site = None
    node.plan, node.needs, node.scalars = plan, needs, scalars
    if codes:
        node.site, watched = user_site(skip), saving._hooks
        saved = node.saved = []
        if watched:                         # they see a result that is part of the graph already
            for k, out in enumerate(outs):
                if plan.differentiable[k]:
                    out._edge, out._requires_grad = (node, k), True
        for code in codes:                  # `save` without the call, for most
            if watched or originals is not None:
                saved.append(save(code, tensors, outs, originals))
            elif code >= 0:
                tensor = tensors[code]
                if tensor._auto is not None and tensor._auto.inference:
                    if _unrecorded(plan, tensors):
                        return None
                    save(code, tensors, outs)
                counter = tensor._counter
                if counter.site is None:
                    counter.site = WATCHED
                saved.append((tensor, counter.version))
            else:
                out = outs[~code]
                counter = out._counter
                if counter.site is None:
                    counter.site = WATCHED
                saved.append((out._storage, out._spec, out._offset, counter, counter.version))
    else:
        node.saved = ()
    return node


def _unrecorded(plan, tensors):
    """Whether autograd does not hear of an operation: all that it takes are inference tensors.

    Such a tensor can require a gradient where it has got its memory by ``.data =``. A number in a tensor's place is an ordinary tensor;
    the overloads that PyTorch calls Scalar take it as a number.
    """
    if not all(t._auto is not None and t._auto.inference for t in tensors):
        return False
    operator = plan.operator
    return not isinstance(operator, Operator) or not operator.quirks.into_ordinary and (
        operator.name.endswith("_Scalar") or not any(is_number(operator, plan.notes, name) for name in plan.notes.where))


def _way_to_make(plan, needs):
    """(inputs that get a gradient, class, what is saved) of the nodes of a plan."""
    asked = needs
    if plan.operator.nondiff:
        blocked = blocked_positions(plan)
        needs = tuple([at for at in needs if at not in blocked])
    cls = node_type(plan.operator)
    if not any(plan.differentiable):
        if needs and 0 not in plan.operator.nondiff and not plan.operator.quirks.quiet_made:
            cls = None                      # of integers there is no history, though tensors of them that were written to can have one
        needs = ()
    found = plan.nodes[asked] = needs, cls, saves.codes(plan, needs) if needs else ()
    return found


# -- nodes of what recorders record ------------------------------------------------------------------------------------


def maker(plan, which, there):
    """``make(out, scalars, depth, *arguments)``, which gives a fresh result its node: what `make_node` does, written out for what is saved.

    ``which``: for each argument whether it needs a gradient, and None; the plan keeps the function under that. ``there``: whether it is a
    tensor. ``depth``: how many frames there are from the function to the first that may be the user's (`FROM_LIBRARY`).
    """
    given = tuple([at for at, tensor in enumerate(there) if tensor])
    flags = NEEDS[tuple([which[at] for at in given])]
    needs, cls, codes = plan.nodes.get(flags) or _way_to_make(plan, flags)
    if not needs or len(there) > WRITTEN_OUT:
        def make(out, scalars, depth, *arguments):
            attach(plan, [arguments[at] for at in given], flags, (out,), scalars)
    else:
        make = FunctionType(_code(len(there), given, needs, tuple(codes), bool(codes)), globals(), "make", (plan, needs, cls))
    plan.nodes[which] = make
    return make


FROM_LIBRARY = 3         # `make`, the recorder, what has called that, and here begins what may be the user's
WRITTEN_OUT = 6          # inputs of an operation that has not a list of them
_MAKE = """\
def make(out, scalars, depth, {arguments}, plan, needs, cls):
{unless_watched}    try:
        node = cls()
        node.plan, node.needs, node.scalars = plan, needs, scalars
        node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = None
{edges}        node.edges = ({listed},)
        node.sequence = sequence()
{saved}        out._edge = (node, 0)
        out._requires_grad = True
    except Unrecorded:
        attach(plan, ({tensors}), needs, (out,), scalars)
"""
_EDGE = """\
    e{i} = a{i}._edge
    if e{i} is None or a{i}._info is not None and a{i}._info.version != a{i}._counter.version:
        e{i} = edge_of(a{i}, True)
"""
_UNLESS_WATCHED = """\
    if saving._hooks:
        attach(plan, ({tensors}), needs, (out,), scalars)
        return
"""
_INPUT = """\
    if a{i}._auto is not None and a{i}._auto.inference:
        raise Unrecorded
    c{i} = a{i}._counter
    if c{i}.site is None:
        c{i}.site = WATCHED
"""
_RESULT = """\
    c = out._counter
    if c.site is None:
        c.site = WATCHED
"""
_SAVED = """\
    try:
        frame = _getframe(depth)
        code = frame.f_code
        node.site = user_site(depth + 2) if _inside[code.co_filename] else (code, frame.f_lasti)
    except ValueError:                          # nobody has called from Python
        node.site = None
    node.saved = [{entries}]
"""
_NOTHING_SAVED = """\
    node.site = None
    node.saved = {saved}
"""


@functools.cache
def _code(count, given, needs, codes, saves_any):
    """The code of `maker`'s functions of so many arguments, of which those ``given`` are tensors: inputs of a node that saves this.

    ``saves_any``: of numbers only, too, which PyTorch keeps as tensors (`saves.ONLY_NUMBERS`).
    """
    tensors = "".join([f"a{i}, " for i in given])
    saved, entries = "", []
    for code in codes:
        i = given[code] if code >= 0 else None
        saved += (_INPUT if code >= 0 else _RESULT).format(i=i)
        entries.append(f"(a{i}, c{i}.version)" if code >= 0 else "(out._storage, out._spec, out._offset, c, c.version)")
    text = _MAKE.format(
        arguments=", ".join([f"a{i}" for i in range(count)]), unless_watched=_UNLESS_WATCHED.format(tensors=tensors) if codes else "",
        edges=indent("".join([_EDGE.format(i=given[at]) for at in needs]), "    "), tensors=tensors,
        listed=", ".join([f"e{i}" if at in needs else "None" for at, i in enumerate(given)]),
        saved=indent(saved + _SAVED.format(entries=", ".join(entries)) if codes else
                     _NOTHING_SAVED.format(saved="[]" if saves_any else "()"), "    "))
    scope = {}
    exec(CODES.compiled(text, "<jtensor node>"), scope)
    return scope["make"].__code__


def save(code, tensors, outs, originals=None):
    """What a node keeps of an input (``code >= 0``) or of a result (``~code``), with the version that it has now."""
    if code >= 0:
        if originals is not None and code in originals:
            return originals[code]
        tensor = tensors[code]
        if tensor._auto is not None and tensor._inference_tensor():
            raise RuntimeError("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
                               "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
                               "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.")
        if saving._hooks and (packed := saving.pack(tensor)) is not None:
            return packed
        counter = tensor._counter
        if counter.site is None:
            counter.site = WATCHED
        return tensor, counter.version
    out = outs[~code]
    if saving._hooks and (packed := saving.pack(out._detached() if out._edge is None else out)) is not None:
        return packed
    counter = out._counter
    if counter.site is None:
        counter.site = WATCHED
    return out._storage, out._spec, out._offset, counter, counter.version


def led_by(tensor, edge):
    """A fresh tensor with the history that an edge leads to: a leaf again, where that is a leaf's."""
    if isinstance(edge[0], AccumulateGrad):
        tensor._autograd_meta().accumulator = weakref.ref(edge[0])
    else:
        tensor._edge = edge
    tensor._requires_grad = True
    return tensor


WATCHED = False          # a version counter's site from when it is saved until it is written to


# -- histories rewritten ----------------------------------------------------------------------------------------------


def rebase(self, node):
    """``node`` becomes the history of ``self``; on a view, of the base under the view."""
    info = self._info
    if info is None or not info.differentiable:
        move_retained(self, node)
        self._edge, self._requires_grad = (node, 0), True
        return
    base = info.base
    checks.view_may_be_rebased(self, info)
    base_edge = edge_of(base) if base.requires_grad else None
    copy = node_class("CopySlices", CopySlices)
    spec = base._spec
    slices = copy(base_edge, (spec, base._offset), (tuple(self._spec.size), self._spec.stride, self._offset), node, zeros_of,
                  info.replay)
    slices.site = node.site
    move_retained(base, slices)
    base._edge, base._requires_grad = (slices, 0), True
    self._requires_grad = True
    self._refresh()
    if isinstance(node, OperatorNode) and node.saved:
        node.seen_as = weakref.ref(self._edge[0])


def move_retained(self, node):
    """`retain_grad` of a tensor follows it to its new history."""
    auto = self._auto
    if auto is not None and auto.retains and self._edge is not None:
        old, nr = self._edge
        if old.retained and nr in old.retained:
            keep = old.retained.pop(nr)
            node.retained = {0: keep}


def zeros_of(base, like):
    """A fresh tensor of zeros with a base's geometry, to be written to with what is a batch if ``like`` is."""
    from .creating.create import zeros_like_spec
    from .lifted.batching import as_batched_as
    made = zeros_like_spec(base[0])
    return made if like._storage.host is None else as_batched_as(made, like)
