"""The names of ``torch._jit_internal`` that programs take from it: types for annotations, marks, functions of two forms.

Owns: `boolean_dispatch`. What a mark or an annotation says to the compiler: `jtensor.jit`.
"""
from typing import (  # noqa: F401, UP035 - for annotations, PyTorch has them there
    Any,
    Callable,
    Dict,
    Final,
    List,
    Optional,
    Tuple,
    Union,
)

from .futures import Future  # noqa: F401
from .jit import export, ignore, is_scripting, unused  # noqa: F401
from .jit.annotations import (  # noqa: F401
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    BroadcastingList4,
    BroadcastingList5,
    BroadcastingList6,
    BroadcastingListCls,
)

boolean_dispatched = {}         # {function: what it was made of}, as PyTorch's compiler looks it up


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls one of two, by the truth of its argument ``arg_name``, the ``arg_index``-th, which is ``default`` if missing.

    ``module_name``, ``func_name``: where it says that it comes from, unless they are None. It has the docstring of the one that has one;
    ``RuntimeError`` if both have.

    >>> from jtensor._jit_internal import boolean_dispatch
    >>> chosen = boolean_dispatch("twice", 1, False, lambda x, twice: 2 * x, lambda x, twice=False: x, None, "chosen")
    >>> chosen(3), chosen(3, True), chosen(3, twice=True)
    (3, 6, 6)
    """
    def fn(*args, **kwargs):
        chosen = kwargs[arg_name] if arg_name in kwargs else args[arg_index] if arg_index < len(args) else default
        return (if_true if chosen else if_false)(*args, **kwargs)

    if if_true.__doc__ is not None and if_false.__doc__ is not None:
        raise RuntimeError("only one function can have a docstring")
    fn.__doc__ = if_true.__doc__ = if_false.__doc__ = if_false.__doc__ if if_true.__doc__ is None else if_true.__doc__
    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = func_name
    boolean_dispatched[fn] = {"if_true": if_true, "if_false": if_false, "index": arg_index, "default": default, "arg_name": arg_name}
    return fn
