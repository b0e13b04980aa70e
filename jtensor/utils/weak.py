"""Dictionaries whose keys are known by identity and let die: tensors, of which `==` makes a tensor."""
import collections.abc
import weakref

__all__ = ["WeakIdKeyDictionary", "WeakTensorKeyDictionary"]


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
