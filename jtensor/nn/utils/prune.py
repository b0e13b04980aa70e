"""Pruning: weights taken out by a mask, which a hook lays over the original before each forward pass.

A pruned parameter ``name`` is kept as ``name_orig``, its mask is the buffer ``name_mask``, and ``name`` is their product. Owns: the methods
that choose what goes. May not know: layers.
"""
import abc
import numbers

import jtensor

__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
           "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
           "random_structured", "random_unstructured", "remove"]

# -- how much ---------------------------------------------------------------------------------------------------------


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if (whole and amount < 0) or (not whole and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount, size):
    """How many of ``size`` go: an integer as it is, a float as a share."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount


def _check_channels(t, dim):
    if len(t.shape) <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                         f"{t.shape} with {len(t.shape)} dims")
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _along(t, dim, index):
    """The index of a tensor that takes ``index`` along a dimension, and all of the others."""
    slices = [slice(None)] * t.dim()
    slices[dim] = index
    return tuple(slices)


# -- the hook ---------------------------------------------------------------------------------------------------------


def _without(hooks, name):
    """Takes the pruning hook of a parameter out of a module's hooks, and answers it, or None."""
    found = [key for key, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(found) > 1:
        raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module. Use a PruningContainer.")
    return hooks.pop(found[0]) if found else None


class BasePruningMethod(abc.ABC):
    """A way to prune: `compute_mask` says what stays; ``PRUNING_TYPE`` is "unstructured", "structured" or "global"."""

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for scores ``t``, of which ``default_mask`` tells what has gone already."""

    def apply_mask(self, module):
        """The original times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes a parameter, by ``importance_scores`` or its own values, on top of what has pruned it before; answers the hook."""
        before, method = _without(module._forward_pre_hooks, name), cls(*args, **kwargs)
        method._tensor_name = name
        if before is not None:
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        if before is None:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            mask = jtensor.ones_like(original)
        else:
            mask = getattr(module, name + "_mask").detach().clone(memory_format=jtensor.contiguous_format)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if before is None:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned tensor, without a module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        return t * self.compute_mask(scores, default_mask=jtensor.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        """Makes the pruned values the parameter's own; the mask goes."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Methods one after the other: the last one chooses of what the others have left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """One more, of the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}."
                             f" Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, at):
        return self._pruning_methods[at]

    def compute_mask(self, t, default_mask):
        """The last method's mask, of what is still there, in the whole one."""
        method = self._pruning_methods[-1]
        if method.PRUNING_TYPE == "unstructured":
            there = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim + t.dim() if method.dim < 0 else method.dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
            there = _along(t, dim, default_mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0)
        elif method.PRUNING_TYPE == "global":
            there = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = default_mask.to(dtype=t.dtype).clone()
        mask[there] = method.compute_mask(t[there], default_mask=default_mask[there]).to(dtype=mask.dtype)
        return mask


# -- methods ----------------------------------------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the parameter a pruned one."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        """The one that was."""
        return default_mask

    @classmethod
    def apply(cls, module, name):
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        """The given mask, where the one before is one."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"mask shape {self.mask.shape} must match default_mask shape {default_mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, mask=mask)


class _Unstructured(BasePruningMethod):
    """Takes out single numbers, ``amount`` of them; `_chosen` says which of all."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        """Zeros where numbers go."""
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=jtensor.contiguous_format)
        if count:
            mask.view(-1)[self._chosen(t, count).indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Takes out numbers by chance."""

    def _chosen(self, t, count):
        return jtensor.topk(jtensor.rand_like(t).view(-1), k=count)

    @classmethod
    def apply(cls, module, name, amount):
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Takes out the smallest numbers."""

    def _chosen(self, t, count):
        return jtensor.topk(jtensor.abs(t).view(-1), k=count, largest=False)

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(BasePruningMethod):
    """Takes out whole channels along ``dim``, ``amount`` of them; `_kept` says which stay."""

    PRUNING_TYPE = "structured"

    def compute_mask(self, t, default_mask):
        """Zeros in the channels that go."""
        _check_channels(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        mask = jtensor.zeros_like(t)
        mask[_along(t, self.dim, self._kept(t, size, count))] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Takes out channels by chance."""

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t, size, count):
        chance = jtensor.rand(size)
        return chance > jtensor.kthvalue(chance, k=count).values

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Takes out the channels of the smallest ``n``-norms."""

    def __init__(self, amount, n, dim=-1):
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _kept(self, t, size, count):
        others = list(range(t.dim()))
        del others[self.dim]
        return jtensor.topk(jtensor.norm(t, p=self.n, dim=others), k=size - count, largest=True).indices

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


# -- functions --------------------------------------------------------------------------------------------------------


def identity(module, name):
    """Makes a parameter a pruned one, of which nothing is missing; answers the module, as the functions below do.

    >>> layer = torch.nn.utils.prune.identity(torch.nn.Linear(2, 3), "bias")
    >>> sorted(name for name, _ in layer.named_parameters()), [name for name, _ in layer.named_buffers()]
    (['bias_orig', 'weight'], ['bias_mask'])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Takes numbers out by chance: ``amount`` of them, or that share of all if it is a float.

    TypeError for an amount that is no number, ValueError for a negative one, a share above 1 and, in all functions of this room, for more
    than there are.

    >>> layer = torch.nn.utils.prune.random_unstructured(torch.nn.Linear(2, 3), "weight", amount=1)
    >>> int((layer.weight == 0).sum())
    1
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Takes out the numbers of the smallest size, or those of the smallest ``importance_scores``, a tensor of the parameter's shape.

    >>> layer = torch.nn.Linear(3, 1)
    >>> layer.weight.data[:] = torch.tensor([[3., -1., 2.]])
    >>> torch.nn.utils.prune.l1_unstructured(layer, "weight", amount=1).weight.tolist()
    [[3.0, -0.0, 2.0]]
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Takes ``amount`` channels along ``dim``, or that share of them, out by chance. ValueError for a vector.

    >>> layer = torch.nn.utils.prune.random_structured(torch.nn.Linear(2, 3), "weight", amount=1, dim=0)
    >>> int((layer.weight_mask.sum(1) == 0).sum())
    1
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Takes out the ``amount`` channels along ``dim`` of the smallest ``n``-norms, or that share of them. ValueError for a vector.

    >>> layer = torch.nn.Linear(2, 2)
    >>> layer.weight.data[:] = torch.tensor([[3., 1.], [2., 1.]])
    >>> torch.nn.utils.prune.ln_structured(layer, "weight", amount=0.5, n=2, dim=1).weight_mask
    tensor([[1., 0.],
            [1., 0.]])
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Takes out what a mask of the parameter's shape has zeros for. AssertionError for another shape.

    >>> layer = torch.nn.utils.prune.custom_from_mask(torch.nn.Linear(2, 1), "bias", torch.zeros(1))
    >>> layer.bias == 0
    tensor([True])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes several parameters, pairs of a module and a name, as if they were one.

    ``importance_scores``: a dict of tensors by such pairs, the values' own for those that it does not name. TypeError for what is no
    iterable or dict, and for methods that do not take single numbers.

    >>> first, second = torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False)
    >>> second.weight.data[:] = 100.0
    >>> torch.nn.utils.prune.global_unstructured([(first, "weight"), (second, "weight")], torch.nn.utils.prune.L1Unstructured, amount=0.5)
    >>> first.weight_mask.sum(), second.weight_mask.sum()
    (tensor(0.), tensor(4.))
    """
    if not hasattr(parameters, "__iter__"):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters, importance_scores = list(parameters), {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    together = jtensor.nn.utils.parameters_to_vector
    values = [getattr(module, name) for module, name in parameters]
    scores = together([importance_scores.get(pair, value) for pair, value in zip(parameters, values)])
    before = together([getattr(module, name + "_mask", jtensor.ones_like(value)) for (module, name), value in zip(parameters, values)])
    container, method = PruningContainer(), pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
                        f"{method.PRUNING_TYPE}")
    mask = container.compute_mask(scores, before)
    for (module, name), value, part in zip(parameters, values, mask.split([value.numel() for value in values])):
        custom_from_mask(module, name, mask=part.view_as(value))


def remove(module, name):
    """Makes what pruning has left the parameter itself, and answers the module. ValueError where nothing was pruned.

    >>> layer = torch.nn.utils.prune.identity(torch.nn.Linear(2, 3), "bias")
    >>> sorted(name for name, _ in torch.nn.utils.prune.remove(layer, "bias").named_parameters())
    ['bias', 'weight']
    """
    hook = _without(module._forward_pre_hooks, name)
    if hook is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    hook.remove(module)
    return module


def is_pruned(module):
    """Whether a parameter of the module, or of one within it, is pruned.

    >>> torch.nn.utils.prune.is_pruned(torch.nn.Linear(2, 3))
    False
    """
    return any(isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values())
