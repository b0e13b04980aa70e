"""Dictionaries whose keys are known by identity and let die: tensors, of which `==` makes a tensor."""
import collections.abc
import weakref

from ..tensor.core import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakTensorKeyDictionary"]


class WeakIdKeyDictionary(collections.abc.MutableMapping):
    """A dictionary that knows its keys by identity. An entry goes when its key dies.

    >>> from jtensor.utils.weak import WeakIdKeyDictionary
    >>> key, seen = torch.ones(2), WeakIdKeyDictionary()
    >>> seen[key] = "once"
    >>> key in seen, torch.ones(2) in seen, len(seen)
    (True, False, 1)
    >>> del key
    >>> len(seen)
    0
    """

    def __init__(self, dict=None):
        self._held = {}                        # {the key's id: (a weak reference to it, the value)}
        if dict is not None:
            self.update(dict)

    def __setitem__(self, key, value):
        at, held = id(key), self._held

        def gone(reference):
            if at in held and held[at][0] is reference:
                del held[at]
        self._held[at] = weakref.ref(key, gone), value

    def __getitem__(self, key):
        try:
            return self._held[id(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __delitem__(self, key):
        try:
            del self._held[id(key)]
        except KeyError:
            raise KeyError(key) from None

    def __contains__(self, key):
        return id(key) in self._held

    def __len__(self):
        return len(self._held)

    def __iter__(self):
        for reference, _ in list(self._held.values()):
            key = reference()
            if key is not None:
                yield key

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: called, it answers the tensor, or None once that has died.

    >>> x = torch.ones(1)
    >>> reference = torch.utils.weak.TensorWeakRef(x)
    >>> reference() is x
    True
    """

    def __init__(self, tensor):
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()
