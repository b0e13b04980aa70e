"""Methods and functions, derived from the registry's declarations, and those written by hand put where they belong.

Each operator gives ``torch.name``, ``Tensor.name``, ``Tensor.name_`` and ``out=``, as its declaration says; composites are installed as
they are. The functions are written as source text with the operator's own signature, so that binding arguments costs what a Python call
costs. Owns: which names there are. Python's operators are in `dunders`. May not know: what a function does.
"""
import functools
from types import FunctionType

from ..base.naming import found_at
from ..ops.families.aliases import ALIASES, INPLACE_FUNCTIONS
from ..ops.registry import REGISTRY
from ..storage.lifted import LIFTED_MEMORY
from . import accumulate, by_element, convert, copying, facts, gradient, hooks, looking
from .calling.entries import PASSING_ON
from .calling.guards import Form, guarded, renamed, written
from .core import Tensor
from .creating import likes
from .dispatch import call
from .lifted import levels
from .recording import dunders
from .recording.inplace import call_inplace

FUNCTIONS = {}


def derive(operator, name, first="input", inplace=False):
    """A Python function for an operator: its recorder, or writer; `call` for ``out=``."""
    if first == "input":
        first = operator.quirks.first or first
    parameters = [(first if at == 0 else p.name, p.default, p.keyword_only) for at, p in enumerate(operator.parameters)]
    form = Form([(n, d) for n, d, named in parameters if not named], [(n, d) for n, d, named in parameters if named])
    given = ", ".join([f"p{at}" for at in range(len(form.positional))] + [f"k{at}" for at in range(len(form.named))])
    if inplace:
        called = f"_op.write({given}) if isinstance(p0, _Tensor) else _call_inplace(_op, ({given},))"
    else:
        called = f"_op.record({given})"
        if operator.out and first != "self":
            called += f" if k{len(form.named)} is None else _call(_op, ({given},), k{len(form.named)})"
            form.named.append(("out", None))
    form.name = "Tensor." + name if first == "self" else name
    function = written(form, name, called, {"_op": operator, "_call": call, "_call_inplace": call_inplace, "_Tensor": Tensor})
    function.__doc__ = operator.__doc__
    return function


def install():
    """Fills `FUNCTIONS` (the names of the namespace ``jtensor``) and the Tensor's methods."""
    for operator in REGISTRY.operators.values():
        if operator.function:
            FUNCTIONS[operator.name] = derive(operator, operator.name)
        if operator.method:
            setattr(Tensor, operator.method_name, derive(operator, operator.method_name, "self"))
        name = operator.name + "_"
        if operator.inplace and (operator.method or name in INPLACE_FUNCTIONS):
            method = derive(operator, name, "self", inplace=True)
            if operator.method and not hasattr(Tensor, name):
                setattr(Tensor, name, method)
            if name in INPLACE_FUNCTIONS:
                FUNCTIONS[name] = derive(operator, name, inplace=True)
    for composite in REGISTRY.composites.values():
        for name in (composite.name, *composite.aliases):
            if composite.function:
                FUNCTIONS[name] = guarded(composite.body, name, asked_first=composite.asked, one_list=composite.one_list)
            if composite.method:
                setattr(Tensor, name, guarded(composite.body, name, True, asked_first=composite.asked))
    _second_names()
    _numpy_names()
    _by_hand()


def _second_names():
    """``absolute`` for ``abs`` and so on, in all their forms."""
    for second, first in ALIASES.items():
        for tail in ("", "_"):
            if first + tail in FUNCTIONS and (not tail or second + tail in INPLACE_FUNCTIONS):
                FUNCTIONS[second + tail] = renamed(FUNCTIONS[first + tail], second + tail)
            if hasattr(Tensor, first + tail):
                setattr(Tensor, second + tail, renamed(getattr(Tensor, first + tail), second + tail))


_NUMPYS = {"axis": "dim", "keepdims": "keepdim"}


def _numpy_names():
    """Functions with a parameter ``dim`` or ``keepdim`` take NumPy's names for them, too."""
    made = {}
    for function in {*FUNCTIONS.values(), *vars(Tensor).values()}:
        code = getattr(function, "__code__", None)
        if code is not None and "_others" not in code.co_varnames and not {"dim", "keepdim"}.isdisjoint(
                code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]):
            made[function] = _with_numpy_names(function)
    for name, function in FUNCTIONS.items():
        FUNCTIONS[name] = made.get(function, function)
    for name, function in list(vars(Tensor).items()):
        if getattr(function, "__code__", None) is not None and function in made:
            setattr(Tensor, name, made[function])


def _with_numpy_names(function):
    @functools.wraps(function)
    def called(*args, **kwargs):
        if kwargs and ("axis" in kwargs or "keepdims" in kwargs):
            kwargs = {_NUMPYS.get(name, name) if _NUMPYS.get(name) not in kwargs else name: value for name, value in kwargs.items()}
        return function(*args, **kwargs)
    PASSING_ON.add(called.__code__)
    return called


def _by_hand():
    """Methods that are not operators: conversions, indexing, factories."""
    for name, method in {**convert.CASTS, **likes.METHODS}.items():
        setattr(Tensor, name, guarded(method, name, True))
    for room, names in ((looking, "item tolist"), (convert, "numpy to cpu cuda type_as"), (copying, "copy_ fill_ zero_")):
        for name in names.split():
            setattr(Tensor, name, getattr(room, name))
    from .viewing import retyped, shapes
    Tensor.T, Tensor.mT = property(shapes.transposed), property(shapes.matrix_transposed)
    Tensor.H, Tensor.mH = property(lambda self: shapes.adjoint_property(self, name="H")), property(
        lambda self: shapes.adjoint_property(self, name="mH"))
    FUNCTIONS.update(detach=_named(lambda input: input.detach(), "detach"), detach_=_named(lambda input: input.detach_(), "detach_"),
                     zero_=_named(lambda input: input.zero_(), "zero_"), fill_=_named(lambda input, value: input.fill_(value), "fill_"),
                     as_strided_=_named(lambda input, size, stride, storage_offset=None: input.as_strided_(size, stride, storage_offset),
                                        "as_strided_"), is_nonzero=_named(lambda input: input.is_nonzero(), "is_nonzero"),
                     is_same_size=_named(lambda input, other: input.is_same_size(other), "is_same_size"))
    Tensor.real, Tensor.imag = property(retyped.real, retyped.set_real), property(retyped.imag, retyped.set_imag)
    Tensor._accumulate = accumulate.accumulate                  # asked by the node of a leaf, which knows no tensors
    Tensor.type, Tensor.jax = convert.type_, convert.jax_array
    function = REGISTRY.composites["norm"].body

    def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
        return function(self, p, dim, keepdim, None, dtype)
    norm.__doc__ = function.__doc__
    Tensor.norm = guarded(norm, "norm", True)                          # without ``out``, which the function has before ``dtype``
    from . import quick
    Tensor.__getitem__, Tensor.__setitem__ = quick.getitem, quick.setitem
    Tensor.__bool__, Tensor.__int__, Tensor.__float__ = looking.to_bool, looking.to_int, looking.to_float
    Tensor.__nonzero__, Tensor.__long__ = looking.to_bool, looking.to_int                      # Python 2's names
    Tensor.__complex__, Tensor.__index__ = looking.to_complex, looking.to_index
    Tensor.__array__, Tensor.__array_wrap__ = convert.array_protocol, convert.array_wrap
    Tensor._host = lambda self: looking.host_copy(self, "print")
    facts.install()
    gradient.install()
    hooks.install()
    by_element.install()
    for name in (*_WRITTEN, *vars(facts.Facts)):
        method = getattr(Tensor, name) if not name.startswith("__") else None
        if hasattr(method, "__code__"):
            setattr(Tensor, name, guarded(method, name, True))
    dunders.install(FUNCTIONS)
    _texts()
    for name in _CALLED_SO:
        getattr(Tensor, name).__name__ = name
    for name, method in vars(Tensor).items():
        if type(method) is FunctionType and "." not in method.__qualname__:
            found_at("jtensor", "Tensor." + name, method)


_CALLED_SO = ("type __array__ __array_wrap__ __bool__ __complex__ __contains__ __delitem__ __float__ __format__ __getitem__ __index__ "
              "__int__ __invert__ __repr__ __reversed__ __setitem__").split()
_WRITTEN = ("copy_", "fill_", "zero_", "type_as", "item", "tolist", "cpu", "detach", "detach_", "retain_grad", "requires_grad_")


def _named(function, name):
    """A small function of the namespace, under its name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`Tensor.{name}` as a function."
    return guarded(function, name)


def _texts():
    from . import printing
    Tensor.__repr__ = lambda self, *, tensor_contents=None: printing.tensor_str(self, tensor_contents=tensor_contents) \
        if self._storage.host is not LIFTED_MEMORY else levels.text(self)
    Tensor.__format__ = printing.tensor_format


__all__ = ["FUNCTIONS", "install"]
