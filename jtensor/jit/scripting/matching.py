"""Which form of an operator, function or method a call is, with its arguments as that form has them.

PyTorch tries the forms in order, first as the arguments are, then with conversions. Owns: fitting arguments, conversions, messages of what
does not fit. May not know: syntax, names of Python's.
"""
import ast

from . import forms, kinds
from .source import absent, error, unsupported


class Unfit(Exception):
    """Why a call is not of a form."""


class Given:
    """An argument of a call: its value, its name "" if it was given by position, its place."""

    __slots__ = ("value", "name", "place")

    def __init__(self, value, name="", place=None):
        self.value, self.name, self.place = value, name, place


class Matched:
    """A call of a form: the values of all its arguments, the kinds of its results."""

    __slots__ = ("form", "inputs", "returns")

    def __init__(self, form, inputs, returns):
        self.form, self.inputs, self.returns = form, inputs, returns


def match(body, form, args, kwargs, convert, own=None):
    """The `Matched` call of a form; `Unfit` where it is none. ``body`` adds nodes; ``own``: the value that ``self`` is."""
    found, bindings, at, used = [], {}, 0, set()
    arguments = form.arguments
    for place, argument in enumerate(arguments):
        if argument.name == "self" and own is not None:
            given = Given(own)
        elif not argument.kwarg_only and at < len(args):
            if _takes_rest(arguments, place, args[at], bindings):
                given = _rest(body, argument, args[at:], convert, bindings)
                at = len(args)
            else:
                given = args[at]
                at += 1
            if any(one.name == argument.name for one in kwargs):
                raise Unfit(f"Argument {argument.name} specified twice in schema, submatch_args: argument specified twice")
        else:
            given = next((one for one in kwargs if one.name == argument.name), None)
            if given is not None:
                used.add(argument.name)
            elif argument.has_default_value():
                found.append(body.constant(argument.default, argument.kind))
                continue
            else:
                raise Unfit(f"Argument {argument.name} not provided.")
        found.append(_fitted(body, argument, given.value, convert, bindings))
    if form.varied:
        found += [one.value for one in args[at:]]
    elif at < len(args):
        raise Unfit(f"Expected at most {sum(not one.kwarg_only for one in arguments)} arguments but found "
                    f"{len(args)} positional arguments.")
    for one in kwargs:
        if one.name not in used:
            if any(argument.name == one.name for argument in arguments):
                raise Unfit(f"Argument {one.name} specified twice in schema")
            raise Unfit(f"Keyword argument {one.name} unknown.")
    return Matched(form, found, [_bound(kind, bindings) for kind in form.returns])


def _takes_rest(arguments, place, given, bindings):
    """Whether all the remaining arguments are one list: ``x.view(2, 3)``."""
    argument = arguments[place]
    if argument.kind.name != "List" or argument.count is not None or forms.is_variable(argument.kind.of[0]) or (
            argument.kind.of[0] == kinds.ANY):
        return False
    if place + 1 < len(arguments) and not arguments[place + 1].kwarg_only:
        return False
    return given.value.type.name != "List" and kinds.is_part(kinds.plain(given.value.type), argument.kind.of[0])


def _rest(body, argument, args, convert, bindings):
    kind = argument.kind.of[0]
    values = [convert_to(body, one.value, kind, convert) for one in args]
    for value in values:
        if not kinds.is_part(kinds.plain(value.type), kind):
            raise Unfit(_expected(argument, value, kind))
    return Given(body.add("prim::ListConstruct", values, kinds.listed(kind)))


def _fitted(body, argument, value, convert, bindings):
    kind = argument.kind
    whole = kinds.without_none(kind)
    if argument.count and whole.name == "List" and value.type == whole.of[0]:
        value = body.add("prim::ListConstruct", [value] * argument.count, kinds.listed(value.type))
    wanted = _known(kind, bindings)
    if wanted is not None:
        value = convert_to(body, value, wanted, convert)
    else:
        value = convert_to(body, value, kind, convert, variables=True)
        problem = _bind(kind, value.type, bindings)
        if problem is not None:
            raise Unfit(f"Could not match type {value.type.shown()} to {kind.shown()} in argument '{argument.name}': {problem}.")
        wanted = _bound(kind, bindings)
    if not kinds.is_part(kinds.plain(value.type), wanted):
        raise Unfit(_expected(argument, value, wanted))
    return value


def _expected(argument, value, kind):
    more = ""
    if value.type.note == "inferred" and value.type.name == "Tensor":
        more = (f"\nInferred the value for argument '{argument.name}' to be of type 'Tensor' because it was not annotated with an explicit "
                "type.")
    elif value.type == kinds.listed(kinds.TENSOR):
        more = ("\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty list of another "
                "type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for Python 2)")
    name = "number" if kind == kinds.NUMBER else kind.shown()
    return f"Expected a value of type '{name}' for argument '{argument.name}' but instead found type '{value.type.shown()}'.{more}"


# -- as they are written ----------------------------------------------------------------------------------------------------------------


def arguments(state, node):
    """(positional, named) arguments of a call."""
    args = []
    for one in node.args:
        if isinstance(one, ast.Starred):
            found = state.sugared(one.value)
            args += [Given(part.as_value(state, state.place(one)), place=state.place(one))
                     for part in found.as_parts(state, state.place(one))]
        else:
            args.append(Given(state.value(one), place=state.place(one)))
    named = []
    for one in node.keywords:
        if one.arg is None:
            raise unsupported("keyword-arg expansion is not supported", state.place(one.value))
        named.append(Given(state.value(one.value), one.arg, state.place(one.value)))
    return args, named


# -- kinds that stand for any ------------------------------------------------------------------------------------------------------------


def _known(kind, bindings):
    """The kind, where nothing in it stands for any."""
    try:
        return _bound(kind, bindings)
    except KeyError:
        return None


def _bound(kind, bindings):
    if forms.is_variable(kind):
        return bindings[kind.name]
    return kinds.Kind(kind.name, [_bound(one, bindings) for one in kind.of], kind.what, kind.note) if kind.of else kind


def _bind(kind, actual, bindings):
    """Finds out what variables in a kind stand for; answers what is wrong, if anything."""
    if forms.is_variable(kind):
        actual = kinds.plain(actual)
        known = bindings.get(kind.name)
        made = actual if known is None else kinds.unified(known, actual)
        if made is None:
            return f"Type variable '{kind.name}' previously matched to type {known.shown()} is matched to type {actual.shown()}"
        bindings[kind.name] = made
        return None
    if kind.name == "Optional" and actual.name != "Optional":
        return None if actual == kinds.NONE else _bind(kind.of[0], actual, bindings)
    if kind.of:
        inner = kinds.fields(actual) if kinds.is_tuple(actual) else actual.of
        if kind.name != ("Tuple" if kinds.is_tuple(actual) else actual.name) or len(inner) != len(kind.of):
            return f"Cannot match {kind.shown()} to {actual.shown()}"
        for one, other in zip(kind.of, inner, strict=True):
            problem = _bind(one, other, bindings)
            if problem is not None:
                return problem
    return None


# -- conversions -------------------------------------------------------------------------------------------------------------------------


def convert_to(body, value, kind, convert, variables=False):
    """A value as one of a kind, if it can be made one silently; else what it is."""
    if kind.name == "Optional" and value.type.name != "Optional" and value.type != kinds.NONE:
        return convert_to(body, value, kind.of[0], convert, variables)
    if kind.name == "List" and value.fact == "empty list" and value.type.name == "List" and not variables and value.type != kind:
        value = body.add("prim::ListConstruct", [], kind)
    if kind.name == "Dict" and value.fact == "empty dict" and not variables and value.type != kind:
        value = body.add("prim::DictConstruct", [], kind)
    if kinds.is_tuple(value.type):
        inner = kinds.fields(value.type)
        if kind.name == "List" and inner and not variables and all(kinds.is_part(kinds.plain(one), kind.of[0]) for one in inner):
            return body.add("prim::ListConstruct", body.unpacked(value), kind)
        if kind.name == "List" and variables and inner and len({kinds.plain(one) for one in inner}) == 1:
            return body.add("prim::ListConstruct", body.unpacked(value), kinds.listed(kinds.plain(inner[0])))
        if kind.name == "Tuple" and len(inner) == len(kind.of) and not kinds.is_part(value.type, kind) and not variables:
            values = [convert_to(body, one, wanted, convert) for one, wanted in zip(body.unpacked(value), kind.of, strict=True)]
            value = body.add("prim::TupleConstruct", values, kinds.paired(*[one.type for one in values]))
    if not convert:
        return value
    if value.type == kinds.TENSOR and kind.name in _IMPLICIT:
        return body.add(_IMPLICIT[kind.name], [value], kind, data=forms.form(_IMPLICIT[kind.name]))
    if value.type == kinds.NUMBER and kind.name in _CASTS:
        return body.add(_CASTS[kind.name], [value], kind, data=forms.form(_CASTS[kind.name], "Scalar"))
    if value.type == kinds.BOOL and kind.name in ("int", "float", "number"):
        wanted = kinds.INT if kind.name == "number" else kind
        return body.add(_CASTS[wanted.name], [value], wanted, data=forms.form(_CASTS[wanted.name], "bool"))
    if value.type == kinds.STR and kind == kinds.DEVICE:
        return body.add("aten::device", [value], kinds.DEVICE, data=forms.of("aten::device")[0])
    return value


_IMPLICIT = {"float": "aten::FloatImplicit", "int": "aten::IntImplicit", "number": "aten::ScalarImplicit",
             "complex": "aten::ComplexImplicit"}
_CASTS = {"float": "aten::Float", "int": "aten::Int", "complex": "aten::Complex"}


# -- the form that fits ------------------------------------------------------------------------------------------------------------------

_SWAPPED = {"add": "add", "mul": "mul", "ne": "ne", "eq": "eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""Operators of a number and a tensor by those of the tensor and the number."""


def choose(body, name, args, kwargs, place, own=None):
    """The results of an operator's call, whose node is added; ``own``: the tensor or list whose method it is."""
    found = forms.of(name)
    if not found:
        raise error(f"Unknown builtin op: {name}.\nCould not find any similar ops to {name}. This op may not exist or may not be currently "
                    "supported in TorchScript.\n", place)
    problems = []
    for convert in (False, True):
        for form in found:
            before = body.mark()
            try:
                matched = match(body, form, args, kwargs, convert, own)
            except Unfit as problem:
                body.back_to(before)
                if convert:
                    problems.append((form, str(problem)))
                continue
            return _added(body, name, matched)
        swapped = _number_first(body, name, args, kwargs, own)
        if swapped is not None:
            return swapped
    left_out = [one.name for one in kwargs if one.name in ("out", "names", "generator")]
    if left_out:
        raise absent(f"{name} with {' and '.join(left_out)}", place)
    raise _unfit(name, problems, place)


def _added(body, name, matched):
    made = body.add_node(name, matched.inputs, matched.returns, data=matched.form)
    for value in made.outputs:
        value.type = kinds.plain(value.type)
    if len(made.outputs) == 1:
        return made.outputs[0]
    if not made.outputs:
        return body.constant(None)
    names = matched.form.names or None
    return body.add("prim::TupleConstruct", made.outputs, kinds.Kind("Tuple", matched.returns, note=names))


def _number_first(body, name, args, kwargs, own):
    """A number with a tensor: PyTorch has these operators as small programs of the others."""
    short = name.removeprefix("aten::")
    values = [own, *[one.value for one in args]] if own is not None else [one.value for one in args]
    if kwargs or len(values) != 2 or values[0].type not in kinds.NUMBERS or values[1].type != kinds.TENSOR:
        return None
    if short in _SWAPPED:
        return choose(body, "aten::" + _SWAPPED[short], [Given(values[1]), Given(values[0])], (), None)
    if short in ("sub", "div"):
        first = choose(body, "aten::neg" if short == "sub" else "aten::reciprocal", [Given(values[1])], (), None)
        return choose(body, "aten::add" if short == "sub" else "aten::mul", [Given(first), Given(values[0])], (), None)
    return None


def _unfit(name, problems, place):
    lines = ["Arguments for call are not valid.", "The following variants are available:", "  "]
    for form, problem in problems:
        lines += [f"  {form}:", *["  " + line for line in problem.splitlines()], "  "]
    return RuntimeError("\n" + "\n".join(lines[:-1]) + f"\n\nThe original call is:\n{_call(place)}")


def _call(place):
    return place if place is not None else "\n"


def first_of(body, found, args, kwargs, place):
    """The `Matched` call of the first of several forms that fits, without conversions if there is one."""
    problems = []
    for convert in (False, True):
        for form in found:
            before = body.mark()
            try:
                return match(body, form, args, kwargs, convert)
            except Unfit as problem:
                body.back_to(before)
                if convert:
                    problems.append((form, str(problem)))
    raise _unfit("", problems, place)


def call_of(body, form, args, kwargs, place):
    """The `Matched` call of a function or method, which has one form."""
    try:
        return match(body, form, args, kwargs, True)
    except Unfit as problem:
        raise RuntimeError(f"\n\n{form}:\n{problem}\n:\n{place}") from None
