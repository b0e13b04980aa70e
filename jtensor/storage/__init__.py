"""Mutable cells over immutable values. Mutation begins here; every room to the left of this one is pure."""
from .cell import Storage as Storage
from .cell import VersionCounter as VersionCounter

__all__ = ["TypedStorage", "UntypedStorage"]                       # PyTorch's, which the namespace puts in
