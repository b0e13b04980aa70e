"""What `torch.compile` makes of a module: one around it, which answers for it.

Owns: that module. May not know: how programs are compiled.
"""
import warnings

from ..nn import Module
from ..nn.modules import _hooks

__all__ = ["OptimizedModule"]

_OWN = frozenset(("_opt_mod_attributes", "_orig_mod", "dynamo_ctx", "_torchdynamo_orig_callable"))
"""Attributes of the outer module that are nobody else's, with those that `Module` gives it when it is made."""


class OptimizedModule(Module):
    """A module around another, ``_orig_mod``, as `torch.compile` answers it: names in its state dict begin with that.

    What is asked of it and not every module's own, the other one answers, and attributes that are set are set there. It runs as the other
    one does, which is compiled with or without it. Source: https://docs.pytorch.org/docs/stable/generated/torch.compile.html

    >>> net = torch.compile(torch.nn.Linear(2, 3))
    >>> list(net.state_dict()), net.in_features
    (['_orig_mod.weight', '_orig_mod.bias'], 2)
    """

    _opt_mod_attributes = _OWN

    def __init__(self, mod, dynamo_ctx=None):
        super().__init__()
        self._modules["_orig_mod"] = mod
        vars(self).update(dynamo_ctx=dynamo_ctx, _torchdynamo_orig_callable=mod.forward)
        vars(self).pop("training", None)                        # which is the other's

    @property
    def training(self):
        return self._modules["_orig_mod"].training

    @training.setter
    def training(self, mode):
        if "_orig_mod" in self._modules:                        # not yet while this is made
            self._modules["_orig_mod"].training = mode

    def __call__(self, *args, **kwargs):
        if _hooks.forward or _hooks.forward_pre or _hooks.backward or _hooks.backward_pre:
            warnings.warn(_TWICE, stacklevel=2)
        return super().__call__(*args, **kwargs)

    def forward(self, *args, **kwargs):
        return self._modules["_orig_mod"](*args, **kwargs)

    def __getattr__(self, name):
        modules = vars(self).get("_modules", ())
        if name == "_orig_mod" or "_orig_mod" not in modules:   # a copy that is not filled yet has none
            return super().__getattr__(name)
        return getattr(modules["_orig_mod"], name)

    def __setattr__(self, name, value):
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif name in _OWN or "_orig_mod" not in vars(self).get("_modules", ()):
            super().__setattr__(name, value)
        else:
            setattr(self._modules["_orig_mod"], name, value)

    def __delattr__(self, name):
        if name in _OWN:
            super().__delattr__(name)
        else:
            delattr(self._modules["_orig_mod"], name)

    def __len__(self):
        inner = self._modules["_orig_mod"]
        if hasattr(type(inner), "__len__"):
            return len(inner)
        raise TypeError(f"{type(inner).__name__} does not support len()")

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._modules["_orig_mod"])})

    def __reduce__(self):
        return type(self), (self._modules["_orig_mod"], self.dynamo_ctx)


_TWICE = ("Using `torch.compile(module)` when there are global hooks on modules (e.g., from `register_module_forward_hook`); this will "
          "cause the hooks to fire an extra time for the `OptimizedModule` created by `torch.compile(module)`. If this causes undesired "
          "behavior, please try using `module.compile()`, or use the per-module hooks instead")
