"""`torch.func.functionalize` while `make_fx` looks on: operators in place become operators that write nothing, as PyTorch's graph has them.

A tensor that is written to, or that is a view, is known by its base and by the views that led to it. A write gives the base another value;
the others are made anew from it when they are used. Owns: that, the operators by which a view is put back. May not know: graphs.
"""
import jtensor

from ...base.errors import missing
from ...tensor.core import Tensor
from ...utils import _python_dispatch as dispatching
from ...utils import _pytree as pytree

_VIEWS = frozenset("""view select slice t transpose permute unsqueeze squeeze expand alias detach diagonal as_strided split unbind
    split_with_sizes unfold""".split())
_OTHERWISE = {"copy_": "copy", "fill_": "fill", "zero_": "zero", "index_put_": "index_put"}


def _put_back(func, whole, part, args, kwargs, seen):
    """The whole of which a view has been given another value. ``seen``: which operator is called for a view."""
    aten, name = jtensor.ops.aten, func.overloadpacket.__name__
    if name == "view":
        return seen(aten.view.default)(part, list(whole.shape))
    if name == "select":
        return aten.select_scatter.default(whole, part, *args, **kwargs)
    if name == "slice":
        return aten.slice_scatter.default(whole, part, *args, **kwargs)
    if name == "diagonal":
        return aten.diagonal_scatter.default(whole, part, *args, **kwargs)
    if name in ("t", "transpose"):
        return seen(func)(part, *args, **kwargs)
    if name == "permute":
        order = [d % whole.dim() for d in args[0]]
        return seen(func)(part, [order.index(d) for d in range(whole.dim())])
    if name == "unsqueeze":
        return seen(aten.squeeze.dim)(part, *args)
    if name in ("alias", "detach"):
        return part
    raise missing(f"functionalize of a write to a view by {name} within make_fx", "the same with another view, or by index_put")


class _Base:
    """What tensors are views of. ``value``: the latest; ``age``: how often it was written."""

    def __init__(self, value):
        self.value, self.age = value, 0


class _Alias:
    """A tensor of the function as views of a base. ``tensor``: what it is, as of ``age``; ``held``: itself, so that it stays."""

    def __init__(self, held, base, chain, tensor):
        self.held, self.base, self.chain, self.tensor, self.age = held, base, chain, tensor, 0


class Writes(dispatching.TorchDispatchMode):
    """Rewrites what writes. ``copies``: whether views become copies, too."""

    def __init__(self, copies):
        super().__init__()
        self.copies, self._known = copies, {}

    def _alias(self, x):
        found = self._known.get(id(x))
        if found is None:
            found = self._known[id(x)] = _Alias(x, _Base(x), (), x)
        return found

    def value(self, x):
        """What a tensor of the function is by now."""
        if not isinstance(x, Tensor) or id(x) not in self._known:
            return x
        alias = self._known[id(x)]
        if alias.age != alias.base.age:
            alias.tensor = alias.base.value
            for step in alias.chain:
                alias.tensor = self._step(alias.tensor, step)
            alias.age = alias.base.age
        return alias.tensor

    def _step(self, x, step):
        func, args, kwargs, at = step
        made = self._seen(func)(x, *args, **kwargs)
        return made if at is None else made[at]

    def _seen(self, func):
        """A view, or its copy."""
        if not self.copies or func.overloadpacket.__name__ == "detach":
            return func
        packet = getattr(jtensor.ops.aten, func.overloadpacket.__name__ + "_copy", None)
        if packet is None:
            raise missing(f"a copy instead of {func} (functionalize within make_fx)", 'functionalize(f, remove="mutations")')
        return getattr(packet, func._overloadname)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, func.overloadpacket.__name__
        if "out" in kwargs:
            raise missing("functionalize of out= within make_fx", "the operator without out=")
        if name in _VIEWS and func.namespace == "aten":
            return self._view(func, args, kwargs)
        if name.endswith("_") and not name.endswith("__"):
            return self._written(func, name, args, kwargs)
        return func(*pytree.tree_map(self.value, tuple(args)), **pytree.tree_map(self.value, kwargs))

    def _view(self, func, args, kwargs):
        source = self._alias(args[0])
        made = self._seen(func)(source.tensor, *args[1:], **kwargs)             # as it was: it is made anew when it is used
        for at, one in enumerate(made) if isinstance(made, (tuple, list)) else ((None, made),):
            self._known[id(one)] = _Alias(one, source.base, (*source.chain, (func, args[1:], kwargs, at)), one)
        return made

    def _written(self, func, name, args, kwargs):
        packet = getattr(jtensor.ops.aten, _OTHERWISE.get(name, name[:-1]), None)
        if packet is None or func.namespace != "aten" or func._overloadname not in packet.overloads():
            raise missing(f"functionalize of {func} within make_fx", "a function without it")
        alias = self._alias(args[0])
        made = getattr(packet, func._overloadname)(*pytree.tree_map(self.value, tuple(args)), **pytree.tree_map(self.value, kwargs))
        if made.dtype is not args[0].dtype:
            made = jtensor.ops.aten._to_copy.default(made, dtype=args[0].dtype)
        base = alias.base
        if alias.chain:
            wholes = [base.value]
            for step in alias.chain[:-1]:
                wholes.append(self._step(wholes[-1], step))
            for whole, (func, rest, named, at) in zip(reversed(wholes), reversed(alias.chain), strict=True):
                if at is not None:
                    raise missing("functionalize of a write to one of several views within make_fx", "the same with a slice")
                made = _put_back(func, whole, made, rest, named, self._seen)
            base.value, base.age = made, base.age + 1
            self.value(args[0])                                   # PyTorch makes it anew at once
        else:
            base.value, base.age = made, base.age + 1
            alias.tensor, alias.age = made, base.age
        return args[0]

    def finish(self, made, given):
        """What the function answers; arguments that it wrote to get their values."""
        made = pytree.tree_map(self.value, made)
        for one in given:
            if isinstance(one, Tensor) and id(one) in self._known:
                value = self.value(one)
                if value is not one:
                    jtensor.ops.aten.copy_.default(one, value)
        return made
