"""Whether a program demands the same bits from every run (`torch.use_deterministic_algorithms`), and what refuses then.

Owns: the demand, the one error. May not know: operators. On a CPU everything is computed the same way every time; what PyTorch refuses all
the same is where equal positions leave open which of the writes stays.
"""
from . import sites

DEMANDED = [0]                   # 1: warn, 2: refuse


def alert(operation):
    """Refuses an operation that PyTorch does not compute the same way every time, or warns, as was chosen."""
    if not DEMANDED[0]:
        return
    text = (f"{operation} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True"
            f"{', warn_only=True' if DEMANDED[0] == 1 else ''})'. ")
    if DEMANDED[0] == 2:
        raise RuntimeError(text + "Switch that off for this operation alone, or set warn_only=True to be warned instead.")
    sites.warn(text + "It is computed all the same.")
