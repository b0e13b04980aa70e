"""`assert_close`: whether two tensors, numbers, or containers of them agree, and where they do not.

Values are compared on the host. May not know: how they were computed.
"""
from collections.abc import Mapping, Sequence

import numpy as np

import jtensor

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex32": (1e-3, 1e-5), "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}
_NUMBERS = (bool, int, float, complex)


class _Options:
    """What the caller asked for."""

    def __init__(self, **given):
        self.__dict__.update(given)


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True,
                 check_layout=True, check_stride=False, msg=None):
    """Raises ``AssertionError`` unless ``|actual - expected| <= atol + rtol * |expected|`` everywhere; containers are compared item by
    item.

    ``rtol``, ``atol``: both or neither; by default by the dtype (float32: 1.3e-6 and 1e-5; exact for integers). ``equal_nan``: NaN equals
    NaN. ``check_device``, ``check_dtype``, ``check_stride``: whether these must agree. ``msg``: a text, or a function of the text, for the
    error.

    >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]))
    Traceback (most recent call last):
    ...
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.20000000298023224 at index (1,) (up to 1.3e-06 allowed)
    """
    __tracebackhide__ = True                                        # pytest shows the line that asserts
    if (rtol is None) != (atol is None):
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {'rtol' if rtol is None else 'atol'}.")
    options = _Options(rtol=rtol, atol=atol, equal_nan=equal_nan, device=check_device, dtype=check_dtype, layout=check_layout,
                       stride=check_stride, subclasses=allow_subclasses)
    problem = _compare(actual, expected, options, ())
    if problem is None:
        return
    kind, text, path = problem
    if path:
        text += "\n\nThe failure occurred for item " + "".join(f"[{part!r}]" for part in path)
    if kind is AssertionError and msg is not None:
        text = msg(text) if callable(msg) else msg
    raise kind(text)


def _compare(actual, expected, options, path):
    """None, or (exception class, text, path to the item)."""
    actual, expected = (x.item() if isinstance(x, np.generic) else x for x in (actual, expected))
    if isinstance(actual, np.ndarray) and isinstance(expected, np.ndarray):
        actual, expected = jtensor.from_numpy(actual), jtensor.from_numpy(expected)
    if actual is None or expected is None:
        return None if actual is expected else (AssertionError, f"None mismatch: {actual} is not {expected}", path)
    if isinstance(actual, bool) and isinstance(expected, bool):
        return None if actual is expected else (AssertionError, f"Booleans mismatch: {actual} is not {expected}", path)
    if isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
        return _numbers(actual, expected, options, path)
    if isinstance(actual, jtensor.Tensor) and isinstance(expected, jtensor.Tensor) \
            and (options.subclasses or type(actual) is type(expected)):
        return _tensors(actual, expected, options, path)
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return AssertionError, f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path
        pairs = ((at, actual[at], expected[at]) for at in range(len(actual)))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        lacking, extra = (sorted(a.keys() - b.keys()) for a, b in ((expected, actual), (actual, expected)))
        if lacking or extra:
            return AssertionError, ("The keys of the mappings do not match:\n"
                                    f"Missing keys in the actual mapping: {lacking}\nAdditional keys in the actual mapping: {extra}"), path
        pairs = ((key, actual[key], expected[key]) for key in actual)
    else:
        return TypeError, f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.", path
    return next((problem for key, a, b in pairs if (problem := _compare(a, b, options, (*path, key))) is not None), None)


def _is_sequence(x):
    return isinstance(x, Sequence) and not isinstance(x, str)


def _numbers(actual, expected, options, path):
    if options.dtype and type(actual) is not type(expected):
        return AssertionError, f"The (d)types do not match: {type(actual)} != {type(expected)}.", path
    exact = not isinstance(actual, (float, complex)) and not isinstance(expected, (float, complex))
    rtol, atol = (options.rtol, options.atol) if options.rtol is not None else ((0.0, 0.0) if exact else (1e-7, 1e-7))
    if actual == expected or (options.equal_nan and actual != actual and expected != expected):
        return None
    difference = abs(actual - expected)
    if np.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return None
    return AssertionError, _scalar_text(expected, actual, difference, rtol, atol), path


def _scalar_text(expected, actual, difference, rtol, atol):
    relative = difference / abs(expected) if expected else float("inf")
    equal = rtol == atol == 0
    return (f"Scalars are not {'equal' if equal else 'close'}!\n\nExpected {expected} but got {actual}.\n"
            f"Absolute difference: {difference}{'' if equal else f' (up to {atol} allowed)'}\n"
            f"Relative difference: {relative}{'' if equal else f' (up to {rtol} allowed)'}")


def _tensors(actual, expected, options, path):
    for name, asked in (("shape", True), ("layout", options.layout), ("device", options.device), ("dtype", options.dtype)):
        a, b = getattr(actual, name), getattr(expected, name)
        if asked and a != b:
            return AssertionError, f"The values for attribute '{name}' do not match: {a} != {b}.", path
    if actual.layout.name != "strided" or expected.layout.name != "strided":
        if actual.is_nested and actual.layout is expected.layout:
            return _tensors(actual._values, expected._values, options, path) or _tensors(actual._offsets, expected._offsets, options, path)
        if actual.layout is expected.layout:
            return _sparse(actual, expected, options, path)
        actual, expected = actual.to_dense(), expected.to_dense()
    if options.stride and actual.stride() != expected.stride():
        return AssertionError, f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}.", path
    if actual.device.type == "meta":
        return None                            # no values
    if options.rtol is not None:
        rtol, atol = [float(given) if isinstance(given, jtensor.Tensor) else given for given in (options.rtol, options.atol)]
    else:
        both = [_TOLERANCES.get(str(t.dtype)[6:], (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = (max(pair) for pair in zip(*both, strict=True))
    common = jtensor.promote_types(actual.dtype, expected.dtype)
    a, b = (_values(t, common) for t in (actual, expected))
    with np.errstate(all="ignore"):
        difference, size = np.abs(a - b), np.abs(b)
        close = (a == b) | (np.isfinite(difference) & (difference <= atol + rtol * size)) if common.is_floating_point or common.is_complex \
            else (a == b) | (difference <= atol + rtol * size)
        if options.equal_nan:
            close |= np.isnan(a) & np.isnan(b)
    if close.all():
        return None
    return AssertionError, _tensor_text(a, expected, difference, size, close, rtol, atol, common), path


def _sparse(actual, expected, options, path):
    """Compares the parts of two sparse tensors of one layout: how many elements, where, which."""
    name = actual.layout.name.removeprefix("sparse_").upper()
    if name == "COO" and actual.sparse_dim() != expected.sparse_dim():
        return AssertionError, (f"The number of sparse dimensions in sparse COO tensors does not match: {actual.sparse_dim()} != "
                                f"{expected.sparse_dim()}"), path
    if actual._nnz() != expected._nnz():
        return AssertionError, (f"The number of specified values in sparse {name} tensors does not match: {actual._nnz()} != "
                                f"{expected._nnz()}"), path
    exact = _Options(**{**vars(options), "rtol": 0.0, "atol": 0.0, "stride": False, "dtype": False})
    for (part, a), (_, b) in zip(actual._parts_shown(), expected._parts_shown(), strict=True):
        options.stride = False
        found = _tensors(a.detach(), b.detach(), options if part == "values" else exact, path)
        if found is not None:
            return found[0], found[1].replace("Tensor-likes", f"Sparse {name} {part}"), path


def _values(t, common):
    t = t.detach().cpu().resolve_conj().resolve_neg()
    if common in (jtensor.bfloat16, jtensor.float16):
        return t.to(jtensor.float32).numpy()
    if common is jtensor.bool or not (common.is_floating_point or common.is_complex):
        return t.to(jtensor.int64).numpy()
    return t.to(common).numpy()


def _tensor_text(actual, expected, difference, size, close, rtol, atol, common):
    equal = rtol == atol == 0
    if actual.ndim == 0:
        return _scalar_text(expected.item(), actual.item(), difference.item(), rtol, atol)
    wrong = close.size - np.count_nonzero(close)
    with np.errstate(all="ignore"):
        relative = difference / size
    if not common.is_complex:                       # as it is divided in PyTorch: integers become the default float
        kind = common if common.is_floating_point else jtensor.get_default_dtype()
        relative = relative.astype(kind.numpy).astype(np.float64)
    lines = [
        f"Tensor-likes are not {'equal' if equal else 'close'}!",
        "",
        f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})",
    ]
    for name, values, allowed in (("absolute", difference, atol), ("relative", relative, rtol)):
        values = np.where(close, 0, values)
        at = np.unravel_index(np.argmax(values), values.shape)
        lines.append(f"Greatest {name} difference: {values[at].item()} at index {tuple(int(i) for i in at)}"
                     + ("" if equal else f" (up to {allowed} allowed)"))
    return "\n".join(lines)


__all__ = ["assert_close"]
