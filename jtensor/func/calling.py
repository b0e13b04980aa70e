"""A module as a function of its parameters and buffers: for the length of one call others take their places.

Knows a module by what every module has: ``named_parameters``, ``named_buffers``, and the dictionaries that hold them.
"""
import collections
import contextlib

import jtensor

_ABSENT = object()                             # a name that the module lacks: it has the tensor for the call only, as in PyTorch


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Calls the module with other tensors in the places of its parameters and buffers.

    ``parameter_and_buffer_dicts``: a dictionary {dotted name: tensor}, or a sequence of such with different names. What it does not name
    keeps its tensor. ``tie_weights``: a tensor that the module has under two names is replaced under both. ``strict``: names that the
    module
    lacks, and names of its that are not given, raise ``RuntimeError``. Gradients flow to the given tensors. Buffers that the call writes in
    place are written in the given ones; those it assigns are put back into a given dictionary.

    >>> model = torch.nn.Linear(1, 1)
    >>> torch.func.functional_call(model, {"weight": torch.full((1, 1), 2.0), "bias": torch.zeros(1)}, torch.ones(1))
    tensor([2.])
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        if not all(isinstance(one, dict) for one in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for one in parameter_and_buffer_dicts for name in one]
        repeated = [name for name, count in collections.Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {name: tensor for one in parameter_and_buffer_dicts for name, tensor in one.items()}
    else:
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}"
        )
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def _own(module):
    """Every name of a parameter or buffer, tied ones too, and its tensor."""
    return {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))}


def _tied(own, given):
    """The given tensors, also under the other names of what they stand for."""
    names_of = {}
    for name, tensor in own.items():
        names_of.setdefault(id(tensor), []).append(name)
    full = dict(given)
    for names in names_of.values():
        found = {id(given[name]): given[name] for name in names if name in given}
        if len(found) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(n for n in names if n in given)}, which are tied. "
                             "Consider using tie_weights=False")
        for tensor in found.values():
            full.update(dict.fromkeys(names, tensor))
    return full


@contextlib.contextmanager
def _replaced(module, given, tie_weights, strict):
    own = _own(module) if tie_weights or strict else {}            # without end where a module is below itself
    full = _tied(own, given) if tie_weights else dict(given)
    for tensor in full.values():
        if tensor is not None and not isinstance(tensor, jtensor.Tensor):
            raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    if strict:
        missing, unexpected = sorted(set(own) - set(full)), sorted(set(given) - set(own))
        if missing or unexpected:
            wrong = [f"\n\t{what} key(s): {', '.join(map(repr, keys))}."
                     for what, keys in (("Unexpected", unexpected), ("Missing", missing)) if keys]
            raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:{''.join(wrong)}")
    places = []
    for name, tensor in full.items():
        path, _, last = name.rpartition(".")
        if not last:
            raise KeyError('tensor name can\'t be empty string ""')
        owner = module.get_submodule(path)
        holder = next((d for d in (owner._parameters, owner._buffers) if last in d), None)
        if holder is None:
            holder, before = vars(owner), getattr(owner, last, _ABSENT)
            if before is not _ABSENT and not isinstance(before, (jtensor.Tensor, type(None))):
                raise TypeError(f"attribute `{last}`: {before} is not an instance of torch.Tensor")
            if before is _ABSENT and isinstance(tensor, jtensor.nn.Parameter):
                holder = owner._parameters
        places.append((holder, last, holder.get(last, _ABSENT), name, tensor))
    try:
        for holder, last, _, _, tensor in places:
            holder[last] = tensor
        yield
    finally:
        for holder, last, before, name, tensor in places:
            if holder[last] is not tensor and name in given:
                given[name] = holder[last]
            holder[last] = before
            if last in holder and before is _ABSENT:
                del holder[last]


def stack_module_state(models):
    """Parameters and buffers of equal modules, stacked along a new first dimension: two dictionaries {name: tensor}.

    The stacked parameters are leaves. ``RuntimeError`` for no module, or modules of different classes or modes.

    >>> parameters, buffers = torch.func.stack_module_state([torch.nn.Linear(2, 3) for _ in range(4)])
    >>> parameters["weight"].shape
    torch.Size([4, 3, 2])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    stacked = []
    for names in ("named_parameters", "named_buffers"):
        all_of = [dict(getattr(m, names)()) for m in models]
        stacked.append({name: _stack(name, [one[name] for one in all_of]) for name in all_of[0]})
    return tuple(stacked)


def _stack(name, tensors):
    flags = {t.requires_grad for t in tensors}
    if len(flags) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return jtensor.stack([t.detach() for t in tensors]).requires_grad_(flags.pop())
