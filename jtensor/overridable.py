"""Which functions ask ``__torch_function__``, and as what: PyTorch's account of its own functions.

Owns: the lists below and `put_in`, which goes through the public namespaces once. Those that PyTorch binds by its argument parser are known
from ``signatures.txt``; listed are the ones written in Python, and what goes by another name. How they ask is in `tensor.calling.asking`.
"""
import importlib
import sys
import types

import jtensor

from .autograd import mode
from .base import sites
from .tensor.calling.asking import Entry, is_engine, overridable
from .tensor.calling.overriding import ENTRIES, TITLES, beneath
from .tensor.calling.taking import line_of
from .tensor.core import Tensor
from .trace.tape import LOCAL

# -- written in Python there --------------------------------------------------------------------------------------------

FUNCTIONAL = frozenset("""
    atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum istft lu meshgrid norm
    pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive unravel_index""".split())
METHODS = frozenset("""
    __array__ __array_wrap__ __contains__ __deepcopy__ __dlpack__ __dlpack_device__ __floordiv__ __format__ __ipow__ __len__ __pow__
    __reduce_ex__ __repr__ __reversed__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rpow__ __rrshift__ __rsub__ __rtruediv__ backward
    dim_order is_shared istft lu norm register_hook register_post_accumulate_grad_hook resize resize_as split stft storage unflatten unique
    unique_consecutive""".split())
# Of nn.functional all are, but these; and those that are torch's own functions under a second name.
NOT_PYTHON = frozenset("""
    avg_pool2d avg_pool3d conv_transpose2d conv_transpose3d elu_ gelu hardtanh_ leaky_relu_ linear logsigmoid one_hot
    scaled_dot_product_attention softplus softshrink""".split())
TORCHS = frozenset("""
    adaptive_avg_pool1d avg_pool1d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
    conv_transpose3d cosine_similarity hardshrink native_channel_shuffle pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_
    rrelu_ selu_ threshold_""".split())
# These call another function, which asks.
OF_METHODS = {"tanh": "tanh", "sigmoid": "sigmoid"}
SECOND_NAMES = frozenset(("upsample", "upsample_bilinear", "upsample_nearest"))
INITIALISERS = ("uniform_", "normal_", "constant_", "kaiming_uniform_")

# -- asked as something else, or not at all -----------------------------------------------------------------------------

# Modes see them; an argument is data to them, whatever its class.
MODES_ONLY = frozenset("""
    tensor as_tensor asarray frombuffer scalar_tensor promote_types can_cast sparse_coo_tensor sparse_compressed_tensor sparse_csr_tensor
    sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor""".split())
# Python's operators by the methods that are asked in their place; the other ones ask as themselves.
ASKED_AS = {
    "__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_", "__mul__": "mul", "__rmul__": "mul",
    "__imul__": "mul_", "__truediv__": "div", "__itruediv__": "div_", "__ifloordiv__": "floor_divide_", "__mod__": "remainder",
    "__imod__": "remainder_", "__matmul__": "matmul", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
    "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor", "__neg__": "neg", "__pos__": "positive",
    "__abs__": "abs", "__div__": "div", "__idiv__": "div_",
}
ALSO_ASKED_AS = {"nelement": "numel", "ndimension": "dim", "to_sparse_coo": "to_sparse", "__long__": "__int__", "__nonzero__": "__bool__"}
OPERATORS = frozenset((*ASKED_AS, *"""
    __eq__ __and__ __or__ __xor__ __iand__ __ior__ __ixor__ __lshift__ __rshift__ __ilshift__ __irshift__ __pow__ __ipow__ __rpow__
    __floordiv__ __rfloordiv__ __rsub__ __rtruediv__ __rmod__ __rmatmul__ __rlshift__ __rrshift__""".split())) - {
    "__neg__", "__pos__", "__abs__"}
OTHER_METHODS = frozenset("""
    _is_view __getitem__ __setitem__ __bool__ __int__ __float__ __complex__ __index__ __invert__ __long__
    __nonzero__""".split())
SELF_ALONE = frozenset(("new_tensor", "set_"))             # no other argument is asked
# What they have here and PyTorch's do not: named to a class only where it was given.
UNSAID = {"__array__": ("copy",), "__array_wrap__": ("context", "return_scalar"), "norm": ("out",), "chain_matmul": ("out",),
          "l1_loss": ("weight",), "backward": ("grad_variables",)}
NOT_METHODS = frozenset("as_subclass jax".split())

# -- putting it in ------------------------------------------------------------------------------------------------------

_PREFIXED = {"linalg": "linalg_", "fft": "fft_", "special": "special_"}
_ROOMS = ("nn.functional", "nn.init", "linalg", "fft", "special", "sharing", "_legacy", "signal.top_level", "autograd")


def put_in(methods):
    """Has every public function ask from here on; ``methods``: what Tensor had when the package was imported."""
    rooms = {name: importlib.import_module("jtensor." + name) for name in _ROOMS}
    functional, init = rooms["nn.functional"], rooms["nn.init"]
    late = _late_names()
    for name in [*vars(jtensor), *late]:
        if name in FUNCTIONAL:
            first = 1 if name in ("einsum", "unravel_index") else None
            _put(getattr(jtensor, name), key=name, title="torch.functional." + name, python=True, first=first,
                 unsaid=UNSAID[name] if name == "chain_matmul" else (), one_list=name == "einsum")
        elif line_of(name) is not None or name in MODES_ONLY or name in late:
            _put(getattr(jtensor, name), key=name, title="torch." + name, modes_only=name in MODES_ONLY)
    for room, prefix in _PREFIXED.items():
        for name in rooms[room].__all__:
            _put(getattr(rooms[room], name), key=prefix + name, title=f"torch.{room}.{prefix}{name}")
    _put_methods(methods)
    for name in functional.__all__:
        if name in vars(functional):                                # the others are those that ask, found late
            _put_layer(functional, name)
    for name in INITIALISERS:
        _put(getattr(init, name), key=None, title="torch.nn.init." + name, python=True, first=0)
    for name in ("grad", "backward"):
        _put(getattr(rooms["autograd"], name), key=None, title="torch.autograd." + name, python=True, unsaid=UNSAID.get(name, ()))
    if Tensor.__iter__ is methods["__iter__"]:
        Tensor.__iter__ = _iterate
    _put(mode._set_grad_enabled, key=None, title="torch._C._set_grad_enabled", modes_only=True)
    for cls, to in ((mode.no_grad, lambda self: False), (mode.enable_grad, lambda self: True),
                    (mode.set_grad_enabled, lambda self: self.mode)):
        cls.__enter__, cls.__exit__ = _entering(to), _leave
    mode.set_grad_enabled.__init__, mode.set_grad_enabled.__call__ = _switch_on, _decorate


def _entering(to):
    def enter(self):
        self.previous = self.previous if type(self) is mode.set_grad_enabled else (LOCAL.grad_enabled, LOCAL.says_enabled)
        _switch(to(self), sys._getframe(1))
    return enter


def _leave(self, *exc):
    _switch(any(self.previous), sys._getframe(1))


def _switch_on(self, mode):
    self.previous, self.mode = (LOCAL.grad_enabled, LOCAL.says_enabled), mode
    _switch(mode, sys._getframe(1))


def _decorate(self, function):
    _switch(any(self.previous), sys._getframe(1))
    return super(mode.set_grad_enabled, self).__call__(function)


def _switch(to, caller):
    """Switches the recording of gradients, which modes are told of, unless the engine does it, or PyTorch's parser refuses it."""
    beneath(mode._set_grad_enabled)(to) if is_engine(caller) or not isinstance(to, bool) else mode._set_grad_enabled(to)


def _iterate(self):
    """`Tensor.__iter__`, which asks for what it calls."""
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def printed(func):
    """A public function as PyTorch prints it, in which most are not written in Python.

    >>> from jtensor.tensor.calling.overriding import install
    >>> install()
    >>> printed(Tensor.add), printed(jtensor.special.expit)
    ("<method 'add' of 'torch._C.TensorBase' objects>", '<built-in function special_expit>')
    """
    space, _, name = TITLES.get(func, "").rpartition(".")
    own = getattr(func, "__name__", name)
    if space == "torch.Tensor":
        return f"<{'slot wrapper' if own in ('__getitem__', '__setitem__') else 'method'} '{own}' of 'torch._C.TensorBase' objects>"
    if space == "torch":
        return f"<built-in method {own} of type object at {id(Tensor):#x}>"
    if space in _BUILT_IN:
        return f"<built-in function {name}>"
    if name in ("__pow__", "__ipow__"):                     # which it makes of others
        return f"<function TensorBase.{own} at {id(func):#x}>"
    if space == "torch._tensor":
        return f"<function Tensor.{own} at {id(func):#x}>"
    return repr(func)


_BUILT_IN = ("torch.nn", *("torch." + room for room in _PREFIXED))


def _late_names():
    """Names of the package whose rooms are imported when they are asked for."""
    from . import namespace
    rooms = ("sharing", "signal.top_level", "segments", "sparse.making", "sparse.compressed_making")
    return [*(name for name, room in namespace._ROOM_OF.items() if room in rooms and name != "from_dlpack"), *namespace._FROM_NN]


def _put(function, public=None, **about):
    """Has one function ask, once; not one that a program has put in the place of the library's, or beside them."""
    if isinstance(function, types.FunctionType) and function not in ENTRIES and sites.inside(function.__code__):
        overridable(function, Entry(function if public is None else public, **about))


def _put_layer(functional, name):
    """A function of ``nn.functional``."""
    function = getattr(functional, name)
    if name in OF_METHODS:
        _put(function, getattr(Tensor, OF_METHODS[name]), key="Tensor." + name, title="torch.Tensor." + name)
    elif name in TORCHS:
        _put(function, getattr(jtensor, name), key=name, title="torch." + name)
    elif name in NOT_PYTHON:
        _put(function, key=name, title="torch.nn." + name)
    elif name not in SECOND_NAMES:
        _put(function, key=None, title="torch.nn.functional." + name, python=True, unsaid=UNSAID.get(name, ()))


def _put_methods(methods):
    """The methods, Python's operators and the properties of Tensor. One that a program has replaced still asks when the replacement calls
    it: it asks as what stands there now."""
    for name, member in (vars(Tensor) | methods).items():
        title = "torch.Tensor." + name
        if isinstance(member, property):
            for part, asked in ((member.fget, "__get__"), (member.fset, "__set__"), (member.fdel, "__delete__")):
                _put(part, getattr(member, asked), key="Tensor." + name, title=f"{title}.{asked}")
        elif name in METHODS:
            _put(member, key="Tensor." + name, title="torch._tensor." + name, python=True, operator=name in OPERATORS,
                 relevant=None if name in OPERATORS else 1, first=1 if name == "__array_wrap__" else None,
                 unsaid=UNSAID.get(name, ()) if name != "backward" else ())
        elif name in OPERATORS or name in OTHER_METHODS or not name.startswith("_") and name not in NOT_METHODS:
            asked = ASKED_AS.get(name) or ALSO_ASKED_AS.get(name, name)
            _put(member, getattr(Tensor, asked, member), key="Tensor." + asked, title=title, operator=name in OPERATORS,
                 relevant=1 if name in SELF_ALONE else None)
