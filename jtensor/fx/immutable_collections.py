"""Lists and dictionaries that cannot be changed: of these a node's arguments are made, so that nobody changes them unseen."""
from ..utils import _pytree as pytree

__all__ = ["immutable_list", "immutable_dict"]


def _refuse(self, *args, **kwargs):
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or args of a "
                    "torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
                    "    new_args = ...  # copy and mutate args\n    node.args = new_args")


class immutable_list(list):
    """A list that refuses to be changed with a ``TypeError``, and can be hashed where its elements can.

    >>> immutable_list([1, 2])
    [1, 2]
    """

    append = clear = extend = insert = pop = remove = reverse = sort = __delitem__ = __setitem__ = __iadd__ = __imul__ = _refuse

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return immutable_list, (tuple(self),)


class immutable_dict(dict):
    """A dictionary that refuses to be changed with a ``TypeError``, and can be hashed where its values can.

    >>> immutable_dict(a=1)["a"]
    1
    """

    clear = pop = popitem = setdefault = update = __delitem__ = __setitem__ = __ior__ = _refuse

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return immutable_dict, (dict(self),)


def _register(kind, flatten, flatten_with_keys):
    pytree.register_pytree_node(
        kind, flatten, lambda items, keys: kind(items if keys is None else zip(keys, items, strict=True)),
        flatten_with_keys_fn=flatten_with_keys, serialized_type_name=f"torch.fx.immutable_collections.{kind.__name__}")


_register(immutable_list, pytree._list_flatten, pytree._list_flatten_with_keys)
_register(immutable_dict, pytree._dict_flatten, pytree._dict_flatten_with_keys)
