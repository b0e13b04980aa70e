"""The Kullback-Leibler divergence of two distributions: one formula for each pair of types.

Owns: the table of formulas, and which of several that fit is taken; the formulas are in `kl_alike` and `kl_crossed`. May not know: any
distribution.
"""
__all__ = ["kl_divergence", "register_kl"]

_formulas, _chosen = {}, {}


def register_kl(type_p, type_q):
    """Declares a function ``(p, q)`` to be the divergence of two types of distributions."""
    if not (isinstance(type_p, type) and isinstance(type_q, type)):
        raise TypeError("issubclass() arg 1 must be a class")

    def declare(function):
        _formulas[type_p, type_q] = function
        _chosen.clear()
        return function
    return declare


def _formula(type_p, type_q):
    """The formula of the nearest base types, or None."""
    fitting = [(type_p.__mro__.index(p) + type_q.__mro__.index(q), f) for (p, q), f in _formulas.items()
               if issubclass(type_p, p) and issubclass(type_q, q)]
    return min(fitting, key=lambda found: found[0])[1] if fitting else None


def kl_divergence(p, q):
    """``KL(p || q)``, one number for each of the batch. NotImplementedError where no formula is known.

    >>> Normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = type(p), type(q)
    if key not in _chosen:
        _chosen[key] = _formula(*key)
    if _chosen[key] is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return _chosen[key](p, q)
