"""A look behind what the functions of this package make of a tensor, for who looks for a mistake."""
from ..storage.lifted import LIFTED_MEMORY
from ..tensor.lifted.levels import of_value
from ..tensor.values import read


def debug_unwrap(tensor, *, recurse=True):
    """The tensor that one inside of `vmap` or `jvp` is made of: of a batch all of it, its dimension first. Else the tensor itself, which is
    what `grad` gives its function here.

    ``recurse``: behind all of the functions around, else the innermost. Nothing is to be computed with it: the functions do not know of it.

    >>> def seen(x):
    ...     print(x.shape, torch.func.debug_unwrap(x).shape)
    ...     return x
    >>> _ = torch.func.vmap(seen)(torch.ones(3, 2))
    torch.Size([2]) torch.Size([3, 2])
    """
    while tensor._storage.host is LIFTED_MEMORY:
        tensor = of_value(read(tensor).parts[0])
        if not recurse:
            break
    return tensor
