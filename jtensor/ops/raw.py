"""Operators and composites by name: ``raw.nll_loss(...)``, for rooms that build on operators which are not public functions.

Owns: the look-up. Names are resolved when they are asked for, so that this room imports no family.
"""
from .registry import REGISTRY


def __getattr__(name):
    found = REGISTRY.operators.get(name)
    if found is None and name in REGISTRY.composites:
        found = REGISTRY.composites[name].body
    if found is None and name.endswith("_") and getattr(REGISTRY.operators.get(name[:-1]), "inplace", False):
        found = REGISTRY.operators[name[:-1]].inplace_form
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")          # whoever looks through all modules expects this one
    globals()[name] = found
    return found
