"""`torch.utils.swap_tensors`: two tensors change places, so that whoever holds the one has the other from then on.

Owns: the exchange of all that a tensor object holds, and what it refuses. May not know: modules, which ask for it (`nn.modules._convert`).
"""
import copyreg
import weakref

import jtensor
from jtensor.tensor.core import Tensor

_POISONED = (
    "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run backward on a tensor that "
    "was swapped. For a module m with `torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the device or "
    "dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and backward. To resolve this, please only change the "
    "device/dtype before running forward (or after both forward and backward).")


def _poisoned(grads):
    raise RuntimeError(_POISONED)


def _cut_from_graph(tensor):
    """A leaf that a graph leads to: its gradients would reach what is now another tensor, so that graph's backward is refused."""
    auto = tensor._auto
    node = auto.accumulator() if auto is not None and auto.accumulator is not None else None
    if node is not None:
        node.register_prehook(_poisoned)
        auto.accumulator = None


def _exchange(t1, t2, name):
    """The attribute of that name, which either may lack."""
    missing = object()
    first, second = getattr(t1, name, missing), getattr(t2, name, missing)
    for tensor, value in ((t1, second), (t2, first)):
        if value is not missing:
            setattr(tensor, name, value)
        elif hasattr(tensor, name):
            delattr(tensor, name)


def swap_tensors(t1, t2):
    """Makes each of two tensors what the other was: class, memory, history, gradient and attributes.

    RuntimeError where one has a weak reference to it, or their classes have different slots. A graph that ends in one of them cannot be
    walked backwards any more. Views of them, unlike in PyTorch, are not looked for.

    >>> import jtensor as torch
    >>> a, b = torch.ones(2), torch.zeros(3)
    >>> torch.utils.swap_tensors(a, b)
    >>> a, b
    (tensor([0., 0., 0.]), tensor([1., 1.]))
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = [set(copyreg._slotnames(type(tensor))) for tensor in (t1, t2)]
    if slots[0] != slots[1]:
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for tensor in (t1, t2):
        _cut_from_graph(tensor)
    kinds = type(t1), type(t2)
    if kinds[0] is not kinds[1]:
        t1.__class__, t2.__class__ = kinds[1], kinds[0]
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    own = [name for name in Tensor.__slots__ if not name.startswith("__")]
    with jtensor._C.DisableTorchFunctionSubclass():
        for name in own + sorted(slots[0] - set(own)):
            _exchange(t1, t2, name)
