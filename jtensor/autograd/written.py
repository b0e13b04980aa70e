"""Nodes whose gradients are written with tensors, by the rooms of classes that have no memory of their own (sparse and nested tensors).

Owns: the check of what such a node has kept. May not know: which operation it is of.
"""
from . import saved as saving
from .graph import SECOND_TIME, Node


class Written(Node):
    """A node whose gradients are functions of tensors. ``pull``: gradients of the inputs, given those of the results; ``kept``: the tensors
    that it reads, with the versions they had."""

    __slots__ = ("pull", "kept")

    def apply(self, grads):
        if self.pull is None:
            raise RuntimeError(SECOND_TIME)
        for tensor, version in self.kept:
            if tensor._counter.version != version:
                raise saving.modified(tensor._counter, version, tensor._spec, saving.edge_now(tensor), None)
        return list(self.pull(*grads))

    def release(self):
        if self.kept:
            self.pull, self.kept = None, ()
