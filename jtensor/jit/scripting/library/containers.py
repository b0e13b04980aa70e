"""Containers of modules. Owns: what they do in order, their lengths. May not know: how anything is compiled."""
import ast

from ..source import Source


class Sequential:
    """Modules one after the other."""

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


def complete(described, unit, kind):
    """Adds ``__len__`` and the like, which know how many modules there are."""
    names = list(described.modules)
    _add(described, unit, kind, f"def __len__(self) -> int:\n    return {len(names)}\n")
    if described.python.__name__ == "ModuleDict" or "keys" in dir(described.python):
        _add(described, unit, kind, f"def __contains__(self, key: str) -> bool:\n    return key in {names or '[str()]'}\n")


def _add(described, unit, kind, text):
    node = ast.parse(text).body[0]
    read = Source(None, node, text.splitlines(), 1, "<string>", {"int": int, "bool": bool, "str": str})
    made = unit.compiled_method(read, f"{described.name}.{node.name}", kind)
    described.methods.setdefault(node.name, made)
