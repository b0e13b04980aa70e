"""Pruning: weights taken out by a mask, which a hook lays over the original before each forward pass.

Owns: the methods that choose what goes, and a function for each. May not know: layers, nor how a mask is laid over a parameter, which is
in ``_pruning``.
"""
import numbers

import jtensor

from ...base.homes import settle as _settle
from ._pruning import BasePruningMethod, PruningContainer, along, taken_out

__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
           "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
           "random_structured", "random_unstructured", "remove"]

_settle(__name__, BasePruningMethod, PruningContainer)

# -- how much ---------------------------------------------------------------------------------------------------------


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if (whole and amount < 0) or (not whole and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount, tensor_size):
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount, tensor_size):
    """How many of ``tensor_size`` go: an integer as it is, a float as a share."""
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _count(amount, size):
    _validate_pruning_amount(amount, size)
    return _compute_nparams_toprune(amount, size)


def _check_channels(t, dim):
    if len(t.shape) <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                         f"{t.shape} with {len(t.shape)} dims")
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


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
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, mask=mask)


class _Unstructured(BasePruningMethod):
    """Takes out single numbers, ``amount`` of them; `_chosen` says which of all."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
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
        mask[along(t, self.dim, self._kept(t, size, count))] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_Structured):
    """Takes out channels by chance."""

    def __init__(self, amount, dim=-1):
        _validate_pruning_amount_init(amount)
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
        _validate_pruning_amount_init(amount)
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
    hook = taken_out(module._forward_pre_hooks, name)
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
