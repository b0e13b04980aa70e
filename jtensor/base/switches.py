"""The environment variables ``JTENSOR_...``: what counts as on and off, how a size is written. May not know: what they are for.

What nobody can have meant is said once and counts as the default.
"""
import os

from . import sites

_ON, _OFF = frozenset(("1", "true", "yes", "on")), frozenset(("0", "false", "no", "off"))
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def is_on(name, default, environ=None):
    """Whether a switch is on: ``1``, ``true``, ``yes`` or ``on``; ``0``, ``false``, ``no`` or ``off``; empty or not there, the default.

    >>> is_on("JTENSOR_CACHE", True, {"JTENSOR_CACHE": "no"}), is_on("JTENSOR_CACHE", True, {})
    (False, True)
    """
    said = (os.environ if environ is None else environ).get(name, "").strip().lower()
    if said in _ON or said in _OFF:
        return said in _ON
    if said:
        _warn(f"{name}={said!r} is neither 1 nor 0: it counts as {int(default)}")
    return default


def bytes_of(name, default, environ=None):
    """A size in bytes: a whole number, also of KiB, MiB, GiB or TiB by the letters ``K``, ``M``, ``G`` and ``T``.

    >>> bytes_of("JTENSOR_CACHE_SIZE", 0, {"JTENSOR_CACHE_SIZE": "500M"})
    524288000
    """
    said = (os.environ if environ is None else environ).get(name, "").strip().lower()
    number = said.rstrip("b").rstrip("i").rstrip("kmgt")
    unit = said[len(number):].removesuffix("b").removesuffix("i")
    if number.isdecimal() and unit in _UNITS:
        return int(number) * _UNITS[unit]
    if said:
        _warn(f"{name}={said!r} is no number of bytes, such as 500M: it counts as {default}")
    return default


def _warn(text):
    sites.warn(f"jtensor: {text}", RuntimeWarning)
