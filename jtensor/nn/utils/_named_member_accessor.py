"""A module's tensor is exchanged for another by name, whatever it is registered as. Owns: `swap_tensor`, which libraries take from here."""
import jtensor

from ..modules.module import Module

_ABSENT = object()


def swap_tensor(module, name, tensor, allow_missing=False):
    """Puts ``tensor`` where the module has one called ``name``, and answers that one. No parameter is made of it and no hook is called.

    ``allow_missing``: where there is none, a mark is answered that stands for it; given for ``tensor``, it takes the tensor away again.

    >>> from jtensor.nn.utils._named_member_accessor import swap_tensor
    >>> layer = torch.nn.Linear(2, 2)
    >>> before = swap_tensor(layer, "weight", torch.zeros(2, 2))
    >>> layer.weight.sum(), swap_tensor(layer, "weight", before).shape
    (tensor(0.), torch.Size([2, 2]))
    """
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if tensor is not _ABSENT and not isinstance(tensor, jtensor.Tensor) and tensor is not None:
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if not name:
        raise KeyError('tensor name can\'t be empty string ""')
    holder = next((held for held in (module._parameters, module._buffers) if name in held), None)
    if holder is None:
        holder, before = vars(module), getattr(module, name, _ABSENT)
        if before is _ABSENT and not allow_missing:
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if before is not _ABSENT and not isinstance(before, jtensor.Tensor):
            raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    else:
        before = holder[name]
        if not isinstance(before, jtensor.Tensor) and not allow_missing:
            raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is _ABSENT:
        holder.pop(name, None)
    else:
        holder[name] = tensor
    return before
