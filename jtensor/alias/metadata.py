"""The version that jtensor answers with while it stands in for PyTorch; importable as `torch.version`.

Owns: the version text in its three forms (`torch.__version__`, `torch.version`, `importlib.metadata`). May not know:
tensors. The number is that of the PyTorch release whose behaviour jtensor follows; the local part says who is answering.
"""

import re
from importlib.metadata import Distribution

__all__ = ["VERSION", "TorchVersion", "__version__", "cuda", "debug", "git_version", "hip", "xpu"]

VERSION = "2.13.0+jtensor"

_PARSE = re.compile(
    r"\s*v?(\d+(?:\.\d+)*)[._-]?(?:(a|b|c|rc|alpha|beta|pre|preview|dev)[._-]?(\d*))?(?:[._-]?post(\d+))?(?:\+([\w.]+))?\s*"
)
_STAGES = {"dev": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "c": 3, "rc": 3, "pre": 3, "preview": 3, None: 4}


def _key(value):
    """What versions are ordered by, or None for a text that is no version."""
    if isinstance(value, (tuple, list)):
        value = ".".join(map(str, value))
    if not isinstance(value, str):
        return NotImplemented
    found = _PARSE.fullmatch(value)
    if found is None:
        return None
    numbers, stage, serial, post, local = found.groups()
    release = [int(part) for part in numbers.split(".")]
    while release and release[-1] == 0:  # 2.13 and 2.13.0 are one version
        release.pop()
    return release, _STAGES[stage], int(serial or 0), int(post or -1), local or ""


class TorchVersion(str):
    """A version that is text, and compares as a version: with other texts and with tuples.

    >>> TorchVersion("2.13.0") >= "2.5", TorchVersion("2.13.0") >= (2, 14)
    (True, False)
    """

    __slots__ = ()
    __module__ = "torch.torch_version"  # the module that the alias makes of this room
    __hash__ = str.__hash__

    def _compare(self, other, name):
        mine, theirs = _key(self), _key(other)
        if theirs is NotImplemented:
            return NotImplemented
        if mine is None or theirs is None:  # not versions: texts
            return getattr(str(self), name)(other)
        return getattr(mine, name)(theirs)


def _comparison(name):
    def method(self, other):
        return self._compare(other, name)

    method.__name__ = name
    return method


for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__"):  # `!=` compares texts in PyTorch too
    setattr(TorchVersion, _name, _comparison(_name))


__version__ = TorchVersion(VERSION)
cuda = None  # jtensor reaches a GPU through JAX, not through a build of its own for one release of CUDA
hip = None
xpu = None
debug = False
git_version = "unknown"


class AliasDistribution(Distribution):
    """What `importlib.metadata` finds under the name: a version, and no files."""

    def __init__(self, name):
        self._called = name

    def read_text(self, filename):
        if filename != "METADATA":
            return None
        return (
            f"Metadata-Version: 2.1\nName: {self._called}\nVersion: {VERSION}\n"
            f"Summary: jtensor, standing in for {self._called} in this process\n"
        )

    def locate_file(self, path):
        raise FileNotFoundError(f"{self._called} is jtensor in this process: it has no file {path} of its own")


def distributions(name, wanted):
    """The distributions called `wanted`, or all where that is None; one at most."""
    plain = None if wanted is None else re.sub(r"[-_.]+", "-", wanted).lower()
    return [AliasDistribution(name)] if plain in (None, name.lower()) else []
