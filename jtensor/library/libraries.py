"""Operators by schema: `Library`, `define`, `impl`.

Owns: these, and which of PyTorch's dispatch keys mean what here. May not know: how a call is made.
"""
from ..base.errors import missing
from .operators import Definition
from .schema import Schema
from .spaces import DEFINED, found, put_in, take_out
from .tags import listed

_TAKEN = {}                     # {namespace: the library that has defined it}
_DEVICES = {"CPU": "cpu", "CUDA": "cuda", "CompositeExplicitAutograd": "default", "default": "default", "cpu": "cpu", "cuda": "cuda"}
_ELSEWHERE = {"AutocastXPU", "AutocastMPS", "AutocastHPU", "AutocastXLA", "AutocastPrivateUse1"}  # regions of other devices


def _register(definition, key, function):
    """Gives an operator a function under one of PyTorch's dispatch keys."""
    if not callable(function):
        raise TypeError(f"Input function is required to be a callable but found type {type(function)}")
    if key in ("CompositeImplicitAutograd", ""):
        definition.implicit = function
    elif key in ("Meta", "meta"):
        definition.fake = function
    elif key in _DEVICES:
        definition.kernels[_DEVICES[key]] = function
    elif key.startswith("Autograd"):
        raise missing(f"functions under the dispatch key {key}", "torch.library.register_autograd(op, backward, setup_context=...)")
    elif key in ("AutocastCPU", "AutocastCUDA"):
        definition.autocasts[key.removeprefix("Autocast").lower()] = function
    elif key in _ELSEWHERE:                                     # is never asked
        pass
    elif key.startswith("Autocast"):
        raise missing(f"functions under the dispatch key {key}", "AutocastCPU, AutocastCUDA")
    else:
        raise missing(f"a dispatch key {key!r}", "CPU, CUDA, Meta, CompositeExplicitAutograd, CompositeImplicitAutograd")


_PYTORCHS = frozenset(("aten", "c10d", "mkldnn", "prims", "quantized"))           # namespaces that PyTorch itself has defined


class Library:
    """Operators of one namespace, defined by schema, or functions for them.

    ``kind``: "DEF" (a namespace has one), "FRAGMENT" (more of one), "IMPL" (functions alone). ``dispatch_key``: for `impl` calls that name
    none. ValueError for another kind; RuntimeError for a second "DEF".

    >>> library = torch.library.Library("docs_lib", "DEF")
    >>> library.define("shift(Tensor x, float by=1) -> Tensor")
    'shift'
    >>> library.impl("shift", lambda x, by=1: x + by, "CompositeImplicitAutograd")
    >>> torch.ops.docs_lib.shift(torch.zeros(2), by=3)
    tensor([3., 3.])
    """

    __module__ = "torch.library"

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim" and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if kind == "DEF":
            if ns in _TAKEN or ns in _PYTORCHS:
                raise RuntimeError(f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your "
                                   "definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, consider "
                                   "using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define operators for a "
                                   "single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this.")
            _TAKEN[ns] = self
        self.ns, self.kind, self.dispatch_key, self._made = ns, kind, dispatch_key, []

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema, alias_analysis="", *, tags=()):
        """Defines an operator, "name(Tensor x) -> Tensor", and answers its name. RuntimeError where there is one, or for no schema."""
        if self.kind == "IMPL":
            raise RuntimeError("define() cannot be called on a library that was made with kind IMPL")
        read = Schema.read(schema)
        short = read.name
        read.name = f"{self.ns}::{short.rpartition('::')[2]}"
        name = read.name + (f".{read.overload_name}" if read.overload_name else "")
        if name in DEFINED:
            raise RuntimeError(f"Tried to register an operator ({read}) with the same name and overload name multiple times. Each "
                               "overload's schema should only be registered with a single call to def().")
        self._made.append(Definition(read, tags=listed(tags)))
        put_in(self._made[-1])
        return short + (f".{read.overload_name}" if read.overload_name else "")

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Gives an operator a function: for a device ("CPU", "CUDA", "Meta"), for all ("CompositeExplicitAutograd"), or one whose own
        operations have the gradients ("CompositeImplicitAutograd", the default)."""
        if with_keyset:
            raise missing("sets of dispatch keys", "impl() without with_keyset")
        if not isinstance(op_name, str):
            op_name = op_name.name()
        name = op_name if "::" in op_name else f"{self.ns}::{op_name}"
        _register(found(name), dispatch_key or self.dispatch_key or "CompositeImplicitAutograd", fn)

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        """Refuses: a function for all operators."""
        raise missing("a function for all operators of a dispatch key", "a TorchFunctionMode")

    def _destroy(self):
        """Takes the operators back that it has defined."""
        for definition in self._made:
            take_out(definition)
        self._made.clear()
        if _TAKEN.get(self.ns) is self:
            del _TAKEN[self.ns]


def written_anew(namespace, functions):
    """Defines operators of a library that is not loaded: {schema: function, which has the gradients of what it is made of}."""
    library = Library(namespace, "FRAGMENT")
    for schema, function in functions.items():
        library.impl(library.define(schema), function)


def define(qualname, schema, *, lib=None, tags=()):
    """Defines an operator by schema: ``define("mylib::name", "(Tensor x) -> Tensor")``. Functions it gets by `impl`.

    >>> torch.library.define("docs_more::double", "(Tensor x) -> Tensor")
    >>> @torch.library.impl("docs_more::double", "cpu")
    ... def _(x):
    ...     return x * 2
    >>> torch.ops.docs_more.double(torch.ones(2))
    tensor([2., 2.])
    """
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, mark, name = qualname.partition("::")
    if not mark:
        raise ValueError(f"Expected `{qualname}` to be of the form `namespace::name`")
    if not schema.lstrip().startswith("("):
        raise ValueError(f"define(qualname, schema, ...): expected schema to look like e.g. \"(Tensor x) -> Tensor\" but got \"{schema}\"")
    (Library(namespace, "FRAGMENT") if lib is None else lib).define(name + schema, tags=tags)


def impl(qualname, types, func=None, *, lib=None):
    """Gives an operator a function for a device ("cpu", "cuda", "default" for all) or several, or under a dispatch key; see `Library.impl`.

    Without ``func`` a decorator. ``impl(library, "name", "CPU")`` is the older order. For an example see `define`.
    """
    if isinstance(qualname, Library):
        library, name, key = qualname, types, "" if func is None else func

        def older(function):
            library.impl(name, function, key)
            return function
        return older
    definition = found(qualname)

    def register(function):
        for one in (types,) if isinstance(types, str) else types:
            _register(definition, one, function)
        return function
    if func is None:
        return register
    register(func)


def fallthrough_kernel():
    """A mark, which is not called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def get_kernel(op, dispatch_key):
    """Refuses: a kernel by itself."""
    raise missing("kernels by themselves", "the operator, torch.ops.mylib.name")
