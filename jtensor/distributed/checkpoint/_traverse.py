"""Nests of dictionaries and lists, leaf by leaf. Owns: what is a leaf, and how one is put back by its path."""
from collections.abc import Mapping

import jtensor

__all__ = ["get_element", "set_element", "traverse_state_dict"]

OBJ_PATH = tuple[str | int, ...]


def traverse_state_dict(state_dict, visitor, keep_traversing=lambda value: isinstance(value, jtensor.Tensor)):
    """Calls ``visitor(path, value)`` for each leaf: what is neither a dictionary nor a list, and a list without tensors in it. Keys of
    paths are texts, places in lists are numbers.
    """
    _visit(state_dict, visitor, _is_leaf(keep_traversing, False))


def traverse_state_dict_v_2_3(state_dict, visitor, keep_traversing=lambda value: isinstance(value, jtensor.Tensor)):
    """The same as up to version 2.3, when a dictionary without tensors in it was a leaf as well."""
    _visit(state_dict, visitor, _is_leaf(keep_traversing, True))


def _is_leaf(keep_traversing, dictionaries):
    def is_leaf(value):
        if isinstance(value, Mapping):
            if not dictionaries:
                return False
            entries = value.values()
        elif isinstance(value, list):
            entries = value
        else:
            return True
        return not any(isinstance(one, Mapping | list) and not is_leaf(one) or keep_traversing and keep_traversing(one) for one in entries)
    return is_leaf


def _visit(state_dict, visitor, is_leaf):
    def visit(path, value):
        if is_leaf(value):
            visitor(path, value)
            return
        named = isinstance(value, Mapping)
        for key, one in value.items() if named else enumerate(value):
            visit((*path, str(key) if named else key), one)
    for key, value in state_dict.items():
        visit((str(key),), value)


def set_element(root_dict, path, value):
    """Puts a leaf to its path, and makes the containers on the way that there are not."""
    place = root_dict
    for at, key in zip(path, path[1:], strict=False):
        made = {} if type(key) is str else []
        if isinstance(place, Mapping):
            place = place.setdefault(at, made)
            continue
        _lengthen(place, at)
        if place[at] is None:
            place[at] = made
        place = place[at]
    if type(path[-1]) is int:
        _lengthen(place, path[-1])
    place[path[-1]] = value


def _lengthen(values, at):
    values.extend([None] * (at + 1 - len(values)))


def get_element(root_dict, path, default_value=None):
    """What is at a path, or the default."""
    place = root_dict
    for part in path:
        known = isinstance(place, list) and len(place) > part if type(part) is int else isinstance(place, Mapping) and part in place
        if not known:
            return default_value
        place = place[part]
    return place
