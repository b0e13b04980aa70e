"""The package's own source: its files, and digests of them.

Owns: which files these are. May not know: what a digest is for.
"""
import hashlib
import os
import sys
from typing import NamedTuple

_DIGEST = 16


class Source(NamedTuple):
    """A file of the package: its ``name`` in it, its ``path``, and what the system says of it."""

    name: str
    path: str
    seen: os.stat_result


def root():
    """The package's folder, wherever in it this room may lie.

    >>> os.path.basename(root())
    'jtensor'
    """
    return os.path.dirname(os.path.abspath(sys.modules[__name__.partition(".")[0]].__file__))


def files():
    """The package's sources, in an order of their own."""
    found, above = [], root()
    folders = [above]
    while folders:
        with os.scandir(folders.pop()) as listing:
            for entry in listing:
                if entry.name.endswith(".py"):
                    found.append(Source(entry.path[len(above):], entry.path, entry.stat()))
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return sorted(found, key=lambda file: file.name)


def mark(sources):
    """A digest of what the system says of files: a write to one changes a date that nobody can set back."""
    seen = "\n".join([f"{path} {now.st_ino} {now.st_size} {now.st_mtime_ns} {now.st_ctime_ns}" for _, path, now in sources])
    return hashlib.blake2b(seen.encode(), digest_size=_DIGEST).digest()


def digest(sources):
    """A digest of what stands in files, and of their names."""
    made = hashlib.blake2b(digest_size=_DIGEST)
    for name, path, _ in sources:
        made.update(name.encode() + b"\0")
        with open(path, "rb") as file:
            made.update(file.read())
    return made.digest()
