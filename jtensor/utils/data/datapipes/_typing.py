"""The metaclasses of pipes. That of streams has the methods of a class wrapped as the class is made.

PyTorch once checked pipes against the types they were written with (``IterDataPipe[int]``); 2.13 takes the types and checks nothing.
"""
import abc

from ._hook_iterator import surround


class _DataPipeMeta(abc.ABCMeta):
    """Of all pipes."""


class _IterDataPipeMeta(_DataPipeMeta):
    """Of streams."""

    def __new__(meta, name, bases, namespace, **options):
        surround(namespace)
        return super().__new__(meta, name, bases, namespace, **options)
