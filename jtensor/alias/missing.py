"""Errors for names that jtensor does not have, asked for under the name it stands in for.

Owns: the texts. May not know: tensors. The first line is Python's own, since people and programs search for it; below it
stands who is really answering, and the closest names that do exist: to find these takes some milliseconds, which a program that only
asks whether a name is there (``hasattr``) need not wait for. So they are looked for as somebody reads the text.
"""

import difflib
import sys
from types import ModuleType


class Text(str):
    """The first line, as an exception's argument; shown with the lines below it, which ``more()`` gives.

    >>> error = AttributeError(Text("no attribute", lambda: ", but another"))
    >>> error.args[0], str(error)
    ('no attribute', 'no attribute, but another')
    """

    def __new__(cls, first, more):
        made = super().__new__(cls, first)
        made.more = more
        return made

    def __str__(self):
        return str.__str__(self) + self.more()

    def __reduce__(self):
        return str, (str(self),)


def attribute_error(names, module, alias, attr):
    """For ``torch.nn.Foo``: the AttributeError that module `__getattr__` raises."""
    text = Text(f"module '{alias}' has no attribute '{attr}'", lambda: explain(names, alias, attr))
    return AttributeError(text, name=attr, obj=module)


def import_error(names, module, alias, attr):
    """For ``from torch.nn import Foo``."""
    path = getattr(module, "__file__", None)
    text = Text(f"cannot import name '{attr}' from '{alias}' ({path or 'unknown location'})", lambda: explain(names, alias, attr))
    return ImportError(text, name=alias, path=path)


def module_error(names, fullname):
    """For ``import torch.foo``."""
    parent, _, attr = fullname.rpartition(".")
    text = Text(f"No module named '{fullname}'",
                lambda: f"\n{who(names, f'a module {fullname}')}{_closest(closest(names, parent, attr))}")
    return ModuleNotFoundError(text, name=fullname)


def instance_note(names, error):
    """A line for an AttributeError about an object of ours, ``x.foo``; None where it is about anything else."""
    kind = type(getattr(error, "obj", None))
    home = kind.__module__.partition(".")[0]
    if home not in (names.target, names.name) or not error.name or kind is ModuleType:
        return None
    close = [f".{one}" for one in difflib.get_close_matches(error.name, public(kind), n=3)]
    return who(names, f"{kind.__name__}.{error.name}") + _closest(close)


def explain(names, alias, attr):
    """The lines below the first: who answers, and what comes closest."""
    return f"\n{who(names, f'{alias}.{attr}')}{_closest(closest(names, alias, attr))}"


def who(names, what):
    return f"jtensor, which stands in for {names.name} in this process (`python -m {names.target}`), does not have {what}."


def _closest(found):
    return f" Closest names that it has: {', '.join(found)}." if found else ""


def closest(names, alias, attr, count=3):
    """Full names like `attr`: the same word elsewhere first, then similar words in the same module."""
    found = [f"{other}.{attr}" for other, module in sorted(names.adopted.items()) if other != alias and attr in public(module)]
    here = names.adopted.get(alias)
    if here is not None:
        found += [f"{alias}.{one}" for one in difflib.get_close_matches(attr, public(here), n=count)]
    return [one for one in dict.fromkeys(found) if one != f"{alias}.{attr}"][:count]


def public(holder):
    """Names of a module or class that a user may use."""
    listed = vars(holder).get("__all__") if isinstance(holder, ModuleType) else None
    return [one for one in (listed or dir(holder)) if not one.startswith("_")]


def by_import_statement(depth):
    """Whether the frame `depth` levels above the caller is in the middle of ``from x import y``.

    That statement drops an AttributeError and writes a text of its own, but lets an ImportError through.
    """
    import dis

    frame = sys._getframe(depth + 1)
    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]
