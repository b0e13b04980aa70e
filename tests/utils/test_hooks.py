"""Handles of hooks."""
import pickle
from collections import OrderedDict

import pytest

from jtensor.utils.hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks


def test_removing():
    hooks, flags = OrderedDict(), OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=flags)
    hooks[handle.id], flags[handle.id] = print, True
    handle.remove()
    handle.remove()
    assert not hooks and not flags
    with RemovableHandle(hooks) as handle:
        hooks[handle.id] = print
    assert not hooks


def test_handles_do_not_keep_their_owner_alive():
    hooks = OrderedDict()
    handle = RemovableHandle(hooks)
    del hooks
    assert handle.hooks_dict_ref() is None
    handle.remove()
    assert pickle.loads(pickle.dumps(handle)).id == handle.id


def test_warning_before_hooks_are_lost():
    class Owner:
        _backward_hooks = OrderedDict(a=unserializable_hook(lambda g: g))

    warn_if_has_hooks(Owner)
    Owner._backward_hooks["b"] = print
    with pytest.warns(UserWarning, match="will not be serialized"):
        warn_if_has_hooks(Owner)
