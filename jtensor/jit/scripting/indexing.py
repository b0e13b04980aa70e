"""``x[...]`` and ``x[...] = y``: of tensors, by slices, numbers, masks; of lists, tuples, dictionaries, texts.

Owns: which operators they are, in PyTorch's order. May not know: statements.
"""
import ast

from . import arithmetic, forms, kinds, matching, values
from .source import error


def read(state, found, node):
    """What ``found[...]`` is, for a subscript's node."""
    place, keys = state.place(node), _keys(node)
    if type(found) is values.Simple and found.value.type == kinds.TENSOR:
        value, lists = _basic(state, found.value, keys, node)
        if lists:
            value = _advanced(state, value, lists, place)
        return values.Simple(value)
    if len(keys) != 1:
        raise error("Unsupported operation: attempted to use multidimensional indexing on a non-tensor type", place)
    key, = keys
    if isinstance(key, ast.Slice):
        return _sliced(state, found, key, place, node)
    if found.parts is not None:
        return found.item(state, state.value(key), place)
    if type(found) is not values.Simple:
        return found.iterated(state, place).item(state, state.value(key), place)
    value, kind = found.value, found.value.type
    if kinds.is_tuple(kind):
        return values.Simple(_of_tuple(state, value, state.value(key), place))
    if kind.what is not None and kind.what.sort == "module":
        return state.unit.item(state, value, key, state.value(key), place)
    if kind.what is not None and kind.what.sort == "class":
        method = state.unit.attribute(state, value, "__getitem__", place)
        return method.called(state, [matching.Given(state.value(key))], [], place)
    if kind.name in ("List", "Dict") or kind == kinds.STR:
        return values.Simple(state.call("aten::__getitem__", value, state.value(key), place=place))
    raise error(f"'{kind.shown()}' object is not subscriptable", place)


def _keys(node):
    key = node.slice
    return list(key.elts) if isinstance(key, ast.Tuple) else [key]


def _of_tuple(state, value, at, place):
    inner = kinds.fields(value.type)
    if at.node is None or not at.node.is_constant:
        if len(set(inner)) != 1:
            raise error("Cannot index into a tuple with a non-integer literal because we cannot resolve the output type", place)
        return state.add("prim::TupleIndex", [value, at], inner[0])
    if type(at.node.data) is not int:
        raise error("tuple index must be an integer", place)
    if not -len(inner) <= at.node.data < len(inner):
        raise error(f"Tuple index out of range. Tuple is length {len(inner)} and index is {at.node.data}", place)
    return state.add("prim::TupleIndex", [value, at], inner[at.node.data])


def _sliced(state, found, key, place, node):
    bounds = [None if one is None else state.value(one) for one in (key.lower, key.upper, key.step)]
    if found.parts is not None or type(found) is values.Simple and kinds.is_tuple(found.value.type):
        numbers = [None if one is None else one.node.data if one.node is not None and one.node.is_constant else place for one in bounds]
        if place in numbers:
            raise error("tuple slice indices must be integer constants", place)
        if found.parts is not None:
            return values.Parts(found.parts[slice(*numbers)])
        made = state.unpacked(found.value)[slice(*numbers)]
        return values.Simple(state.add("prim::TupleConstruct", made, kinds.paired(*[one.type for one in made])))
    value = found.as_value(state, place)
    if value.type.what is not None and value.type.what.sort == "module":
        numbers = [None if one is None else one.node.data for one in bounds]
        return values.Parts(state.unit.iterated(state, value, place).parts[slice(*numbers)])
    if value.type.name != "List" and value.type != kinds.STR:
        raise error(f"'{value.type.shown()}' object is not subscriptable", place)
    while bounds and bounds[-1] is None:
        bounds.pop()
    given = [state.constant(None) if one is None else one for one in bounds]
    return values.Simple(state.call("aten::slice", value, *given, place=place))


# -- tensors -----------------------------------------------------------------------------------------------------------------------------


def _basic(state, value, keys, node):
    """(the value of what numbers, slices and None choose, [values of tensors by dimension])."""
    place = state.place(node)
    dots = [at for at, key in enumerate(keys) if isinstance(key, ast.Constant) and key.value is Ellipsis]
    if len(dots) > 1:
        raise error("An index can only have a single ellipsis ('...')", place)
    first = dots[0] if dots else len(keys)
    dims, found, dim = [0] * len(keys), [None] * len(keys), 0
    for at in range(first):
        dims[at], (dim, found[at]) = dim, _step(state, keys[at], dim, False, place)
    dim = -1
    for at in range(len(keys) - 1, first, -1):
        dims[at], (dim, found[at]) = dim, _step(state, keys[at], dim, True, place)
    lists = []
    for at, key in enumerate(keys):
        if at == first:
            continue
        index = found[at]
        if isinstance(key, ast.Slice):
            value = _slice(state, value, dims[at], key, place)
        elif index.type == kinds.NONE:
            value = state.call("aten::unsqueeze", value, state.constant(dims[at]), place=place)
        elif index.type == kinds.INT:
            value = state.call("aten::select", value, state.constant(dims[at]), index, place=place)
        else:
            lists += [None] * (dims[at] + 1 - len(lists))
            lists[dims[at]] = index
    return value, lists


def _step(state, key, dim, backwards, place):
    if isinstance(key, ast.Slice):
        return (dim - 1 if backwards else dim + 1), None
    index = state.value(key)
    if index.type.name == "List":
        index = state.call("aten::tensor", index, dtype=state.constant(4), place=place)
    if index.type == kinds.NONE:
        return (dim if backwards else dim + 1), index
    if index.type == kinds.INT:
        return (dim - 1 if backwards else dim), index
    if kinds.is_part(kinds.plain(index.type), kinds.optional(kinds.TENSOR)):
        if backwards:
            raise error("Ellipses followed by tensor indexing is currently not supported", place)
        return dim + 1, index
    raise error(f"Unsupported operation: indexing tensor with unsupported index type '{index.type.shown()}'. Only ints, slices, lists and "
                "tensors are supported", place)


def _slice(state, value, dim, key, place):
    bounds = [key.lower, key.upper, key.step]
    given = [state.constant(dim)]
    made = [None if one is None else state.value(one) for one in bounds]
    while made and made[-1] is None:
        made.pop()
    given += [state.constant(None) if one is None else one for one in made]
    return state.call("aten::slice", value, *given, place=place)


def _advanced(state, value, lists, place):
    return state.call("aten::index", value, _optional(state, lists), place=place)


def _optional(state, lists):
    values_ = [state.constant(None) if one is None else one for one in lists]
    return state.add("prim::ListConstruct", values_, kinds.listed(kinds.optional(kinds.TENSOR)))


# -- writing -----------------------------------------------------------------------------------------------------------------------------


def write(state, node, given):
    """``x[...] = given``; ``given()`` makes the value, before anything else."""
    place, right = state.place(node), given()
    found = state.value(node.value)
    if found.type == kinds.TENSOR:
        value, lists = _basic(state, found, _keys(node), node)
        right = _as_tensor(state, value, right, place)
        if lists:
            state.call("aten::index_put_", value, _optional(state, lists), right, place=place)
        else:
            state.call("aten::copy_", value, right, place=place)
        return
    key, = _keys(node)
    if isinstance(key, ast.Slice):
        raise error("Sliced expression not yet supported for subscripted assignment. File a bug if you want this", place)
    if found.type.what is not None and found.type.what.sort == "class":
        method = state.unit.attribute(state, found, "__setitem__", place)
        method.called(state, [matching.Given(state.value(key)), matching.Given(right)], [], place)
        return
    index = state.value(key)
    state.call("aten::_set_item", found, index, right, place=place)


def _as_tensor(state, value, given, place):
    if given.type == kinds.TENSOR:
        return given
    if given.type not in (kinds.INT, kinds.FLOAT, kinds.BOOL, kinds.COMPLEX):
        raise error(f"Expected a tensor or a number as the right-hand side, found {given.type.shown()}", place)
    return state.call("aten::tensor", given, dtype=state.add("prim::dtype", [value], kinds.INT, data=forms.of("prim::dtype")[0]),
                      device=state.add("prim::device", [value], kinds.DEVICE, data=forms.of("prim::device")[0]), place=place)


def augment(state, node, operator, given):
    """``x[...] += given``."""
    place, found = state.place(node), state.value(node.value)
    if found.type == kinds.TENSOR:
        value, lists = _basic(state, found, _keys(node), node)
        right = given()
        if lists:
            index = _optional(state, lists)
            made = state.call("aten::index", value, index, place=place)
            made = state.call(_in_place(operator), made, right, place=place)
            state.call("aten::index_put_", value, index, _as_tensor(state, value, made, place), place=place)
        else:
            state.call(_in_place(operator), value, right, place=place)
        return
    index = state.value(_keys(node)[0])
    before = state.call("aten::__getitem__", found, index, place=place)
    made = arithmetic.binary(state, operator, before, given(), node)
    state.call("aten::_set_item", found, index, made, place=place)


def _in_place(operator):
    return IN_PLACE[type(operator)]


IN_PLACE = {ast.Add: "aten::add_", ast.Sub: "aten::sub_", ast.Mult: "aten::mul_", ast.Div: "aten::div_", ast.Mod: "aten::fmod_",
            ast.BitOr: "aten::bitwise_or_", ast.BitAnd: "aten::bitwise_and_", ast.BitXor: "aten::bitwise_xor_", ast.Pow: "aten::pow_",
            ast.LShift: "aten::__ilshift__", ast.RShift: "aten::__irshift__", ast.FloorDiv: "aten::floor_divide_"}
