"""How a custom `Function` is run: its forward without recording, its outputs made part of the graph, its backward checked.

Owns: the engine's node of a custom function, PyTorch's rules for outputs that are inputs, views or changed in place, and what
``save_for_backward`` keeps. What users subclass is in `autograd.function`.
"""
import inspect
import weakref

from ..autograd import gradmode_checks as checks
from ..autograd import saved as saving
from ..autograd.engine import travels_as
from ..autograd.function import BackwardCFunction, Function
from ..autograd.graph import SECOND_TIME, Node
from ..base import sites
from ..trace.tape import LOCAL
from . import history
from .core import Tensor, make_tensor
from .custom_levels import applied, level_among
from .values import bump
from .viewing.views import geometry_of, share

DIRTY_VIEW = ("If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than "
              "one Tensor. "
              "This is not supported by the current autograd engine. You should either make sure the input is not a view (using "
              ".clone() for "
              "example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing the "
              "inplace that "
              "returns a single Tensor and a second one that does the other operations). You can ask on the forum "
              "https://discuss.pytorch.org/ if you need help to do this change.")
DIRTY_LOST = ("Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
              "inplace must "
              "all be outputs of the Function.")
DIRTY_FOREIGN = ("ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to "
                 "ctx.mark_dirty().")


class FunctionNode(Node):
    """The node behind a ctx. ``places``: which argument each edge belongs to; ``expected``: the Specs of those arguments."""

    __slots__ = ("face", "places", "expected", "count", "outputs", "made")
    runs_on_nothing = True

    def __init__(self, edges, face, places, expected, count):
        Node.__init__(self, edges)
        self.face, self.places, self.expected, self.count = face, places, expected, count
        self.outputs, self.made = 0, ()

    def name(self):
        return type(self.face).__name__

    def release(self):
        self.face._saved = None

    def apply(self, grads):
        face = self.face
        if face.materialize_grads:
            grads = [_zeros(spec) if g is None and spec is not None else g for g, spec in zip(grads, self.made)]
        answers = face.apply(*grads)
        answers = list(answers) if type(answers) is tuple else [answers]
        if len(answers) > self.count and all(a is None for a in answers[self.count:]):
            del answers[self.count:]
        if len(answers) != self.count:
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {self.count}, got "
                               f"{len(answers)})")
        for at, answer in enumerate(answers):
            if at not in self.places and answer is not None:
                raise RuntimeError(f"function {self.name()} returned a gradient different than None at position {at + 1}, but the "
                                   f"corresponding "
                                   "forward input was not a Variable")
            if answer is not None and not isinstance(answer, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(answer).__name__})")
        chosen = [answers[at] for at in self.places]
        # hooks see what goes nowhere, too
        return [self._valid(at, g) if g is not None and self.edges[at] is not None else g for at, g in enumerate(chosen)]

    def _valid(self, at, grad):
        """The gradient in its input's shape and dtype, or PyTorch's error."""
        expected = self.expected[at]
        if tuple(grad._spec.size) != tuple(expected.size):
            if not _expands(tuple(expected.size), tuple(grad._spec.size)):
                raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {at} - got "
                                   f"{list(grad._spec.size)} but expected "
                                   f"shape compatible with {list(expected.size)}")
            grad = grad.sum_to_size(tuple(expected.size))
        if not grad._spec.dtype.is_floating_point and grad._spec.dtype.is_complex is not expected.dtype.is_complex:
            raise RuntimeError("Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got "
                               "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
        dtype = travels_as(self.edges[at], expected, grad)
        if grad._spec.dtype is not dtype:
            grad = grad.to(dtype)
        if grad._spec.device is not expected.device and grad._spec.ndim:
            raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {at} - expected device "
                               f"{expected.device} but got "
                               f"{grad._spec.device}")
        return grad


def _expands(small, large):
    """Whether a tensor of the first shape broadcasts to the second."""
    return len(small) <= len(large) and all(n in (1, m) for n, m in zip(small[::-1], large[::-1]))


def _zeros(spec):
    from .creating.create import zeros_like_spec
    return zeros_like_spec(spec)


# -- apply ------------------------------------------------------------------------------------------------------------


def apply_function(cls, args, kwargs):
    """``cls.apply(*args, **kwargs)``."""
    separate = cls.setup_context is not Function.setup_context
    if separate:
        bound = inspect.signature(cls.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
    if kwargs:
        args = _positional(cls.forward, args, kwargs, int(not separate))
    level = level_among(args)
    return _run(cls, args) if level is None else applied(cls, level, args, _run)


def _run(cls, args, forward=None, after=None):
    """The results of a custom function of these arguments. ``forward``: what computes them, where that is not its own; ``after(ctx,
    results)`` comes next."""
    separate = cls.setup_context is not Function.setup_context
    places = [at for at, a in enumerate(args) if isinstance(a, Tensor)]
    inputs = [args[at] for at in places]
    ctx = cls._backward_cls.__new__(cls._backward_cls)
    ctx.needs_input_grad = tuple([isinstance(a, Tensor) and a.requires_grad for a in args])
    node = None
    if LOCAL.grad_enabled and True in ctx.needs_input_grad:
        edges = tuple([history.edge_of(t) if t.requires_grad else None for t in inputs])
        node = FunctionNode(edges, ctx, places, [t._spec for t in inputs], len(args))
        ctx._node, ctx._edges = weakref.ref(node), edges
    previous, LOCAL.grad_enabled = LOCAL.grad_enabled, False
    try:
        if separate:
            given = (forward or cls.forward)(*args)
            cls.setup_context(ctx, args, given)
            _no_input_kept(ctx, given, inputs)
        else:
            given = cls.forward(ctx, *args)
        if after is not None:
            after(ctx, given)
        several = isinstance(given, tuple)                      # a list is one thing, and no tensor
        outputs = _wrap(ctx, node, list(given) if several else [given], inputs)
        _keep(ctx, node)
    finally:
        LOCAL.grad_enabled = previous
    return tuple(outputs) if several else outputs[0]


def _no_input_kept(ctx, given, inputs):
    """PyTorch's error for a `setup_context` that keeps an input which ``forward`` has answered as it was."""
    kept = (*(ctx.to_save or ()), *(ctx.saved_for_forward or ()))
    if not kept:
        return
    dirty = {id(t) for t in ctx.dirty_tensors or ()}
    answered = {id(x) for x in (given if isinstance(given, tuple) else (given,))} - dirty
    if any(id(t) in answered and any(t is kept_one for kept_one in kept) for t in inputs):
        raise RuntimeError("An input that has been returned as-is as output is being saved for backward. This is not supported if you "
                           "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or "
                           "setup ctx inside the forward function itself.")


def _positional(forward, args, kwargs, own):
    """All arguments by position: each is an input of the node, however it was given. ``own`` parameters (the ctx) come first."""
    names = [p.name for p in inspect.signature(forward).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][own:]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    for at in range(len(args), len(args) + len(kwargs)):
        if names[at] not in kwargs:
            raise TypeError(f"forward() missing required argument: '{names[at]}' (position {at})")
    return (*args, *[kwargs[name] for name in names[len(args):len(args) + len(kwargs)]])


def _marked(ctx, name, text):
    """The ids of the tensors in ``ctx.dirty_tensors`` or ``ctx.non_differentiable``."""
    marked = getattr(ctx, name)
    if marked is None:
        return {}
    for at, t in enumerate(marked):
        if not isinstance(t, Tensor):
            raise RuntimeError(text.format(at=at, kind=type(t).__name__))
    return {id(t): t for t in marked}


def _wrap(ctx, node, outputs, inputs):
    """Gives the outputs their history."""
    dirty = _marked(ctx, "dirty_tensors", "mark_dirty can only accept variables, but argument\n {at} is of type {kind}")
    fixed = _marked(ctx, "non_differentiable", "mark_non_differentiable only accepts variable arguments, but got\n {kind}")
    own = {id(t) for t in inputs}
    for t in dirty.values():
        bump(t)
        if id(t) not in own:
            import warnings
            warnings.warn(DIRTY_FOREIGN, UserWarning, stacklevel=4)
    tensors = [o for o in outputs if isinstance(o, Tensor)]
    made, differentiable = [], 0
    if node is not None:
        node.outputs = len(outputs)
        node.made = [o._spec if isinstance(o, Tensor) else None for o in outputs]
    for nr, out in enumerate(outputs):
        if isinstance(out, Tensor):
            recorded = node is not None and id(out) not in fixed and out._spec.dtype.differentiable
            differentiable += recorded
            out = _history(out, nr, node if recorded else None, id(out) in own, id(out) in dirty, len(tensors))
        made.append(out)
    lost = set(dirty) - {id(o) for o in tensors}
    if lost:
        raise RuntimeError(DIRTY_LOST)
    if differentiable > 1:
        for before, out in zip(outputs, made):
            if isinstance(out, Tensor) and out._info is not None and id(before) not in dirty:
                out._info.creation = "multi"
    ctx.dirty_tensors = ctx.non_differentiable = None
    return made


def _history(out, nr, node, is_input, is_dirty, count):
    """One output, as part of the graph (``node``) or without history."""
    if node is None:
        if out.requires_grad:
            if is_input:
                return _without_history(out)
            if out._info is None:
                return out.detach_()
        elif is_input and not is_dirty:
            out = _same_view(out)
    elif is_dirty:
        info = out._info
        if out._edge is None and out.requires_grad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if info is not None and info.differentiable:
            checks.view_may_be_rebased(out, info)
        if info is not None and info.differentiable:
            if count > 1:
                raise RuntimeError(DIRTY_VIEW)
            if info.base.requires_grad and info.base._edge is None:
                raise RuntimeError(checks.VIEW_OF_LEAF)
            history.rebase(out, node)
        else:
            history.move_retained(out, node)
            out._edge, out._requires_grad = (node, nr), True
    else:
        if is_input:
            out = _same_view(out)
        out._edge, out._requires_grad = (node, nr), True
    if out._info is not None and not (is_input and is_dirty):
        out._info.creation, out._info.version = "custom", out._counter.version
    return out


def _without_history(out):
    """An input that is answered as it is, where it is not to be part of the graph."""
    return out._detached()


def _same_view(tensor):
    """An input that is returned as it is becomes a view of itself, so that the input keeps its own history."""
    return share(tensor, *geometry_of(tensor))


# -- saved tensors ----------------------------------------------------------------------------------------------------


def _keep(ctx, node):
    """Takes what ``save_for_backward`` was given."""
    wanted, ctx.to_save = ctx.to_save, None
    if wanted is None or node is None:
        return
    entries = []
    for at, t in enumerate(wanted):
        if t is None:
            entries.append(None)
        elif not isinstance(t, Tensor):
            raise TypeError(f"save_for_backward can only save variables, but argument {at} is of type {type(t).__name__}")
        elif t._edge is not None and t._edge[0] is node:
            entries.append((history.save(~0, (), [t]), t._edge[1], None))
        else:
            entry = history.save(0, [t], ())
            entries.append((entry, None, history.edge_of(t) if isinstance(entry, saving.Packed) and t.requires_grad else None))
    ctx._saved = entries


def saved_tensors(ctx):
    """``ctx.saved_tensors``: the tensors kept, with their histories, their versions checked; inside of ``jvp`` those kept for that."""
    if ctx.saved_for_forward is not None and ctx.forwards:
        return ctx.saved_for_forward
    if ctx._saved is None:
        raise RuntimeError(SECOND_TIME)
    return tuple([None if entry is None else _unpack(ctx, *entry) for entry in ctx._saved])


def _unpack(ctx, entry, nr, edge):
    """A saved entry as a tensor. ``nr``: of which result it is; ``edge``: what its history was, where hooks have packed it."""
    counter, version = saving.counter_of(entry)
    if counter is not None and counter.version != version:
        if nr is None:
            raise saving.modified(counter, version, entry[0]._spec, saving.edge_now(entry[0]), None)
        raise saving.modified(counter, version, entry[1], (ctx._engine_node, nr), None)
    if type(entry) is not tuple:
        found = entry.unpack()
        if nr is not None:
            edge = ctx._engine_node, nr
        return found if edge is None else history.led_by(found._detached(), edge)
    if nr is None:
        return entry[0]
    storage, spec, offset, counter, _ = entry
    made = make_tensor(storage, spec, offset)
    made._counter = counter
    made._edge, made._requires_grad = (ctx._engine_node, nr), True
    return made


Function._apply = staticmethod(apply_function)
BackwardCFunction.saved_tensors = property(saved_tensors)


def _saved_variables(ctx):
    """``ctx.saved_variables``, the old name."""
    sites.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
    return saved_tensors(ctx)


BackwardCFunction.saved_variables = property(_saved_variables)
