"""Dictionaries whose keys are known by identity and let die: tensors, of which `==` makes a tensor."""
import collections.abc
import copy
import weakref

from ..tensor.core import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that equals another one to the same object, whatever `==` of the objects makes.

    >>> x = torch.ones(2)
    >>> torch.utils.weak.WeakIdRef(x) == torch.utils.weak.WeakIdRef(x), x in {torch.utils.weak.WeakIdRef(x): 1}
    (True, False)
    """

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        self._id = id(key)                     # also once the object is dead
        super().__init__(key, callback)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, theirs = self(), other()
        return mine is theirs if mine is not None and theirs is not None else self is other


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
        self._held[at] = WeakIdRef(key, gone), value

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

    def __eq__(self, other):
        if not isinstance(other, collections.abc.Mapping):
            return NotImplemented
        return {id(key): value for key, value in self.items()} == {id(key): value for key, value in other.items()}

    def __or__(self, other):
        return self._joined(self, other) if isinstance(other, collections.abc.Mapping) else NotImplemented

    def __ror__(self, other):
        return self._joined(other, self) if isinstance(other, collections.abc.Mapping) else NotImplemented

    def __ior__(self, other):
        self.update(other)
        return self

    def _joined(self, *both):
        made = type(self)()
        for one in both:
            made.update(one)
        return made

    def copy(self):
        """Another dictionary of the same keys and values."""
        return self._joined(self)

    __copy__ = copy

    def __deepcopy__(self, memo):
        """The same keys, with copies of the values."""
        return type(self)([(key, copy.deepcopy(value, memo)) for key, value in self.items()])

    def popitem(self):
        """Takes out the last entry whose key lives: (key, value)."""
        while True:
            _, (reference, value) = self._held.popitem()
            key = reference()
            if key is not None:
                return key, value

    def keyrefs(self):
        """The weak references to the keys."""
        return [reference for reference, _ in self._held.values()]


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
