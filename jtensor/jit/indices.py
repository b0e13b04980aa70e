"""What ``x[...]`` and ``x[...] = y`` are in TorchScript: ``select``, ``slice``, ``unsqueeze``, ``index``, and what writes there.

Owns: taking an index apart, in PyTorch's order. May not know: how an index is read or written here, which the tensor itself does.
"""
import jtensor

from ..base.errors import missing
from ..tensor.core import Tensor
from . import schemas
from .recording import number

_END = (1 << 63) - 1


def _form(name, count):
    return next(form for form in schemas.forms(name) if len(form.arguments) == count and form.arguments[0].type.base == "Tensor")


def _add(trace, name, count, *inputs):
    return trace.add("aten::" + name.partition(".")[0], inputs, ("Tensor",), _form(name, count)).output


def _whole(trace, given):
    if isinstance(given, Tensor):
        return trace.whole(given)
    return trace.constant(int(given), "int")


def _places(key, dims):
    """The parts of an index, the dots as the number of dimensions that they stand for."""
    key = key if isinstance(key, tuple) else (key,)
    taken = sum(one.dim() if _is_mask(one) else one is not None and one is not ... and not isinstance(one, bool) for one in key)
    return [_Dots(dims - taken) if one is ... else one for one in key]


class _Dots:
    def __init__(self, count):
        self.count = count


def _is_mask(one):
    return isinstance(one, Tensor) and one.dtype in (jtensor.bool, jtensor.uint8)


def _is_tensor(one):
    """Whether it makes an index of a list: tensors, but for those of one traced size, and lists."""
    if isinstance(one, Tensor):
        return one.dim() > 0 or one.dtype is jtensor.bool
    return isinstance(one, (list, range)) or hasattr(one, "__array__")


def _basic(trace, x, key, write=False):
    """(the value of what the numbers, slices and None of an index choose, [values of tensors by dimension])."""
    value, at, dim, lists = trace.value(x), 0, 0, []              # at: of what has been chosen so far; dim: of the tensor itself
    if isinstance(key, list):
        key = (key,)
    places = _places(key, x.dim())
    for one in places:
        if isinstance(one, _Dots):
            at, dim = at + one.count, dim + one.count
        elif one is None:
            value, at = _add(trace, "unsqueeze", 2, value, trace.constant(at, "int")), at + 1
        elif isinstance(one, slice):
            if not trace.whole_slices and (write or len(places) > 1) and _takes_all(one, x.shape[dim]):
                at, dim = at + 1, dim + 1
                continue
            dim += 1
            start = trace.constant(0, "int") if one.start is None else _whole(trace, one.start)
            stop = trace.constant(_END, "int") if one.stop is None else _whole(trace, one.stop)
            step = trace.constant(1, "int") if one.step is None else _whole(trace, one.step)
            value, at = _add(trace, "slice", 5, value, trace.constant(at, "int"), start, stop, step), at + 1
        elif isinstance(one, bool):
            raise missing(f"{trace.about[0]} of an index that is True or False", "unsqueeze")
        elif _is_tensor(one):
            lists += [None] * (at - len(lists)) + [_list(trace, one, x)]
            at, dim = (at + one.dim(), dim + one.dim()) if _is_mask(one) else (at + 1, dim + 1)
            if _is_mask(one):
                lists += [_SKIPPED] * (one.dim() - 1)
        else:
            dim += 1
            value = _add(trace, "select", 3, value, trace.constant(at, "int"), _whole(trace, one))
    return value, [one for one in lists if one is not _SKIPPED]


_SKIPPED = object()


def _takes_all(one, size):
    return one.start in (None, 0) and one.step in (None, 1) and (one.stop is None or one.stop == size)


def _list(trace, one, x):
    if isinstance(one, Tensor):
        return trace.value(one)
    made = jtensor.tensor(list(one) if isinstance(one, range) else one)
    if not trace.whole_slices:
        return trace.lifted(made)
    schema, values, _, _ = schemas.bound("to", (made, x.device, made.dtype), {})
    return trace.add("aten::to", [trace.constant(made), trace.constant(values[1][1], "Device"), trace.constant(values[2][1], "int"),
                                  *[trace.constant(value) for _, value in values[3:]]], ("Tensor",), schema).output


def _optional(trace, lists):
    values = [trace.constant(None, "NoneType") if one is None else one for one in lists]
    return trace.add("prim::ListConstruct", values, ("List[Optional[Tensor]]",), "Optional[Tensor]").output


def _plain(key):
    """An index as the tensor takes it: traced sizes as numbers."""
    if isinstance(key, tuple):
        return tuple(map(_plain, key))
    if isinstance(key, slice):
        return slice(*[one.item() if isinstance(one, Tensor) else one for one in (key.start, key.stop, key.step)])
    return int(key.item()) if isinstance(key, Tensor) and key.dim() == 0 and not _is_mask(key) else key


def read(trace, func, x, key):
    """``x[key]``."""
    made = func(x, _plain(key))
    value, lists = _basic(trace, x, key)
    if lists:
        value = _add(trace, "index", 2, value, _optional(trace, lists))
    if value is trace.value(x):                                   # x[...]
        value = trace.add("aten::alias", [value], ("Tensor",), _form("alias", 1)).output
    trace.set(made, value)
    return made


def write(trace, func, x, key, given):
    """``x[key] = given``."""
    shown = given if isinstance(given, Tensor) else number(given).to(x.dtype)
    func(x, _plain(key), given)
    source = None if isinstance(given, Tensor) else trace.lifted(shown)
    value, lists = _basic(trace, x, key, write=True)
    source = trace.value(given) if source is None else source
    false = trace.constant(False, "bool")
    if lists:
        made = _add(trace, "index_put_", 4, value, _optional(trace, lists), source, false)
        if value is trace.value(x):
            trace.set(x, made)
        return
    place = x[_plain(key)]
    if shown.dim() == 0 and place.dim() > 0 and not isinstance(given, Tensor):
        made = _add(trace, "fill_.Tensor", 2, value, source)
    else:
        if shown.dim() > place.dim() or given is x:
            source = trace.add("aten::view", [source, trace.add("prim::ListConstruct", [
                trace.constant(n, "int") for n in shown.shape[shown.dim() - place.dim():]], ("List[int]",), "int").output],
                ("Tensor",), _form("view", 2)).output
        made = _add(trace, "copy_", 3, value, source, false)
    if value is trace.value(x):
        trace.set(x, made)
