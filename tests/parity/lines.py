"""One line of statements under PyTorch and under jtensor: the text of its last expression, or the error, and the warnings are compared.

``torch`` is the library, ``p`` one of its modules; addresses and the package's name are left out of what is compared.
"""
import importlib
import re
import warnings

import jtensor
from jtensor.tensor.memory import storage_types

ADDRESS = re.compile("0x[0-9a-f]+")


def answer(name, line, module="", **space):
    """What a line gives, or raises, and what it warns of."""
    T = importlib.import_module(name)
    if name == "torch":                     # both warn of this once in a process: whichever test comes first would get it
        T.storage._warn_typed_storage_removal.__dict__.pop("has_warned", None)
    else:
        storage_types._SAID.clear()
    given = {**space, "torch": T, "p": importlib.import_module(name + module), "__name__": "here"}
    *before, last = [part.strip() for part in line.split(";")]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            for part in before:
                exec(part, given)
            text = repr(eval(last, given))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
    return _plain(text), [(one.category.__name__, _plain(str(one.message))) for one in seen if one.category is not ResourceWarning]


def _plain(text):
    return ADDRESS.sub("", text).replace("jtensor.", "torch.")


def alike(line, module="", **space):
    """Asserts that a line comes out as under PyTorch, which the caller has made sure of."""
    want = answer("torch", line, module, **space)
    assert answer(jtensor.__name__, line, module, **space) == want


def listed(text):
    """The lines of a text."""
    return [line.strip() for line in text.strip().splitlines() if line.strip()]
