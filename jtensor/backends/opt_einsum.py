"""`torch.backends.opt_einsum`: by which rule `einsum` finds the order in which it multiplies more than two operands."""
from contextlib import contextmanager

enabled, strategy = True, "auto"


def is_available():
    """Whether it is installed: JAX depends on it."""
    return True


def get_opt_einsum():
    """The package itself."""
    import opt_einsum
    return opt_einsum


def set_flags(_enabled=None, _strategy=None):
    """Set what is given and not None; answers what both were. With ``enabled`` False operands are multiplied from left to right.

    >>> torch.backends.opt_einsum.set_flags(False)
    (True, 'auto')
    >>> torch.backends.opt_einsum.set_flags(True, "auto")
    (False, 'auto')
    """
    global enabled, strategy
    before = enabled, strategy
    if _enabled is not None:
        enabled = _enabled
    if _strategy is not None:
        if not enabled:
            raise ValueError(f"opt_einsum is not enabled, so setting a `strategy` to {_strategy} will not be meaningful. torch.einsum will "
                             "bypass path calculation and simply contract from left to right. Please set `enabled` to `True` as well or "
                             "unset `strategy`.")
        if _strategy not in ("auto", "greedy", "optimal"):
            raise ValueError(f"`strategy` must be one of the following: [auto, greedy, optimal] but is {_strategy}")
        strategy = _strategy
    return before


@contextmanager
def flags(enabled=None, strategy=None):
    """A context in which that is set; afterwards it is as before."""
    before = set_flags(enabled, strategy)
    try:
        yield
    finally:
        globals().update(enabled=before[0], strategy=before[1])
