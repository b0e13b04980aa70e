"""A function of the engine that asks below autograd: what is asked, and the history that autograd gives to the answer.

Owns: the kinds of such functions (operators, in place too, composites, what makes tensors), and what PyTorch's autograd itself calls below:
a `detach` of each result that a node keeps, a `clone` of what is written over. May not know: which functions these are (`doors`).
"""
import inspect

import jtensor

from ..autograd.graph import OperatorNode
from ..base.below import STATE
from ..base.errors import missing
from ..ops import saves
from ..tensor import dispatch
from ..tensor.calling.arguments import collect_on_one_device
from ..tensor.core import Tensor
from ..tensor.history import attach, needs_of
from ..tensor.values import any_lifted
from ..trace.tape import LOCAL
from . import formulas, schemas
from .asking import CLASSES, ask, is_asked, kernel, tensors_of

FACTORS = {"mm": ("self", "mat2"), "bmm": ("self", "mat2"), "addmm": ("mat1", "mat2")}       # products, and what is multiplied
NAMES = {}                               # {operator of the engine: its name in PyTorch}, which `doors` knows
_HISTORY = ("_requires_grad", "_edge", "_info", "_auto")


def _overload(name):
    return getattr(getattr(jtensor.ops.aten, name.partition(".")[0]), name.partition(".")[2] or "default")


def kept(node, code, tensor, name="detach"):
    """What a node keeps of a result, or of what is written over, is a tensor of its own, which PyTorch makes by an operator."""
    made = ask(_overload(name), (tensor,), {})
    if type(made) in CLASSES and isinstance(node, OperatorNode):
        if code < 0:
            made._counter = tensor._counter
        formulas.keep(node, code, made)


def named(name, made):
    """What a handler answers as a tuple under the names that the operator's results have."""
    kind = getattr(jtensor.return_types, name, None) if type(made) in (tuple, list) else None
    return made if kind is None else kind(made)


class Entry:
    """A function that asks. ``name``: the operator's; ``original``: the function as it was; ``given(args, kwargs)``: the operator's
    arguments, where they are others than the call's; ``taken``: what the call answers of the operator's results."""

    def __init__(self, name, original, given=None, taken=None):
        self.name, self.original, self.given, self.taken = name, original, given, taken

    def __call__(self, *args, **kwargs):
        if STATE.kernel or not is_asked(args, kwargs):
            return self.original(*args, **kwargs)
        if any_lifted(tensors_of(args, kwargs)):
            raise missing("__torch_dispatch__ inside of vmap and the like", "the mode around a function without vmap")
        return self.answer(args, kwargs)

    def found(self, args, kwargs):
        """(overload, arguments, keywords) of a call; None where PyTorch makes it of other operators."""
        args, kwargs = (self.given or self.as_given)(args, kwargs)
        return schemas.bound(self.name, args, kwargs)

    def as_given(self, args, kwargs):
        """The arguments that are not the defaults of the function."""
        return trimmed(self._parameters(), args, kwargs)

    def _parameters(self):
        found = self.__dict__.get("parameters")
        if found is None:
            found = self.parameters = [(p.name, p.default, p.kind) for p in inspect.signature(self.original).parameters.values()]
        return found

    def within(self, args, kwargs):
        """A form of the call that PyTorch makes of other operators: what it is made of here is asked for."""
        return self.original(*args, **kwargs)

    def answer(self, args, kwargs):
        found = self.found(args, kwargs)
        if found is None:
            return self.within(args, kwargs)
        made = named(self.name, ask(*found))
        made = self.finish(made if self.taken is None else self.taken(made), args, kwargs)
        formulas.remember(made, found)
        return made

    def finish(self, made, args, kwargs):
        """An answer with its history: that of the function's own call, where that has any."""
        results = made if isinstance(made, (tuple, list)) else (made,)
        if not LOCAL.grad_enabled:
            for one in () if STATE.below else results:
                if isinstance(one, Tensor) and one._info is not None:
                    one._info.differentiable = True
            return made
        if any(one.requires_grad for one in tensors_of(args, kwargs)):
            with kernel():
                twin = self.original(*args, **kwargs)
            for one, other in zip(results, twin if isinstance(twin, (tuple, list)) else (twin,), strict=True):
                if isinstance(one, Tensor) and one is not other and other.requires_grad:
                    _take_over(one, other)
            _keep(results)
        else:
            for one in results:                                   # below, gradients were off; where the view was asked for, they are not
                if isinstance(one, Tensor) and one._info is not None and not one._info.differentiable:
                    one._info.creation, one._info.differentiable = "default", True
        return made


def trimmed(parameters, args, kwargs):
    """(arguments by position, by name) of a call without those that are the default of their parameter."""
    given, named, at = [], {}, 0
    for name, default, kind in parameters:
        if kind is inspect.Parameter.VAR_POSITIONAL:
            given.extend(args[at:])
            at = len(args)
        elif kind is inspect.Parameter.VAR_KEYWORD or at >= len(args) or kind is inspect.Parameter.KEYWORD_ONLY:
            continue
        else:
            value, at = args[at], at + 1
            if value is default and default is not inspect.Parameter.empty:
                continue
            if at - 1 == len(given):
                given.append(value)
            else:
                named[name] = value
    defaults = {name: default for name, default, _ in parameters}
    named |= {name: value for name, value in kwargs.items() if value is not defaults.get(name, inspect.Parameter.empty)}
    return given, named


def _take_over(one, other):
    """A tensor gets the history of another, which was made as it was."""
    for field in _HISTORY:
        setattr(one, field, getattr(other, field))


def _codes(node):
    """What a node keeps: an input by its place, a result as ``~place``."""
    plan = getattr(node, "plan", None)
    return saves.codes(plan, node.needs) if plan is not None and node.saved else ()


def _keep(results):
    """Tells of the results that a new node keeps."""
    node = next((one._edge[0] for one in results if isinstance(one, Tensor) and one._edge is not None), None)
    for code in _codes(node):
        if code < 0 and ~code < len(results) and results[~code].requires_grad:
            kept(node, code, results[~code])


def of_product(grad, node):
    """The gradients of a product with a factor whose class is asked, by operators; None of any other, which has a formula of numbers."""
    plan = node.plan
    kept = {code: entry[0] for code, entry in zip(saves.codes(plan, node.needs), node.saved, strict=True) if type(entry) is tuple}
    if node.scalars or not any(type(one) in CLASSES for one in kept.values()):
        return None
    left, right = [plan.notes.where[name] for name in FACTORS[plan.operator.name]]

    def turned(matrix):
        return matrix.t() if matrix.dim() == 2 else matrix.transpose(1, 2)
    return tuple([grad.matmul(turned(kept[right])) if at == left else turned(kept[left]).matmul(grad) if at == right
                  else grad.sum_to_size(plan.inputs[at].shape) for at in node.needs])


class Operation(Entry):
    """The call of an operator of the engine: `operator.record`, and what Python's own operators call."""

    def __init__(self, operator, name, original, given=None, taken=None):
        super().__init__(name, original, given, taken)
        self.operator = operator
        self.parameters = [(p.name, p.default, inspect.Parameter.KEYWORD_ONLY if p.keyword_only else
                            inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in operator.parameters]

    def as_given(self, args, kwargs):
        given, named, parameters = [], {}, self.operator.parameters
        for at, (value, parameter) in enumerate(zip(args, parameters, strict=False)):
            if value is parameter.default and not parameter.required:
                continue
            if at == len(given) and not parameter.keyword_only:
                given.append(value)
            else:
                named[parameter.name] = value
        return given, named

    def answer(self, args, kwargs):
        return super().answer(self.completed(args), kwargs)

    def within(self, args, kwargs):
        raise schemas.refused(self.operator.name)

    def completed(self, args):
        """All arguments, the defaults too."""
        return *args, *[parameter.default for parameter in self.operator.parameters[len(args):]]

    def finish(self, made, args, kwargs):
        operator = self.operator
        if operator.sync or not LOCAL.grad_enabled or not any(one.requires_grad for one in tensors_of(args, {})):
            return made
        key, template, tensors, scalars = collect_on_one_device(operator, args)
        if operator.flipped is not None:
            operator, key, template = dispatch.flipped(operator, key, template, tensors)
        plan = dispatch.PLANS.get(key) or dispatch.plan_of(key, operator, template, tensors=tensors)
        needs = needs_of(plan, tensors)
        if needs:
            if CLASSES and operator.name in FACTORS and any(type(one) in CLASSES for one in tensors):
                plan.inverse = of_product
            results = made if isinstance(made, (tuple, list)) else (made,)
            node = attach(plan, tensors, needs, results, scalars)
            for code in saves.codes(plan, needs) if results[0]._edge is not None else ():
                if code < 0 and results[~code].requires_grad:
                    kept(node, code, results[~code])
        return made


class Written(Entry):
    """A call in place."""

    def answer(self, args, kwargs):
        found = self.found(args, kwargs)
        if found is None:
            return self.within(args, kwargs)
        self_ = args[0]
        tracked = LOCAL.grad_enabled and any(one.requires_grad for one in tensors_of(args, kwargs))
        node = self._record(self_, args, kwargs) if tracked else None
        codes = _codes(node)
        if 0 in codes:
            kept(node, 0, self_, "clone")
        version = self_._counter.version
        ask(*found)
        if type(self_) in CLASSES and self_._counter.version == version:        # what the class has written to is its own affair
            self_._counter.version += 1
        for code in codes:
            if code < 0:
                kept(node, code, self_)
        return self_

    def _record(self, self_, args, kwargs):
        """The node that the call itself hangs up; what it has written is taken back, for that is the answer's affair."""
        storage, before, version = self_._storage, self_._storage.value, self_._counter.version
        with kernel():
            self.original(*args, **kwargs)
        storage.value, self_._counter.version, self_._cached = before, version, None
        node = self_._edge and self_._edge[0]
        return getattr(node, "function", None) or node


class WrittenOperation(Written):
    """The call in place of an operator of the engine: `operator.write`."""

    def __init__(self, operator, name, original, given=None):
        super().__init__(name, original, given)
        self.operator = operator

    as_given, completed = Operation.as_given, Operation.completed

    def answer(self, args, kwargs):
        return super().answer(self.completed(args), kwargs)

    def within(self, args, kwargs):
        raise schemas.refused(self.operator.name)


class OutOf(Entry):
    """`dispatch.call_out(operator, args, out)`."""

    def answer(self, args, kwargs):
        operator, given, out = args
        name = NAMES.get(operator, operator.name)
        entry = Operation(operator, name, self.original)
        positional, named = entry.as_given(given, {})
        found = schemas.bound(name, positional, {**named, "out": out})
        if found is None:
            raise schemas.refused(operator.name)
        if LOCAL.grad_enabled:                                     # what autograd refuses
            for one in tensors_of((*given, out), {}):
                if one.requires_grad:
                    return self.original(*args)
        return ask(*found)


class Unknown(Entry):
    """An operator of the engine that PyTorch has not: only within others is it called."""

    def answer(self, args, kwargs):
        raise schemas.refused(self.name)
