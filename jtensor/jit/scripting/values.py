"""What stands for something while a program is compiled: its values, functions, operators, ranges, tuples that are known part by part.

Owns: what each of them answers for an attribute, a call, its parts. May not know: syntax, how functions are compiled (``state.unit``).
"""
from ...tensor.core import Tensor
from . import forms, kinds, matching
from .source import absent, error


class Sugared:
    """``sort``: what errors call it."""

    sort = "value"

    def attribute(self, state, name, place):
        raise error(f"attribute lookup is not defined on {self.sort}", place)

    def called(self, state, args, kwargs, place, many=1):
        raise error(f"cannot call a {self.sort}", place)

    def as_value(self, state, place):
        raise error(f"{self.sort} cannot be used as a value", place)

    def as_parts(self, state, place, count=None):
        raise error(f"{self.sort} cannot be used as a tuple", place)

    def iterated(self, state, place):
        """What a loop goes through."""
        raise error(f"{self.sort} cannot be used as an iterable", place)

    def set_attribute(self, state, name, value, place):
        raise error(f"attribute assignment is not defined on {self.sort}", place)

    def item(self, state, index, place):
        raise error(f"{self.sort} is not subscriptable", place)

    def length(self, state, place):
        raise error(f"{self.sort} has no length", place)

    parts = None                                                  # of what is known part by part


_PROPERTIES = {"dtype": kinds.INT, "device": kinds.DEVICE, "grad": kinds.TENSOR, "data": kinds.TENSOR,
               "is_cuda": kinds.BOOL,
               "is_cpu": kinds.BOOL, "is_sparse": kinds.BOOL, "is_mkldnn": kinds.BOOL, "is_quantized": kinds.BOOL, "is_meta": kinds.BOOL,
               "is_mps": kinds.BOOL, "is_xpu": kinds.BOOL, "is_nested": kinds.BOOL, "layout": kinds.INT, "requires_grad": kinds.BOOL,
               "itemsize": kinds.INT, "nbytes": kinds.INT, "name": kinds.optional(kinds.STR)}
_METHODS = {"shape": "aten::size", "T": "aten::numpy_T", "H": "aten::matrix_H", "mT": "aten::mT", "mH": "aten::mH", "real": "aten::real",
            "imag": "aten::imag", "ndim": "aten::dim", "is_leaf": "aten::is_leaf"}


_OF_PYTHON = frozenset("""apply_ as_subclass bfloat16 bool const_data_ptr data_ptr dim_order eig grad_dtype grad_fn ipu is_shared lstsq lu
    map2_ map_ module_load mtia ndimension nelement new new_tensor numpy register_hook register_post_accumulate_grad_hook reinforce
    share_memory_ solve storage storage_type symeig to_sparse_coo unique untyped_storage volatile xpu""".split())
"""What tensors have and the language has not."""
_CASTS = {"float": 6, "double": 7, "half": 5, "int": 3, "long": 4, "short": 2, "char": 1, "byte": 0}


class Simple(Sugared):
    """A value of the program."""

    def __init__(self, value):
        self.value = value

    @property
    def sort(self):
        return f"value of type '{self.value.type.shown()}'"

    def as_value(self, state, place):
        return self.value

    def attribute(self, state, name, place):
        value, kind = self.value, self.value.type
        if kind == kinds.TENSOR:
            if name in _PROPERTIES:
                return Simple(state.add("prim::" + name, [value], _PROPERTIES[name], data=forms.of("prim::" + name)[0]))
            if name in _METHODS:
                if not forms.of(_METHODS[name]):
                    raise absent(f"Tensor.{name}", place)
                return Simple(state.call(_METHODS[name], value, place=place))
            if name in _CASTS:
                return Cast(value, _CASTS[name])
            if name == "type":
                return Operator("aten::to", value)
            if name in ("cpu", "cuda"):
                return Moved(value, name)
            if name == "tolist":
                return ToList(value)
        if kind == kinds.DEVICE and name in ("type", "index"):
            return Simple(state.add("prim::" + name, [value], kinds.STR if name == "type" else kinds.optional(kinds.INT),
                                    data=forms.of("prim::" + name)[0]))
        if kinds.is_tuple(kind):
            found = kind.what.names if kind.name == "named tuple" else kind.note or ()
            if name in found:
                at = state.constant(list(found).index(name))
                return Simple(state.add("prim::TupleIndex", [value, at], kinds.fields(kind)[list(found).index(name)]))
        if kind.what is not None and kind.what.sort == "enum" and name in ("name", "value"):
            return Simple(state.add("prim::Enum" + name.title(), [value], kinds.STR if name == "name" else kind.what.kinds[0], data=name))
        if kind.what is not None and kind.what.sort in ("module", "class"):
            return state.unit.attribute(state, value, name, place)
        if kind.what is not None and kind.what.sort == "interface" and name in kind.what.declared:
            return Method(value, kind.what.declared[name])
        operator = "aten::" + name
        if any(one.arguments and one.arguments[0].name == "self" and _may_be(one.arguments[0].kind, kind) for one in forms.of(operator)):
            return Operator(operator, value)
        if kind == kinds.TENSOR and hasattr(Tensor, name) and name not in _OF_PYTHON:
            raise absent(f"Tensor.{name}", place)
        if kind.name == "Future":
            return Operator("aten::wait", value)
        raise error(f"'{kind.shown()}' object has no attribute or method '{name}'.", place)

    def set_attribute(self, state, name, value, place):
        kind = self.value.type
        if kind.what is None or kind.what.sort not in ("module", "class"):
            raise error("Tried to set an attribute: " + name + " on a non-class: " + kind.shown(), place)
        state.unit.set_attribute(state, self.value, name, value, place)

    def called(self, state, args, kwargs, place, many=1):
        if self.value.type.what is not None and self.value.type.what.sort in ("module", "class"):
            if self.value.type.what.hooks or self.value.type.what.pre_hooks:
                return state.unit.called_with_hooks(state, self.value, args, kwargs, place, many)
            method = "forward" if self.value.type.what.sort == "module" else "__call__"
            return self.attribute(state, method, place).called(state, args, kwargs, place, many)
        raise error(f"cannot call a {self.sort}", place)

    def as_parts(self, state, place, count=None):
        kind = self.value.type
        if kinds.is_tuple(kind):
            return [Simple(one) for one in state.unpacked(self.value)]
        if kind.name == "List":
            if count is None:
                raise error(f"{kind.shown()} cannot be used as a tuple", place)
            return [Simple(one) for one in state.add_node("prim::ListUnpack", [self.value], kind.of * count).outputs]
        raise error(f"{kind.shown()} cannot be used as a tuple", place)

    def iterated(self, state, place):
        kind = self.value.type
        if kind.name == "List" or kind in (kinds.TENSOR, kinds.STR):
            return self
        if kind.name == "Dict":
            return Simple(state.call("aten::keys", self.value, place=place))
        if kinds.is_tuple(kind):
            return Parts(self.as_parts(state, place))
        if kind.what is not None and kind.what.sort == "module":
            return state.unit.iterated(state, self.value, place)
        raise error(f"'{kind.shown()}' object is not iterable", place)

    def length(self, state, place):
        return state.call("aten::len", self.value, place=place)

    def item(self, state, index, place):
        if self.value.type == kinds.TENSOR:
            return Simple(state.call("aten::select", self.value, state.constant(0), index, place=place))
        return Simple(state.call("aten::__getitem__", self.value, index, place=place))


def _may_be(wanted, kind):
    if forms.is_variable(wanted):
        return True
    if wanted.of and kind.of and wanted.name == kind.name:
        return all(_may_be(one, other) or kinds.unified(one, other) for one, other in zip(wanted.of, kind.of, strict=False))
    return kinds.is_part(kinds.plain(kind), wanted) or kinds.unified(kind, wanted) == kind or kind == kinds.TENSOR and wanted in (
        kinds.NUMBER, kinds.INT, kinds.FLOAT)


class Cast(Sugared):
    """``x.float``: a conversion to a type."""

    sort = "method"

    def __init__(self, value, code):
        self.value, self.code = value, code

    def called(self, state, args, kwargs, place, many=1):
        flags = [state.constant(one) for one in (False, False, None)]
        return Simple(state.call("aten::to", self.value, state.constant(self.code), *flags, place=place))


class Moved(Sugared):
    """``x.cpu``, ``x.cuda``."""

    sort = "method"

    def __init__(self, value, name):
        self.value, self.name = value, name

    def called(self, state, args, kwargs, place, many=1):
        if args or kwargs:
            raise absent(f"Tensor.{self.name} with arguments", place)
        return Simple(state.add("aten::" + self.name, [self.value], kinds.TENSOR))


class ToList(Sugared):
    """``x.tolist``, whose result's type the annotation says."""

    sort = "method"

    def __init__(self, value):
        self.value = value

    def called(self, state, args, kwargs, place, many=1):
        hint = state.hint
        if hint is None:
            raise error("Expected type hint for result of tolist()", place)
        return Simple(state.add("prim::tolist", [self.value], hint))


class Operator(Sugared):
    """An operator, or one bound to its first argument."""

    sort = "builtin"

    def __init__(self, name, own=None):
        self.name, self.own = name, own

    def called(self, state, args, kwargs, place, many=1):
        return Simple(matching.choose(state, self.name, args, kwargs, place, self.own))


class Function(Sugared):
    """A compiled function. ``made``: with a ``form``, a qualified ``name``."""

    sort = "function"

    def __init__(self, made):
        self.made = made

    def called(self, state, args, kwargs, place, many=1):
        matched = matching.call_of(state, self.made.form, args, kwargs, place)
        if self.made.is_left_out:
            return _left_out(state, matched.returns[0])
        return Simple(state.add("prim::CallFunction", matched.inputs, matched.returns[0], data=self.made))


class Widened(Function):
    """A function that takes a number where its program has a list: as many as the first argument has dimensions behind the second."""

    def __init__(self, made, names):
        super().__init__(made)
        self.names = names

    def called(self, state, args, kwargs, place, many=1):
        known = [one.name for one in self.made.form.arguments]
        first = args[0].value if args else next(one.value for one in kwargs if one.name == known[0])
        for at, one in enumerate((*args, *kwargs)):
            name = one.name or known[at]
            if name in self.names and one.value.type in (kinds.INT, kinds.FLOAT):
                count = state.call("aten::sub", state.call("aten::dim", first), state.constant(2))
                value = one.value
                if name == "scale_factor" and value.type == kinds.INT:
                    value = state.call("aten::Float", value)
                one.value = state.call("aten::mul", state.add("prim::ListConstruct", [value], kinds.listed(value.type)), count)
        return super().called(state, args, kwargs, place, many)


class Chosen(Sugared):
    """A function that answers more or fewer tensors: which one it is, a flag says that is known when it is compiled."""

    sort = "boolean dispatch"

    def __init__(self, choice):
        self.choice = choice

    def called(self, state, args, kwargs, place, many=1):
        flag, at, found, without = self.choice
        given = next((one for one in kwargs if one.name == flag), None)
        if given is None and at < len(args):
            given = args[at]
        if given is not None and (given.value.node is None or not given.value.node.is_constant):
            raise error(f"Keyword argument '{flag}' for boolean dispatch at position was not constant" if given.name else
                        f"Argument for boolean dispatch at position {at} was not constant", place)
        if given is None or not given.value.node.data:
            found = without
        made = Chosen(found) if isinstance(found, tuple) else state.unit.function(found, place)
        return made.called(state, args, kwargs, place, many)


class Overloaded(Sugared):
    """A function that is compiled for several signatures: the first that fits is called."""

    sort = "function"

    def __init__(self, made):
        self.made = made

    def called(self, state, args, kwargs, place, many=1):
        matched = matching.first_of(state, [one.form for one in self.made], args, kwargs, place)
        made = next(one for one in self.made if one.form is matched.form)
        return Simple(state.add("prim::CallFunction", matched.inputs, matched.returns[0], data=made))


class OverloadedMethod(Sugared):
    """A method that is compiled for several signatures."""

    sort = "method"

    def __init__(self, own, made):
        self.own, self.made = own, made

    def called(self, state, args, kwargs, place, many=1):
        matched = matching.first_of(state, [one.form for one in self.made], [matching.Given(self.own), *args], kwargs, place)
        made = next(one for one in self.made if one.form is matched.form)
        return Simple(state.add("prim::CallMethod", matched.inputs, matched.returns[0], data=made))


class Method(Sugared):
    """A compiled method of a value."""

    sort = "method"

    def __init__(self, own, made):
        self.own, self.made = own, made

    def called(self, state, args, kwargs, place, many=1):
        matched = matching.call_of(state, self.made.form, [matching.Given(self.own), *args], kwargs, place)
        if self.made.is_left_out:
            return _left_out(state, matched.returns[0])
        return Simple(state.add("prim::CallMethod", matched.inputs, matched.returns[0], data=self.made))


def _left_out(state, kind):
    """A call of what `torch.jit.unused` has left out."""
    given = [state.constant("This Python function is annotated to be ignored and cannot be run"), state.constant(None)]
    state.add_node("prim::RaiseException", given, data=forms.of("prim::RaiseException")[0])
    return Simple(state.add("prim::Uninitialized", [], kinds.plain(kind)))


class Parts(Sugared):
    """What is known part by part: a tuple, modules of a list."""

    sort = "Tuple"

    def __init__(self, parts):
        self.parts = parts

    def as_value(self, state, place):
        made = [one.as_value(state, place) for one in self.parts]
        return state.add("prim::TupleConstruct", made, kinds.paired(*[one.type for one in made]))

    def as_parts(self, state, place, count=None):
        return self.parts

    def iterated(self, state, place):
        return self

    def length(self, state, place):
        return state.constant(len(self.parts))

    def item(self, state, index, place):
        if index.node is None or not index.node.is_constant:
            raise error("Expected integer literal for index", place)
        at = index.node.data
        if not -len(self.parts) <= at < len(self.parts):
            raise error(f"Tuple index out of range. Tuple is length {len(self.parts)} and index is {at}", place)
        return self.parts[at]


class Base(Sugared):
    """``super()``, which the language takes for a tensor."""

    sort = "super"

    def attribute(self, state, name, place):
        raise error(f"'Tensor' object has no attribute or method '{name}'.", place)

    def as_value(self, state, place):
        raise absent("super()", place)
