"""The Kullback-Leibler divergence of two distributions: one formula for each pair of types.

Owns: the table of formulas, and which of several that fit is taken; the formulas are in `kl_alike` and `kl_crossed`. May not know: any
distribution.
"""
import warnings

__all__ = ["kl_divergence", "register_kl"]

# Under PyTorch's names. {(type of p, type of q): a formula}: those that are registered, and those of the pairs that were asked for.
_KL_REGISTRY, _KL_MEMOIZE = {}, {}


def register_kl(type_p, type_q):
    """Declares a function ``(p, q)`` to be the divergence of two types of distributions, and of their subclasses.

    Of several that fit, that of the nearest bases is taken, those of ``p`` first. TypeError for what is no class.

    >>> class Dot(torch.distributions.Normal):
    ...     pass
    >>> @torch.distributions.register_kl(Dot, Dot)
    ... def dots(p, q):
    ...     return (p.loc - q.loc).abs()
    >>> torch.distributions.kl_divergence(Dot(0.0, 1.0), Dot(3.0, 1.0))
    tensor(3.)
    """
    if not (isinstance(type_p, type) and isinstance(type_q, type)):
        raise TypeError("issubclass() arg 1 must be a class")

    def declare(function):
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function
    return declare


def _formula(type_p, type_q):
    """The formula of the nearest base types, or None. Warns where another one's is nearer if the second distribution is asked first."""
    fitting = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not fitting:
        return None
    near_p, near_q = type_p.__mro__.index, type_q.__mro__.index
    first = min(fitting, key=lambda pair: (near_p(pair[0]), near_q(pair[1])))
    second = min(fitting, key=lambda pair: (near_q(pair[1]), near_p(pair[0])))
    if _KL_REGISTRY[first] is not _KL_REGISTRY[second]:
        warnings.warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({first[0].__name__}, "
                      f"{second[1].__name__})", RuntimeWarning, stacklevel=3)
    return _KL_REGISTRY[first]


def kl_divergence(p, q):
    """``KL(p || q)``, one number for each of the batch. NotImplementedError where no formula is known.

    >>> Normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _formula(*key)
    if _KL_MEMOIZE[key] is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return _KL_MEMOIZE[key](p, q)
