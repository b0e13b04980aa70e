"""What PyTorch says where something else than a tensor is given to a function that is one kernel there and several operators here, and
what it takes for numbers of dimensions.

Owns: the words, and `each`. A function asks ``isinstance(x, Tensor)`` itself, which costs a call in order next to nothing. May not know:
the functions.
"""
from ...base.naming import type_name
from ...tensor.calling.taking import TAKES, is_int
from ...tensor.core import Tensor as Tensor


def refuse(name, **tensors):
    """TypeError for the first of the arguments of PyTorch's function ``name`` that is no tensor; they are named in its order.

    >>> import jtensor
    >>> refuse("kl_div", input=jtensor.ones(2), target=[1.0])
    Traceback (most recent call last):
    TypeError: kl_div(): argument 'target' (position 2) must be Tensor, not list
    """
    for position, (argument, given) in enumerate(tensors.items(), 1):
        if not isinstance(given, Tensor):
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type_name(type(given))}")


def refuse_number(name, argument, position, given):
    """TypeError for something that PyTorch's function ``name`` does not take for its float ``argument``."""
    if given.__class__ is not float and not TAKES["float"](given):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be float, not {type_name(type(given))}")


def refuse_flag(name, argument, position, given):
    """TypeError for something else than a truth value."""
    if not TAKES["bool"](given):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be bool, not {type_name(type(given))}")


def class_settings(name, weight, ignore_index, label_smoothing=0.0):
    """``ignore_index`` as an int, of a loss of classes; TypeError for what PyTorch's function ``name`` does not take for these settings."""
    if weight is not None and not isinstance(weight, Tensor):
        raise TypeError(f"{name}(): argument 'weight' (position 3) must be Tensor, not {type_name(type(weight))}")
    if ignore_index.__class__ is not int:
        if not TAKES["symint"](ignore_index):
            raise TypeError(f"{name}(): argument 'ignore_index' (position 5) must be int, not {type_name(type(ignore_index))}")
        ignore_index = int(ignore_index)
    refuse_number(name, "label_smoothing", 6, label_smoothing)
    return ignore_index


def each(value, n):
    """One number a dimension: of one number (of Python, NumPy, or a tensor), or of a list of one or ``n``.

    >>> each(2, 3), each([2], 3), each((1, 2), 2)
    ((2, 2, 2), (2, 2, 2), (1, 2))
    """
    if isinstance(value, int):
        return (value,) * n
    if is_int(value):
        return (int(value),) * n
    value = tuple(value)
    return value * n if len(value) == 1 else value


def spread(value, n):
    """`each`, as PyTorch's functions in Python have it: they take whatever has no elements for one number, and a list as it is."""
    return tuple(value) if hasattr(value, "__iter__") else (value,) * n


def none_given(value):
    """Whether a stride is left out: None, or a list without elements."""
    return value is None or isinstance(value, (tuple, list)) and not value
