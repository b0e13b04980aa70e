"""Whether a value is of a type of TorchScript, where a program or a call asks.

Owns: that. May not know: programs.
"""
import ast
import functools

from ..tensor.core import Tensor

_KINDS = {"int": int, "float": float, "bool": bool, "str": str, "complex": complex, "Tensor": Tensor, "NoneType": type(None),
          "number": (int, float, complex)}
_CONTAINERS = {"List": list, "Dict": dict, "Tuple": tuple}


def is_of(x, kind):
    """Whether a value is of a type, given as its text; contents are looked at.

    >>> is_of([1, 2], "List[int]"), is_of(None, "Optional[float]"), is_of(("a", 1.0), "Tuple[str, int]")
    (True, True, False)
    """
    return isinstance(x, Tensor) if kind == "Tensor" else _is_of(x, _parsed(kind))


@functools.lru_cache(1024)
def _parsed(kind):
    return ast.parse(kind, mode="eval").body


def _is_of(x, node):
    if isinstance(node, ast.Constant) and node.value is None:
        return x is None
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(_is_of(x, one) for one in node.elts)
    if isinstance(node, ast.Name):
        if node.id in ("Any", "t"):
            return True
        found = _KINDS.get(node.id, _CONTAINERS.get(node.id))
        if found is None:
            return True                                          # a kind of object that is not told apart here (Device, Generator)
        return isinstance(x, found) and not (found is int and isinstance(x, bool))
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        name = node.value.id
        if name == "Optional":
            return x is None or _is_of(x, inner[0])
        if name in ("Union", "Final", "Future", "Await"):
            return any(_is_of(x, one) for one in inner)
        if name not in _CONTAINERS or not isinstance(x, _CONTAINERS[name]):
            return False
        if name == "List":
            return all(_is_of(one, inner[0]) for one in x)
        if name == "Dict":
            return all(_is_of(key, inner[0]) and _is_of(value, inner[1]) for key, value in x.items())
        return len(x) == len(inner) and all(map(_is_of, x, inner))
    text = ast.unparse(node)
    kind = getattr(getattr(x, "_kind", None), "name", None)
    return kind == text if kind is not None else True
