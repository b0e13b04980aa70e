"""Mutable cells over immutable values. Mutation begins here; every room to the left of this one is pure."""
from .cell import Storage, VersionCounter

__all__ = ["Storage", "VersionCounter"]
