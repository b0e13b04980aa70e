"""Calls in PyTorch's first order of arguments, numbers before tensors: ``p.add_(-lr, grad)``, ``addmm(beta, x, alpha, a, b)``.

Owns: which functions had such an order, and the one warning that a process gives about it. Asked only about calls that Python could not
bind. May not know: what the functions do.
"""
from ...base import sites
from .taking import TAKES, signatures

_PRODUCTS = {"addmm": ("mat1", "mat2"), "addmv": ("mat", "vec"), "addr": ("vec1", "vec2"), "addbmm": ("batch1", "batch2"),
             "baddbmm": ("batch1", "batch2")}
ORDERS = {"add": [("input", "alpha", "other")], "sub": [("input", "alpha", "other")],
          "addcmul": [("input", "value", "tensor1", "tensor2")], "addcdiv": [("input", "value", "tensor1", "tensor2")],
          **{name: [("beta", "input", "alpha", *factors), ("beta", "input", *factors)] for name, factors in _PRODUCTS.items()}}
_NUMBERS = {"alpha", "beta", "value"}
_warned = []


def modern(name, args, kwargs):
    """The same call in today's order as (positional, by keyword), or None where it is none of the former ones. Warns once."""
    shown = name.removeprefix("Tensor.")
    method = shown != name
    for order in ORDERS.get(shown.rstrip("_"), ()):
        names = [n for n in order if n != "input"] if method else order
        given = dict(zip(names, args[method:]))
        if len(args) - method > len(names) or given.keys() & kwargs.keys() or not kwargs.keys() <= {*names, "out"}:
            continue
        given.update(kwargs)
        if all(n in given and _fits(n, given[n]) for n in names):
            _warn(name, shown, names, method)
            tensors = [given.pop(n) for n in names if n not in _NUMBERS]
            numbers = {n: given[n].item() if TAKES["Tensor"](given[n]) else given[n] for n in names if n in _NUMBERS}
            return [*args[:method], *tensors], {**given, **numbers}
    return None


def _fits(name, given):
    return TAKES["Number"](given) if name in _NUMBERS else TAKES["Tensor"](given) or name == "other" and TAKES["Number"](given)


def _warn(name, shown, names, method):
    if _warned and not sites.says_always():
        return
    _warned.append(name)
    old = ", ".join([f"{'Number' if n in _NUMBERS else 'Tensor'} {n}" for n in names]) + (", *, Tensor out = None" if not method else "")
    today = "".join([f"\n\t{shown}{one.text}" for one in signatures(name) or () if not one.hidden])
    sites.warn(f"This overload of {shown} is deprecated:\n\t{shown}({old})\n"
               f"Consider using one of the following signatures instead:{today}")
