"""Which operator of ``torch.ops.aten`` a public function is in an exported graph, where that is not what TorchScript has.

Owns: those differences (sizes are numbers, convolutions by their own names, numbers that tensors are asked for refused), and operators
that are called by name. All else is as in `jit.lowering`. May not know: how a call is recorded, graphs.
"""

import sys

import jtensor

from ..base import sites
from ..base.errors import missing
from ..fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from ..jit import indices, schemas
from ..jit import lowering as torchscript
from ..jit.operators import absent, argument, operator, record
from ..library.aten import Overload
from ..library.spaces import OpOverload, OpOverloadPacket
from ..tensor.core import Tensor
from ..utils import _pytree as pytree
from .recording import form

_INSTEAD = "the same with tensors: torch.where in place of if, sizes that are fixed"


def lower(trace, func, args, kwargs):
    """Calls a public function and records what it is."""
    if isinstance(func, (OpOverload, OpOverloadPacket)):
        return _by_name(trace, func, args, kwargs)
    name, short = torchscript.names_of(func)
    special = _SPECIAL.get(short) or (_LAYERS.get(short.rpartition(".")[2]) if name.startswith("torch.nn.functional.") else None)
    if special is not None:
        return special(trace, func, args, kwargs)
    alias = short.removesuffix("_")
    if alias in torchscript.SAME and not short.startswith("__") and schemas.forms(short):
        return operator(trace, func, short, args, kwargs)         # TorchScript calls them by their first name
    return torchscript.lower(trace, func, args, kwargs)


# -- sizes, and numbers of tensors --------------------------------------------------------------------------------------


def _as_it_is(trace, func, args, kwargs):
    return func(*args, **kwargs)


def _refused(what, instead=_INSTEAD):
    def called(trace, func, args, kwargs):
        raise missing(f"torch.export of {what}", instead)
    return called


def _guard(trace, func, args, kwargs):
    """A number that Python decides by, which PyTorch does not know either while it exports."""
    x = args[0]
    whole = not x.dtype.is_floating_point and x.dtype is not jtensor.bool
    kind = "Could not extract specialized integer from" if whole and func.__name__ != "__bool__" else "Could not guard on"
    expression = "Eq(u0, 1)" if func.__name__ == "__bool__" else "u0" if whole else "zuf0"
    frame = trace.caller() or sys._getframe(1)
    while frame.f_back is not None and sites.within(frame.f_code.co_filename):
        frame = frame.f_back
    place = f'  File "{frame.f_code.co_filename}", line {frame.f_lineno}, in {frame.f_code.co_name}'
    raise GuardOnDataDependentSymNode(
        f"{kind} data-dependent expression {expression} (unhinted: {expression}).  (Size-like symbols: none)\n\nThe following call raised "
        f"this error:\n{place}\n\nWhat a tensor holds is not known while a program is exported; what works: {_INSTEAD}")


def _numpy(trace, func, args, kwargs):
    raise RuntimeError(".numpy() is not supported for tensor subclasses.")


def _where(trace, func, args, kwargs):
    if len(args) + len(kwargs) < 3:
        return _SPECIAL["nonzero"](trace, func, args, kwargs)
    return torchscript.lower(trace, func, args, kwargs)


def _repeated(trace, func, args, kwargs):
    given = dict(zip(("self", "repeats", "dim"), args, strict=False)) | kwargs
    if isinstance(given.get("repeats", given["self"] if "repeats" not in given else None), Tensor) and "output_size" not in kwargs:
        return _SPECIAL["nonzero"](trace, func, args, kwargs)
    return torchscript.lower(trace, func, args, kwargs)


# -- indices ------------------------------------------------------------------------------------------------------------


def _known(key):
    """Refuses what chooses by numbers in tensors: masks, single numbers. Lists become tensors, as in PyTorch."""
    for one in key if isinstance(key, tuple) else (key,):
        if isinstance(one, Tensor) and (one.dim() == 0 and one.dtype is not jtensor.bool):
            raise missing("torch.export of an index that is one number in a tensor", "torch.index_select, with a tensor of one dimension")
        if isinstance(one, range) or hasattr(one, "__array__") and not isinstance(one, Tensor):
            raise missing("torch.export of an index that is an array", "a list, a tensor that the module has as a buffer, or a slice")
        if isinstance(one, list) and any(isinstance(part, (bool, Tensor)) for part in pytree.tree_leaves(one)):
            raise missing("torch.export of an index that is a list of truths or tensors", "a list of numbers, or torch.stack")


def _read(trace, func, args, kwargs):
    x, key = args
    _known(key)
    if any(isinstance(one, Tensor) and one.dtype in (jtensor.bool, jtensor.uint8) for one in (key if isinstance(key, tuple) else (key,))):
        return _SPECIAL["nonzero"](trace, func, args, kwargs)
    return indices.read(trace, func, x, key)


def _write(trace, func, args, kwargs):
    _known(args[1])
    return indices.write(trace, func, *args)


# -- tensors that are made of what is written in the program ------------------------------------------------------------


def _written_out(trace, func, args, kwargs):
    if args and isinstance(args[0], Tensor):
        return torchscript.lower(trace, func, args, kwargs)
    if any(isinstance(one, Tensor) for one in pytree.tree_leaves((args, kwargs))):
        raise missing(f"torch.export of {func.__name__} with tensors among the numbers", "torch.stack")
    made = func(*args, **kwargs)
    trace.set(made, trace.lifted(made.detach().clone(), detached=func.__name__ == "tensor"))
    return made


# -- types and devices --------------------------------------------------------------------------------------------------


def _asserted(trace, x):
    schema = form("_assert_tensor_metadata")
    given = {"dtype": x.dtype, "device": x.device, "layout": jtensor.strided}
    values = [(one.type, x if one.name == "a" else given.get(one.name)) for one in schema.arguments]
    inputs = [argument(trace, kind, schemas.code_of(value) if isinstance(value, jtensor.dtype) else value) for kind, value in values]
    trace.add("aten::_assert_tensor_metadata", inputs, (), schema)


def _to(trace, func, args, kwargs):
    _asserted(trace, args[0])
    return torchscript.lower(trace, func, args, kwargs)


def _cast(trace, func, args, kwargs):
    if len(args) > 1 or kwargs:
        raise absent(trace, func)
    return _to(trace, func, args, kwargs)


def _type(trace, func, args, kwargs):
    if len(args) + len(kwargs) == 1:
        return func(*args, **kwargs)
    return _to(trace, func, args, kwargs)


def _contiguous(trace, func, args, kwargs):
    made = func(*args, **kwargs)
    if made is args[0]:
        return made
    return operator(trace, lambda *_, **__: made, "contiguous", args, kwargs)


# -- deviations, convolutions, settings ---------------------------------------------------------------------------------


def _deviation(trace, func, args, kwargs):
    if len(args) == 1 and "unbiased" not in kwargs:
        named = {key: [value] if key == "dim" and isinstance(value, int) else value for key, value in kwargs.items()}
        return operator(trace, func, f"{func.__name__}.correction", args, kwargs, args, named)
    return torchscript.lower(trace, func, args, kwargs)


_ORDER = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_TURNED = ("input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation")


def _convolution(trace, func, args, kwargs):
    short = func.__name__
    given = dict(zip(_TURNED if "transpose" in short else _ORDER, args, strict=True) if len(args) == (8 if "transpose" in short else 7)
                 else zip(_TURNED if "transpose" in short else _ORDER, args, strict=False)) | kwargs
    name = f"{short}.padding" if isinstance(given.get("padding"), str) else f"{short}.input" if "transpose" in short and short[-2] in "23" \
        else short
    order = [key for key in (_TURNED if "transpose" in short else _ORDER) if key in given]
    schema = form(name)
    named = {argument.name: given[key] for key in order for argument in [schema.arguments[_place(schema, key)]]}
    return operator(trace, func, name, args, kwargs, (), named)


def _pooled(trace, func, args, kwargs):
    """Of maxima by a size of the result: where they are is found, too, and left alone."""
    given = dict(zip(("input", "output_size", "return_indices"), args, strict=False)) | kwargs
    size, dims = given["output_size"], int(func.__name__[-2])
    size = list(size) if isinstance(size, (list, tuple)) else [size] * dims
    size = [there if one is None else one for one, there in zip(size, given["input"].shape[-dims:], strict=True)]
    whole = operator(trace, lambda: func(given["input"], size, return_indices=True), func.__name__, (), {}, (given["input"], size))
    return whole if given.get("return_indices") else whole[0]


def _divergence(trace, func, args, kwargs):
    """``batchmean``, which PyTorch's function in Python divides for."""
    given = dict(zip(("input", "target", "size_average", "reduce", "reduction", "log_target"), args, strict=False)) | kwargs
    if given.get("reduction") != "batchmean" or given.get("size_average") is not None or given.get("reduce") is not None:
        return torchscript.lower(trace, func, args, kwargs)
    whole = func(given["input"], given["target"], reduction="sum", log_target=given.get("log_target", False))
    named = {"log_target": True} if given.get("log_target") else {}
    operator(trace, lambda: whole, "kl_div", (), {}, (given["input"], given["target"], 2), named)
    return operator(trace, Tensor.div, "div", (whole, given["input"].size()[0]), {})


def _asserted_true(trace, func, args, kwargs):
    if isinstance(args[0], Tensor):
        return _guard(trace, jtensor.Tensor.__bool__, args, kwargs)
    return func(*args, **kwargs)


def _normal(trace, func, args, kwargs):
    known = any(isinstance(one, Tensor) for one in (*args, *kwargs.values()))
    return (torchscript.lower if known else torchscript.factory("normal"))(trace, func, args, kwargs)


def _floor_divided(trace, func, args, kwargs):                     # 3 // x
    x, other = args
    made = func(x, other)
    record(trace, "floor_divide", form("floor_divide"), [trace.value(other) if isinstance(other, Tensor) else trace.number(other),
                                                         trace.value(x)], made)
    return made


def _dropped(trace, func, args, kwargs):
    """What answers its argument in evaluation mode: in PyTorch's graph that is another value."""
    x = args[0] if args else kwargs["input"]
    before = trace.value(x)
    made = torchscript.lower(trace, func, args, kwargs)
    if made is not x or func.__name__.endswith("_") or (args[3:4] or (kwargs.get("inplace"),))[0]:
        return made
    other = x.view(x.size())
    trace.set(other, trace.value(x))
    trace.set(x, before)
    return other


def _several(trace, func, args, kwargs):
    return operator(trace, func, func.__name__, args, kwargs, (list(args),))


def _place(schema, key):
    return next(at for at, one in enumerate(schema.arguments) if one.name == key)


# -- operators by their names -------------------------------------------------------------------------------------------


def _by_name(trace, func, args, kwargs):
    """``torch.ops.aten.add.Tensor(...)``, and operators that users have defined."""
    if isinstance(func, OpOverloadPacket):
        if len(func.overloads()) != 1:
            raise missing(f"torch.export of {func}, which does not say which form of it", "the form: " + ", ".join(
                f"{func}.{one}" for one in func.overloads()[:4]))
        func = getattr(func, func.overloads()[0])
    if isinstance(func, Overload):
        return operator(trace, func, func.__name__, args, kwargs)
    schema = func._definition.schema
    given, named = schema.bound(args, kwargs)
    positional = iter(given)
    values = [(one.type, named[one.name] if one.kwarg_only else next(positional)) for one in schema.arguments]
    inputs = [argument(trace, kind, schemas.code_of(value) if isinstance(value, jtensor.dtype) else value) for kind, value in values]
    made = func(*args, **kwargs)
    record(trace, func.overloadpacket.__name__, schema, inputs, made)
    return made


_COUNTED = _refused("what has as many results as numbers in tensors say (nonzero, masks as indices, unique)")
_SPECIAL = {
    **dict.fromkeys(("size", "numel", "nelement", "__len__", "shape.__get__", "requires_grad_", "__format__", "__repr__"), _as_it_is),
    **dict.fromkeys(("__bool__", "__int__", "__float__", "__index__", "__complex__", "is_nonzero"), _guard),
    "item": _refused("Tensor.item"), "tolist": _refused("Tensor.tolist"), "numpy": _numpy, "__array__": _numpy,
    "backward": _refused("a backward pass inside of the module", "the module without it; ep.module() has gradients"),
    "register_hook": _refused("hooks of tensors", "the same outside of the module"),
    "data.__get__": _refused("Tensor.data", "tensor.detach()"), "data.__set__": _refused("Tensor.data", "tensor.copy_(...)"),
    "grad.__get__": _refused("Tensor.grad", "what is given to the module as an argument"),
    **dict.fromkeys(("nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "bincount", "combinations"), _COUNTED),
    "_assert": _asserted_true, "normal": _normal, "__deepcopy__": _refused("copy.deepcopy", "Tensor.clone"),
    "where": _where, "__rfloordiv__": _floor_divided, "repeat_interleave": _repeated, "__getitem__": _read, "__setitem__": _write,
    **dict.fromkeys(("tensor", "as_tensor", "from_numpy", "asarray"), _written_out),
    "to": _to, "type": _type, "cpu": _to, "cuda": _to, "contiguous": _contiguous, "std": _deviation, "var": _deviation,
    **dict.fromkeys(("float", "half", "double", "bfloat16", "int", "long", "short", "bool", "byte", "char"), _cast),
    **{f"conv{kind}{n}d": _convolution for kind in ("", "_transpose") for n in (1, 2, 3)},
}
_SPECIAL |= dict.fromkeys(("block_diag", "cartesian_prod"), _several) | {"scalar_tensor": torchscript.factory("scalar_tensor")}
_LAYERS = {"kl_div": _divergence, **dict.fromkeys(("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"), _dropped),
            **{f"adaptive_max_pool{n}d": _pooled for n in (1, 2, 3)},
           **{f"conv{kind}{n}d": _convolution for kind in ("", "_transpose") for n in (1, 2, 3)}}
