"""What PyTorch says where something else than a tensor is given to a function that is one kernel there and several operators here.

Owns: the words. A function asks ``isinstance(x, Tensor)`` itself, which costs a call in order next to nothing. May not know: the functions.
"""
from ...base.naming import type_name
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
