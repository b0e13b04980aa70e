"""How a loss is reduced: "none", "mean" or "sum", and the two flags by which that used to be said."""
from ..base import sites

_CODES = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction):
    """The number by which operators know a reduction. ValueError for any other word."""
    if reduction == "elementwise_mean":
        sites.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        reduction = "mean"
    if not isinstance(reduction, str) or reduction not in _CODES:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _CODES[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The word that the deprecated flags stand for."""
    reduce = True if reduce is None else reduce
    size_average = True if size_average is None else size_average
    word = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        sites.warn(f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.")
    return word


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number that the deprecated flags stand for."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def resolved(size_average, reduce, reduction):
    """The reduction, the deprecated flags (with a warning) going before it."""
    if size_average is None and reduce is None:
        return reduction
    return legacy_get_string(size_average, reduce)


def code_of(size_average, reduce, reduction):
    """The number by which operators know a reduction, the deprecated flags going before the word."""
    return get_enum(resolved(size_average, reduce, reduction))


def reduced(loss, code):
    """A loss that was computed element by element, reduced as that number says."""
    return loss if code == 0 else loss.mean() if code == 1 else loss.sum()
