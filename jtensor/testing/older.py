"""What `torch.testing` had before `assert_close`. Owns: `assert_allclose`."""
import warnings

import jtensor

from .comparing import assert_close

_LOOSER = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """`assert_close` with looser tolerances, whatever the dtypes and devices; out of date, and says so.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.testing.assert_allclose(torch.ones(2), [1.0, 1.00001])
    """
    warnings.warn("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use "
                  "`torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
                  "https://github.com/pytorch/pytorch/issues/61844.", FutureWarning, stacklevel=2)
    actual = actual if isinstance(actual, jtensor.Tensor) else jtensor.tensor(actual)
    expected = expected if isinstance(expected, jtensor.Tensor) else jtensor.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        found = [_LOOSER.get(one.dtype.name, (0.0, 0.0)) for one in (actual, expected)]
        rtol, atol = (max(pair) for pair in zip(*found, strict=True))
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False,
                 msg=msg or None)


__all__ = ["assert_allclose"]
