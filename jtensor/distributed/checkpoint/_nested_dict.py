"""Nests of containers as flat dictionaries, and back. Owns: the names of leaves."""
from ._traverse import OBJ_PATH, set_element, traverse_state_dict, traverse_state_dict_v_2_3

FLATTEN_MAPPING = dict[str, OBJ_PATH]


def flatten_state_dict(state_dict, older=False):
    """({name: leaf}, {name: path}), where a name is its path with dots. ValueError for a name twice. ``older``: as up to version 2.3."""
    return flattened_by(traverse_state_dict_v_2_3 if older else traverse_state_dict, state_dict)


def flattened_by(traverse, nest):
    """The same of the leaves that ``traverse(nest, visitor)`` goes through."""
    flat, paths = {}, {}

    def visit(path, value):
        name = ".".join(map(str, path))
        if name in flat:
            raise ValueError(f"duplicated flatten key {name}")
        flat[name], paths[name] = value, path
    traverse(nest, visit)
    return flat, paths


def unflatten_state_dict(state_dict, mapping):
    """The nest of a flat dictionary by its paths."""
    nest = {}
    for name, value in state_dict.items():
        set_element(nest, mapping[name], value)
    return nest
