"""Which operator of TorchScript a public function is: what is recorded when it is called, and what the call answers.

Most are what they are called, with the arguments of their schema. Owns: the functions that go by another name there, take other arguments
or are none of TorchScript. Layers are in `layers`, indices in `indices`. May not know: how a call is recorded (`operators`), modules, text.
"""
import jtensor

from ..base import sites
from ..base.errors import missing
from ..base.size import Size
from ..tensor.core import Tensor
from . import indices, layers, schemas
from .operators import absent, argument, operator, outside, record
from .recording import number

_PREFIXES = ("torch.Tensor.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.functional.", "torch.")
_SPACES = {"torch.linalg.": "linalg_", "torch.fft.": "fft_", "torch.special.": "special_"}
SAME = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div", "negative": "neg", "greater": "gt",
    "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne", "concat": "cat", "concatenate": "cat", "clip": "clamp",
    "fix": "trunc", "swapaxes": "transpose", "swapdims": "transpose", "row_stack": "vstack", "ger": "outer", "moveaxis": "movedim",
    "__eq__": "eq", "__invert__": "bitwise_not", "__pow__": "pow", "__ipow__": "pow_", "__floordiv__": "floor_divide", "__rsub__": "rsub",
    "t": "t", "special_expit": "sigmoid", "special_exp2": "exp2", "special_expm1": "expm1", "special_erf": "erf", "special_erfc": "erfc",
}
"""Functions by the operators that PyTorch makes of them in a graph; those in place are called the same way."""
_TURNED = {"__rpow__": "pow", "__rmod__": "remainder", "__rmatmul__": "matmul", "__rfloordiv__": "floor_divide"}
_PROPERTIES = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH", "real": "real", "imag": "imag", "data": "detach"}


def names_of(func):
    """(the whole name of a public function, the one that operators go by)."""
    name = jtensor.overrides.resolve_name(func) or getattr(func, "__name__", "")
    prefix = next(filter(name.startswith, _PREFIXES), "")
    return name, _SPACES.get(prefix, "") + name.removeprefix(prefix)


def lower(trace, func, args, kwargs):
    """Calls a public function and records what it is."""
    name, short = names_of(func)
    if name.startswith("torch.nn."):
        return layers.lower(trace, func, name, args, kwargs)
    special = _SPECIAL.get(short)
    if special is not None:
        return special(trace, func, args, kwargs)
    if short.endswith(".__get__"):
        return _property(trace, func, short.removesuffix(".__get__"), args)
    if short in ("data.__set__", "real.__set__", "imag.__set__"):
        raise absent(trace, func)
    if short in _TURNED:
        return operator(trace, func, _TURNED[short], args, kwargs, schema_args=(args[1], args[0]))
    tail = "_" if short.endswith("_") and not short.startswith("__") else ""
    base = short.removesuffix(tail) if tail else short
    return operator(trace, func, SAME.get(short) or SAME.get(base, base) + tail, args, kwargs)


# -- sizes --------------------------------------------------------------------------------------------------------------


def _traced_number(trace, name, x, *inputs):
    schema = schemas.forms(name)[0]
    whole = trace.add("aten::" + name, [trace.value(x), *inputs], ("int",), schema)
    return trace.add("prim::NumToTensor", [whole.output]).output


def _size_at(trace, x, dim):
    value = _traced_number(trace, "size", x, trace.constant(dim, "int"))
    made = number(int(tuple(Tensor.size(x))[dim]))
    trace.set(made, value)
    return made


def _size(trace, func, args, kwargs):
    x, dim = args[0], kwargs.get("dim", args[1] if len(args) > 1 else None)
    if dim is not None:
        plain = func(x, dim.item() if isinstance(dim, Tensor) else dim)
        assert isinstance(plain, int)
        return _size_at(trace, x, dim)
    return tuple.__new__(Size, [_size_at(trace, x, at) for at in range(x.dim())])


def _numel(trace, func, args, kwargs):
    made = func(*args, **kwargs)
    value = _traced_number(trace, "numel", args[0])
    made = number(made)
    trace.set(made, value)
    return made


def _property(trace, func, name, args):
    if name == "shape":
        return _size(trace, func, args, {})
    if name in _PROPERTIES:
        return operator(trace, func, _PROPERTIES[name], args, {})
    made = func(*args)
    if isinstance(made, Tensor) and not trace.knows(made) and name not in ("grad", "_base"):
        raise missing(f"{trace.about[0]} of Tensor.{name}", "the same with functions of torch")
    return made


# -- what leaves the tensors --------------------------------------------------------------------------------------------


def _leaves(what):
    def called(trace, func, args, kwargs):
        made = func(*args, **kwargs)
        trace.warn_of(what)
        return made
    return called


def _asserted(trace, func, args, kwargs):                         # torch._assert, which asks the tensor itself
    given = dict(zip(("condition", "message"), args, strict=False)) | kwargs
    condition, message = given["condition"], given["message"]
    if isinstance(condition, Tensor):
        trace.warn_of("boolean")
    assert bool(condition), message


def _length(trace, func, args, kwargs):
    trace.warn("Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would be tensor.shape[0]. Passing a "
               "tensor of different shape might lead to errors or silently give incorrect results.")
    return func(*args, **kwargs)


def _unbind(trace, func, args, kwargs):
    frame = trace.caller()
    if frame.f_code.co_name == "_iterate" and sites.within(frame.f_code.co_filename):       # Tensor.__iter__
        trace.warn("Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different shape won't change the "
                   "number of iterations executed (and might lead to errors or silently give incorrect results).", frame.f_back)
    return operator(trace, func, "unbind", args, kwargs)


def _unique(trace, func, args, kwargs):
    given = dict(zip(("input", "sorted", "return_inverse", "return_counts", "dim"), args, strict=False)) | kwargs
    x, asked = given.get("input", given.get("self")), [given.get(key, False) for key in ("return_inverse", "return_counts")]
    if given.get("dim") is not None:
        return outside(trace, func, args, kwargs)
    whole = func(x, given.get("sorted", True), True, True)
    operator(trace, lambda *_: whole, "_unique2", (x,), {}, (x, given.get("sorted", True), *asked))
    made = [whole[0], *[one for one, wanted in zip(whole[1:], asked, strict=True) if wanted]]
    return tuple(made) if len(made) > 1 else made[0]


def _as_it_is(trace, func, args, kwargs):
    return func(*args, **kwargs)


# -- tensors that are made, or get another type -------------------------------------------------------------------------


def factory(name, options=True, at_home=True):
    """Of one that makes a tensor: PyTorch fills in the device it will be on, and that its memory is not pinned."""
    def called(trace, func, args, kwargs):
        named = {key: value for key, value in kwargs.items() if key != "requires_grad"}
        if named.get("generator") is not None or named.get("out") is not None:
            return outside(trace, func, args, kwargs)
        if at_home and named.get("device") is None:
            named["device"] = str(jtensor.get_default_device())
        named.setdefault("pin_memory", False)
        given = [tuple(args)] if name in _OF_SIZES and args and not isinstance(args[0], (list, tuple)) else list(args)
        found = schemas.bound(name, given, named)
        if found is None:
            return outside(trace, func, args, kwargs)
        schema, values, plain, named = found
        inputs = [argument(trace, kind, value) for kind, value in values]
        made = func(*plain, **{key: value for key, value in named.items() if key in kwargs}, **(
            {"requires_grad": True} if kwargs.get("requires_grad") else {}))
        record(trace, name, schema, inputs, made)
        return made
    return called


_OF_SIZES = ("zeros", "ones", "empty", "rand", "randn")


def _new(name):
    """Of a method that makes a tensor like its own."""
    def called(trace, func, args, kwargs):
        given = [args[0], tuple(args[1:]), *()] if len(args) > 1 and not isinstance(args[1], (list, tuple)) else list(args)
        named = {key: value for key, value in kwargs.items() if key != "requires_grad"}
        return operator(trace, func, name, args, kwargs, given, {"pin_memory": False, **named})
    return called


def _constant_tensor(trace, func, args, kwargs):
    made = func(*args, **kwargs)
    if args and isinstance(args[0], Tensor):
        return operator(trace, lambda: made, "detach", args, {}, (args[0],))
    trace.warn(f"torch.{func.__name__} results are registered as constants in the trace. You can safely ignore this warning if you use "
               "this function to create tensors out of constant variables that would be the same every time you call this function. In any "
               "other case, this might cause the trace to be incorrect.")
    value = trace.constant_tensor(made.detach())
    for name, given in (("to", (made, made.device, made.dtype)), ("detach", (made,))):
        schema, values, _, _ = schemas.bound(name, given, {})
        value = trace.add("aten::" + name, [value, *[argument(trace, kind, one) for kind, one in values[1:]]], data=schema).output
    trace.set(made, value)
    return made


def _to(trace, func, args, kwargs):
    """The forms of ``to`` that PyTorch's method takes: (dtype), (device, dtype), (other), keywords."""
    x, *rest = args
    form = kwargs.get("memory_format")
    named = {key: value for key, value in kwargs.items() if key not in ("dtype", "device", "memory_format", "other")}
    given = [*rest, *[kwargs[key] for key in ("device", "dtype", "other") if kwargs.get(key) is not None]]
    dtype = next((one for one in given if isinstance(one, jtensor.dtype)), None)
    other = next((one for one in given if isinstance(one, Tensor)), None)
    device = next((one for one in given if isinstance(one, (str, jtensor.device))), None)
    flags = dict(zip(("non_blocking", "copy"), [one for one in given if isinstance(one, bool)], strict=False)) | named
    if form is not None:
        flags["memory_format"] = form
    if other is not None:
        return operator(trace, func, "to", args, kwargs, (x, other.device, other.dtype), flags)
    if device is None and dtype is not None:
        return operator(trace, func, "to", args, kwargs, (x, dtype), flags)
    if device is None:
        device = str(x.device)
    if dtype is not None:
        return operator(trace, func, "to", args, kwargs, (x, jtensor.device(device), dtype), flags)
    options = {"dtype": x.dtype, "layout": jtensor.strided, "device": device, **flags}
    return operator(trace, func, "to", args, kwargs, (x,), options)


def _cast(dtype):
    def called(trace, func, args, kwargs):
        return operator(trace, func, "to", args, kwargs, (args[0], dtype)) if len(args) == 1 and not kwargs else outside(
            trace, func, args, kwargs)
    return called


# -- called otherwise ---------------------------------------------------------------------------------------------------


def _reciprocal(trace, func, args, kwargs):                       # 2 / x
    x, other = args
    return operator(trace, jtensor.Tensor.mul, "mul", (operator(trace, jtensor.Tensor.reciprocal, "reciprocal", (x,), {}), other), {})


def _moved(trace, func, args, kwargs):                            # x.cpu()
    device = "cpu" if func.__name__ == "cpu" else "cuda:0"
    given = [one for one in args[1:] if not isinstance(one, bool)]
    return _to(trace, lambda *_, **__: func(*args, **kwargs), (args[0], *(given or [device])), {})


def _tensordot(trace, func, args, kwargs):
    given = dict(zip(("a", "b", "dims"), args, strict=False)) | kwargs
    dims = given.get("dims", 2)
    if isinstance(dims, int):
        dims = [*range(-dims, 0)], [*range(dims)]
    if isinstance(dims, Tensor):
        return outside(trace, func, args, kwargs)
    return operator(trace, func, "tensordot", args, kwargs, (given["a"], given["b"], *[[one] if isinstance(one, int) else list(one)
                                                                                      for one in dims]))


def _split(trace, func, args, kwargs):
    given = dict(zip(("tensor", "split_size_or_sections", "dim"), args, strict=False)) | kwargs
    x, size, dim = given.get("tensor", given.get("self")), given.get("split_size_or_sections", given.get("split_size")), given.get("dim", 0)
    return operator(trace, func, "split_with_sizes" if isinstance(size, (list, tuple)) else "split", args, kwargs, (x, size, dim))


def _einsum(trace, func, args, kwargs):
    equation, *tensors = args
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = list(tensors[0])
    return operator(trace, func, "einsum", args, kwargs, (equation, tensors)) if isinstance(equation, str) else outside(
        trace, func, args, kwargs)


def _norm(trace, func, args, kwargs):
    given = dict(zip(("input", "p", "dim", "keepdim"), args, strict=False)) | kwargs
    x, order, dim = given.get("input", given.get("self")), given.get("p", "fro"), given.get("dim")
    if order == "nuc" or given.get("out") is not None:
        return outside(trace, func, args, kwargs)
    order = 2 if order in ("fro", None) else order
    dim = [dim] if isinstance(dim, int) else dim
    return operator(trace, func, "linalg_vector_norm", args, kwargs, (x, order, dim, given.get("keepdim", False)),
                    {"dtype": given["dtype"]} if given.get("dtype") is not None else {})


def _meshgrid(trace, func, args, kwargs):
    tensors = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    named = {"indexing": kwargs["indexing"]} if kwargs.get("indexing") is not None else {}
    return operator(trace, func, "meshgrid", args, kwargs, (list(tensors),), named)


def _broadcast(trace, func, args, kwargs):
    return operator(trace, func, "broadcast_tensors", args, kwargs, (list(args[0] if isinstance(args[0], (list, tuple)) else args),))


def _type(trace, func, args, kwargs):
    if len(args) == 2 and isinstance(args[1], jtensor.dtype) and not kwargs:
        return operator(trace, func, "to", args, kwargs)
    return outside(trace, func, args, kwargs)


def _distances(trace, func, args, kwargs):
    given = dict(zip(("x1", "x2", "p", "compute_mode"), args, strict=False)) | kwargs
    modes = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}
    mode = given.get("compute_mode", "use_mm_for_euclid_dist_if_necessary")
    return operator(trace, func, "cdist", args, kwargs, (given["x1"], given["x2"], float(given.get("p", 2.0)), modes.get(mode)))


def _deviation(name):
    """Of ``std`` and ``var``, whose ``unbiased`` and ``correction`` are forms of their own."""
    def called(trace, func, args, kwargs):
        named = dict(kwargs)
        if "dim" in named and isinstance(named["dim"], int):
            named["dim"] = [named["dim"]]
        if len(args) == 1 and "dim" in named and "unbiased" not in named and "correction" not in named:
            named["unbiased"] = True
        if "dim" in named and "unbiased" in named:
            rest = (args[0], named["dim"], named["unbiased"], named.get("keepdim", False))
            return operator(trace, func, name, args, kwargs, rest)
        return operator(trace, func, name, args, kwargs, args, named)
    return called


def _like(trace, func, args, kwargs):
    named = {key: value for key, value in kwargs.items() if key != "requires_grad"}
    return operator(trace, func, func.__name__, args, kwargs, args, {"pin_memory": False, **named})


_SPECIAL = {
    "size": _size, "numel": _numel, "nelement": _numel, "__getitem__": lambda trace, func, args, kwargs: indices.read(trace, func, *args),
    "__setitem__": lambda trace, func, args, kwargs: indices.write(trace, func, *args), "__len__": _length, "_assert": _asserted,
    "__bool__": _leaves("boolean"),
    "__int__": _leaves("integer"), "__float__": _leaves("float"), "__index__": _as_it_is, "__complex__": _leaves("complex"),
    "item": _leaves("number"), "tolist": _leaves("list"), "numpy": _leaves("array"), "__array__": _as_it_is, "__repr__": _as_it_is,
    "__format__": _as_it_is, "__rtruediv__": _reciprocal, "__rdiv__": _reciprocal, "split": _split, "unbind": _unbind, "unique": _unique,
    "einsum": _einsum,
    "type": _type, "cdist": _distances, "tensordot": _tensordot, "cpu": _moved, "cuda": _moved,
    "norm": _norm, "meshgrid": _meshgrid,
    "broadcast_tensors": _broadcast, "std": _deviation("std"), "var": _deviation("var"), "to": _to, "tensor": _constant_tensor,
    "as_tensor": _constant_tensor, "from_numpy": _constant_tensor, "requires_grad_": _as_it_is, "is_floating_point": _as_it_is,
    "is_complex": _as_it_is, "backward": _as_it_is, "__deepcopy__": _as_it_is,
    **{name: factory(name) for name in (*_OF_SIZES, "full", "arange", "linspace", "logspace", "eye", "randint", "randperm", "tril_indices",
                                         "triu_indices", "hann_window", "hamming_window", "bartlett_window", "blackman_window")},
    **{name: _new(name) for name in ("new_zeros", "new_ones", "new_empty", "new_full")},
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like"), _like),
    **{name: _cast(getattr(jtensor, name)) for name in ("float", "half", "double", "bfloat16", "int", "long", "short", "bool")},
    "byte": _cast(jtensor.uint8), "char": _cast(jtensor.int8),
}
