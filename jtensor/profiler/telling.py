"""What a function tells a profile of its call: when it begins and ends, what it is called, and what is wanted to be known besides.

An operator's own affair is nobody's: within one there are no other events, but for what compiling it takes. Owns: a kind for each sort of
function, what is found out about a call. May not know: which functions these are (`watching`), how an event is kept (`recording`).
"""
import functools
import threading

from ..autograd.graph import AccumulateGrad
from ..dispatching import entries, special
from ..library import aten
from ..tensor import dispatch
from ..tensor.calling.overriding import spread
from ..tensor.core import LAYOUTS, Tensor
from . import arguments
from .events import BACKWARD, USER
from .recording import Recorder

_OTHERWISE = {"unique": "_unique2", "true_divide": "div", "true_divide_": "div_"}


def known(name):
    """PyTorch's name of a function that is made of operators; None where PyTorch has no operator of that name."""
    name = _OTHERWISE.get(name, name)
    return f"aten::{name}" if name in aten.operators() or arguments.forms(name) else None


class Told:
    """A function whose calls are events. ``name``; ``whole``: what it is made of is its own affair; ``row``: the function as it is without
    a profile; ``form``: what finds out what its arguments are in PyTorch (`arguments`)."""

    def __init__(self, row, name, whole=False, form=None):
        self.row, self.name, self.whole, self.form = row, name, whole, form

    def __call__(self, *args, **kwargs):
        recorder = Recorder.current
        if recorder is None or not recorder.listens():
            return self.row.beneath(*args, **kwargs)
        return self.told(recorder, args, kwargs)

    def name_of(self, args, kwargs):
        return self.name

    def told(self, recorder, args, kwargs):
        name, top = self.name_of(args, kwargs), recorder.top
        if name is None or top is not None and top.name == name and top.operator and not top.holds:      # the same call, further below
            return self._within(recorder, args, kwargs)
        wanted, found = recorder.wanted, None
        if self.form is not None and (wanted.shapes or wanted.overloads):
            found = self.form.found(self.row, args, kwargs)
        span = recorder.begin(name)
        if found is not None:
            span.shapes = found.shapes if wanted.shapes else []
            span.form = found.form if wanted.overloads else ""
        try:
            made = self._within(recorder, args, kwargs)
            if wanted.memory and not span.holds:
                _count(recorder, span, made, _memory_of((*args, *kwargs.values())))
            if wanted.flops:
                span.flops = arguments.flops(name, args, kwargs, made)
            if wanted.stacks and isinstance(made, Tensor) and made._edge is not None:
                span.sequence = _number_of(made._edge[0])
            return made
        finally:
            recorder.end(span)

    def _within(self, recorder, args, kwargs):
        recorder.inside = self.whole
        try:
            return self.row.beneath(*args, **kwargs)
        finally:
            recorder.inside = False


def _number_of(node):
    """The number of a node, by which its event and the one of its operator find each other; leaves have none."""
    return node.sequence if isinstance(node.sequence, int) else -1


def _memory_of(values):
    """What tells the memory of tensors apart."""
    return {id(one._storage) for one in spread(values) if isinstance(one, Tensor)}


def _count(recorder, span, made, given):
    """Counts the memory of results that is not ``given``. Sparse tensors are made of others, which are counted."""
    for one in spread(made if isinstance(made, (tuple, list)) else (made,)):
        if isinstance(one, Tensor) and type(one) not in LAYOUTS and id(one._storage) not in given:
            given.add(id(one._storage))
            recorder.count(span, one._storage.layout)


class Viewed(Told):
    """`views.view_of(self, rule, name, *args)`."""

    def name_of(self, args, kwargs):
        name = "_reshape_alias" if args[2] == "ReshapeAliasBackward0" else special.named(args[1], args[2])
        return name and f"aten::{name}"


class Contiguous(Told):
    """``contiguous()``, which PyTorch takes for no operator where there is nothing to do."""

    def name_of(self, args, kwargs):
        return None if args[0]._spec.contiguous else self.name


class Cut(Told):
    """`pieces._multi(self, rule, name, *args)` and `pieces._each`, where no function of the user's calls them."""

    def told(self, recorder, args, kwargs):
        if recorder.top is not None and recorder.top.operator:
            return self._within(recorder, args, kwargs)
        return super().told(recorder, args, kwargs)

    def name_of(self, args, kwargs):
        return f"aten::{args[1].__name__.rstrip('_')}"


class Lifted(Told):
    """``torch.tensor(...)``: PyTorch's operator takes what has been made."""

    def told(self, recorder, args, kwargs):
        span = recorder.begin(self.name)
        try:
            made = self._within(recorder, args, kwargs)
            if recorder.wanted.shapes:
                span.shapes = [list(made._spec.size)]
            if recorder.wanted.memory:
                _count(recorder, span, made, _memory_of((*args, *kwargs.values())))
            return made
        finally:
            recorder.end(span)


class OutOf(Told):
    """`dispatch.call_out(operator, args, out)`."""

    def name_of(self, args, kwargs):
        return f"aten::{entries.NAMES.get(args[0], args[0].name)}"


class Through(Told):
    """`dispatch.call(operator, args, out)` and `call_inplace(operator, args)`: to the function that tells of the operator. Those without a
    function of their own are told of here."""

    def told(self, recorder, args, kwargs):
        operator, given, *out = args
        in_place = self.name == "in place"
        if out and out[0] is not None:
            return dispatch.call_out(operator, given, out[0])
        if operator.inplace if in_place else not isinstance(operator.record, functools.partial):
            return operator.write(*given) if in_place else operator.record(*given)
        return Told(self.row, _of_operator(operator), whole=True).told(recorder, args, kwargs)


def _of_operator(operator):
    """The name of an operator of the engine."""
    return known(entries.NAMES[operator]) or f"jtensor::{operator.name}"


class Aside(Told):
    """A short cut of the engine, which is not taken: ``name`` is the function that is called in its place."""

    def told(self, recorder, args, kwargs):
        return self.name(*args, **kwargs)


class InPlace(Told):
    """A function with an argument that has it write to what it is given."""

    def name_of(self, args, kwargs):
        return self.name + "_" * bool(self.form.given(args, kwargs).get("inplace"))


# -- what is made of operators --------------------------------------------------------------------------------------------


class Step(Told):
    """A step of an optimizer, or the end of its gradients: a region, as PyTorch names it."""

    def told(self, recorder, args, kwargs):
        span = recorder.begin(self.name.format(type(args[0]).__name__), USER, operator=False)
        try:
            return self.row.beneath(*args, **kwargs)
        finally:
            recorder.end(span)


class Applied(Told):
    """`custom.apply_function(cls, args, kwargs)`: the forward of a function of the user's, by its name."""

    def name_of(self, args, kwargs):
        return args[0].__name__


class Walk(Told):
    """`engine.run`: the last node's event ends with it."""

    def told(self, recorder, args, kwargs):
        recorder.walks.append(None)
        try:
            return self.row.beneath(*args, **kwargs)
        finally:
            span = recorder.walks.pop()
            if span is not None:
                recorder.end(span)


class Ran(Told):
    """`engine._run_node(node, arrived, task, by_node, results)` and ``node.advance(arrived, task, heap)``: a node, and around it what the
    engine does for it, which ends where the next one begins: gradients are added up on the way."""

    def told(self, recorder, args, kwargs):
        node, arrived, walks = args[0], args[1], recorder.walks
        if walks and walks[-1] is not None:
            recorder.end(walks[-1])
        name = node.name()
        around = recorder.begin(f"autograd::engine::evaluate_function: {name}")
        if walks:
            walks[-1] = around
        if self.name == "run" and _ends_at(node, *args[2:4]):
            return self.row.beneath(*args, **kwargs)
        span, wanted = recorder.begin(name, BACKWARD), recorder.wanted
        span.sequence = _number_of(node)
        if wanted.shapes:
            span.shapes = [[] if one is None else list(one._spec.size) for one in arrived]
        given = _memory_of(arrived) if wanted.memory else ()         # a leaf's node takes it out of the list
        try:
            made = self.row.beneath(*args, **kwargs)
            if wanted.memory and not span.holds:
                _count(recorder, span, made[1] if self.name == "advance" else made, given)
            return made
        finally:
            recorder.end(span)


def _ends_at(node, task, by_node):
    """Whether the walk ends at a node without running it: its gradient is what was asked for."""
    if task.captures is None:
        return False
    captured = by_node.get(node) if by_node else None
    goes_on = captured is not None and any(edge is not None and edge[0] in task.needed for edge in node.edges)
    return captured is not None and not goes_on or isinstance(node, AccumulateGrad)


class Compiled(Told):
    """`Kept.get(kept, name, make)`, `by_numpy._begun(plan)`: what the first call of an operator takes longer than others, in its midst."""

    def __call__(self, *args):
        recorder = Recorder.current
        if recorder is None or threading.get_ident() != recorder.thread or len(args) == 3 and _is_there(args[0], args[1]):
            return self.row.beneath(*args)
        around = recorder.top
        if around is not None and around.name == self.name:
            return self.row.beneath(*args)
        holds = around is not None and around.holds
        span = recorder.begin(self.name)
        if around is not None:
            around.holds = holds                        # it makes no results
        try:
            return self.row.beneath(*args)
        finally:
            recorder.end(span)


def _is_there(kernels, name):
    """Whether a kernel has been made."""
    handle = kernels._handles.get(name)
    return handle is not None and handle.done()
