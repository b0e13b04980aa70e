"""The functions of the engine that ask below autograd otherwise than operators and composites do: views by a rule, what makes tensors,
numbers that are looked at, indices, dropout's noise, and short cuts that step aside.

Owns: a kind of `Entry` for each. May not know: which functions these are (`doors`).
"""

import jtensor

from ..base.below import STATE
from ..ops.registry import REGISTRY
from ..tensor import dispatch
from ..tensor.core import Tensor
from ..tensor.creating import from_data
from ..tensor.viewing import shapes
from ..views import rules
from . import entries, schemas
from .asking import CLASSES, ask, below, is_asked, kernel

# -- views by their rules -----------------------------------------------------------------------------------------------

_END = (1 << 63) - 1


def _view_call(name, args):
    """The operator, and its further arguments, that a view by a rule is."""
    rule, args = args[0], list(args[2:])
    if rule is rules.view:
        return "_unsafe_view" if name == "UnsafeViewBackward0" else "view", [list(args[0])]
    if rule is rules.slice_:
        dim, start, stop, step = args
        return "slice", [dim, 0 if start is None else start, _END if stop is None else stop, step]
    if rule is rules.narrow:
        dim, start, length = args
        return "slice", [dim, start, start + length]
    if rule is rules.expand:
        return "expand", [list(args[0])]
    if rule is rules.squeeze and args and isinstance(args[0], tuple):
        return "squeeze", [list(args[0])]
    return _RULES.get(rule), args


_RULES = {rules.select: "select", rules.transpose: "transpose", rules.t: "t", rules.diagonal: "diagonal", rules.unfold: "unfold",
          rules.squeeze: "squeeze", rules.unsqueeze: "unsqueeze", rules.permute: "permute", shapes._same: "alias"}


def named(rule, name):
    """The operator that a view by a rule is, without its arguments; None where it is none."""
    if rule in (rules.view, rules.unflatten):
        return "_unsafe_view" if name == "UnsafeViewBackward0" else "view"
    return _RULES.get(rule) or _OTHERS.get(rule)


_OTHERS = {rules.slice_: "slice", rules.narrow: "slice", rules.expand: "expand", rules.movedim: "permute", rules.T: "permute"}


class View(entries.Entry):
    """`views.view_of(self, rule, name, *args)`."""

    def found(self, args, kwargs):
        self_, rule = args[0], args[1]
        name, rest = _view_call(args[2], args[1:])
        if rule in (rules.movedim, rules.T):
            name, rest = "permute", [[*rule(tuple(range(self_.ndim)), (1,) * self_.ndim, 0, *rest)[0]]]
        elif rule is rules.permute:
            rest = [list(rest[0])]
        elif rule is rules.unflatten:
            name, rest = "view", [list(rule(tuple(self_.shape), self_.stride(), 0, *rest)[0])]
        found = schemas.bound(name, [self_, *rest], {}) if name else None
        if found is None:
            raise schemas.refused(args[2])
        return found


class Pieces(entries.Entry):
    """`pieces._multi(self, rule, name, *args)`."""

    def found(self, args, kwargs):
        self_, rule, name, *rest = args
        if rule is rules.chunk:
            count, dim = rest
            size = self_.shape[dim]
            return schemas.bound("split", [self_, -(-size // count), dim], {})
        name = {"UnbindBackward0": "unbind", "UnsafeSplitBackward0": "unsafe_split", "SplitBackward0": "split",
                "SplitWithSizesBackward0": "split_with_sizes"}.get(name, "")
        return schemas.bound(name, [self_, *[list(one) if isinstance(one, tuple) else one for one in rest]], {})

    def answer(self, args, kwargs):
        return tuple(super().answer(args, kwargs))


class Slices(entries.Entry):
    """`pieces._each(self, geometries_of, name, *args)`: pieces that PyTorch cuts one by one."""

    def answer(self, args, kwargs):
        self_, rule, _, *rest = args
        if rule not in _CUTS:
            raise schemas.refused(args[2])
        dim = rest[1] if rule is rules.tensor_split else {rules.vsplit: 0, rules.hsplit: int(self_.ndim > 1), rules.dsplit: 2}[rule]
        step, found = self_.stride(dim), []
        for size, _, offset in rule(tuple(self_.shape), self_.stride(), 0, *rest):
            start = offset // step if step else 0
            found.append(shapes.slice_(self_, dim, start, start + size[dim], 1))
        return tuple(found)


_CUTS = frozenset((rules.tensor_split, rules.hsplit, rules.vsplit, rules.dsplit))

# -- tensors that are made ----------------------------------------------------------------------------------------------

SIZED = frozenset(("zeros", "ones", "empty", "rand", "randn"))


class Made(entries.Entry):
    """A factory."""

    def __call__(self, *args, **kwargs):
        if STATE.kernel or not is_asked(args, kwargs):
            return self.original(*args, **kwargs)
        return self.answer(args, kwargs)

    def found(self, args, kwargs):
        args, named = self.as_given(args, kwargs)
        named = {key: value for key, value in named.items() if key != "requires_grad"}
        if self.name in SIZED:
            size = named.pop("size", args)
            args = [list(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else list(size)]
        if self.name.startswith("new_") and len(args) > 1 and not isinstance(args[1], (list, tuple)) and self.name != "new_full":
            args = [args[0], args[1:]]
        if named.get("out") is None:
            if not self.name.endswith("_like") and not self.name.startswith("new_"):
                if self.name == "normal" and not ("size" in named or len(args) > 2):
                    return schemas.bound(self.name, args, named)
                named["device"] = jtensor.device(named.get("device") or jtensor.get_default_device())
            named.setdefault("pin_memory", False)
        return schemas.bound(self.name, args, named)

    def answer(self, args, kwargs):
        found = self.found(args, kwargs)
        if found is None:
            return self.within(args, kwargs)
        made = ask(*found)
        return made.requires_grad_() if kwargs.get("requires_grad") else made


class Lifted(entries.Entry):
    """A tensor of what is written in the program."""

    def __call__(self, *args, **kwargs):
        if args and type(args[0]) in CLASSES and not STATE.kernel:
            return self._copied(args[0], **kwargs)
        if STATE.kernel or not STATE.modes:
            return self.original(*args, **kwargs)
        with kernel():
            made = self.original(*args, **{**kwargs, "requires_grad": False} if "requires_grad" in kwargs else kwargs)
        made = ask(jtensor.ops.aten.lift_fresh.default, (made,), {})
        return made.requires_grad_() if kwargs.get("requires_grad") else made


    @staticmethod
    def _copied(tensor, dtype=None, device=None, requires_grad=False, pin_memory=False):
        copied = tensor.detach().to(dtype=dtype or tensor.dtype, device=device or tensor.device, copy=True)
        return copied.requires_grad_() if requires_grad else copied


class Number(entries.Entry):
    """A number of a tensor."""

    def answer(self, args, kwargs):
        if self.name == "bool" and args[0].numel() != 1:
            return self.original(*args)
        made = ask(jtensor.ops.aten._local_scalar_dense.default, args[:1], {})
        return bool(made) if self.name == "bool" else made


class Drawn(entries.Written):
    """Numbers drawn into a tensor."""

    def as_given(self, args, kwargs):
        if self.name != "bernoulli_":
            args, named = super().as_given(args, kwargs)
            return args, {key.rstrip("_") if key == "from_" else key: value for key, value in named.items()}
        return super().as_given(args, kwargs)

    def _record(self, self_, args, kwargs):
        raise schemas.refused(f"{self.name}() of a tensor with a history")


class Indexed(entries.Entry):
    """`index_read(self, listed)`."""

    def found(self, args, kwargs):
        return schemas.bound("index", [args[0], list(args[1])], {})


class IndexWritten(entries.Written):
    """`index_write(self, listed, value, accumulate)`."""

    def found(self, args, kwargs):
        self_, listed, value, *rest = args
        if not isinstance(value, Tensor):
            value = from_data.tensor(value, dtype=self_.dtype)
        return schemas.bound("index_put_", [self_, list(listed), value, *rest], {})


class SetItem(entries.Entry):
    """`indexing.setitem`: PyTorch makes a number a tensor first."""

    def answer(self, args, kwargs):
        self_, index, value = args
        if not isinstance(value, Tensor):
            value = from_data.tensor(value, dtype=self_.dtype)
        return self.original(self_, index, value)


class Called(entries.Entry):
    """`dispatch.call(operator, args, out)`, and `call_inplace(operator, args)`."""

    def __call__(self, operator, args, *out):
        if STATE.kernel or not is_asked(args, {}):
            return self.original(operator, args, *out)
        if self.name == "in place":
            return operator.write(*args)
        if out and out[0] is not None:
            return dispatch.call_out(operator, args, out[0])
        return operator.record(*args)


class Quiet(entries.Entry):
    """What PyTorch does without its dispatcher."""

    def answer(self, args, kwargs):
        with kernel():
            return self.original(*args, **kwargs)


class To(entries.Entry):
    """`Tensor.to(...)`: what was asked for beside the type is told."""

    def answer(self, args, kwargs):
        told = {}
        if any(isinstance(one, Tensor) for one in (*args[1:], *kwargs.values())):
            told = {"layout": jtensor.strided, "device": args[0].device}
        elif kwargs.get("device") is not None or any(isinstance(one, (str, jtensor.device)) for one in args[1:]):
            told = {"device": args[0].device}
        STATE.asked_of_to = told
        try:
            return self.original(*args, **kwargs)
        finally:
            del STATE.asked_of_to


class Chosen(entries.Entry):
    """``where`` of numbers, of which PyTorch makes tensors."""

    def answer(self, args, kwargs):
        args = list(args)
        kinds = {one.dtype for one in args[1:] if isinstance(one, Tensor)}
        for at in (1, 2):
            if len(args) > at and isinstance(args[at], (int, float, complex)) and len(kinds) == 1:
                kind, = kinds
                found = schemas.bound("scalar_tensor", [args[at]], {"dtype": kind, "layout": jtensor.strided, "device": args[0].device})
                args[at] = ask(*found)
        return super().answer(args, kwargs)


class Infix(entries.Entry):
    """``a + b``, by the function ``instead``: a TypeError of a handler leaves it to the other operand, as any other does in PyTorch."""

    def __init__(self, original, instead=None, name=""):
        super().__init__(name, original)
        self.instead = instead or original

    def answer(self, args, kwargs):
        try:
            return self.computed(args, kwargs)
        except TypeError:
            return NotImplemented

    def computed(self, args, kwargs):
        return self.instead(*args, **kwargs)


class Shifted(Infix):
    """``x << 1``, by a name of its own."""

    def computed(self, args, kwargs):
        found = self.found(args, kwargs)
        return self.original(*args, **kwargs) if found is None else self.finish(ask(*found), args, kwargs)


class Normalised(entries.Entry):
    """`batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)`."""

    def answer(self, args, kwargs):
        x, weight, bias, mean, var, training, momentum, eps, _ = args
        if not x.numel() or not training and (mean is None or var is None):
            return self.original(*args)
        with below():
            ask(jtensor.ops.aten.empty.memory_format, ([0],), {"dtype": jtensor.uint8, "layout": jtensor.strided, "device": x.device})
        made = ask(*schemas.bound("native_batch_norm", [x, weight, bias, mean, var, training, momentum, eps], {}))
        operator = REGISTRY.operators["native_batch_norm.raw"]
        raw = x, weight, bias, *((None, None) if training else (mean, var)), training, eps
        with below(), kernel():
            own = operator.record(*raw)                    # of running statistics the node keeps what PyTorch's result does not have
        entries.Operation(operator, "", operator.record).finish((*made, own[3]) if training else (made[0], *own[1:]), raw, {})
        return made[0]


class Noise(entries.Entry):
    """`dropout_noise(input, p)`."""

    def answer(self, args, kwargs):
        x, p = args
        aten = jtensor.ops.aten
        with below():
            noise = ask(aten.empty_like.default, (x,), {})
            noise = ask(aten.bernoulli_.float, (noise, 1 - p) if p != 0.5 else (noise,), {})
            return ask(aten.div_.Scalar, (noise, 1 - p), {})


def step(identity, tensors, numbers, run):
    """An optimizer's step, parameter by parameter."""
    run(numbers)


def _spread_given(parameters, args, kwargs):
    """The arguments of ``std`` and its like, as PyTorch's parser resolves their two forms."""
    names = [name for name, _, _ in parameters]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    dim, unbiased, correction = given.get("dim"), given.get("unbiased"), given.get("correction")
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None and (dim is not None or unbiased is not None):
        correction = 0 if unbiased is False else 1
    named = {"correction": correction, "keepdim": given.get("keepdim", False), "out": given.get("out")}
    return [given["input"], dim], {key: value for key, value in named.items() if value is not None}


class Spread(entries.Entry):
    """``std``, ``var`` and those with the mean."""

    def as_given(self, args, kwargs):
        return _spread_given(self._parameters(), args, kwargs)


class Aside(entries.Entry):
    """A short cut of the engine, which is not taken: ``instead`` is called in its place."""

    def __init__(self, original, instead):
        super().__init__("", original=original)
        self.answer = lambda args, kwargs: instead(*args, **kwargs)
