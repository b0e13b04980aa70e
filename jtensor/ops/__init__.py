"""Operators, one declaration each (`families/`), and what is worked out from a declaration for given inputs: a plan (`build`), what its
node saves (`saves`), the plan of its backward (`gradient`).

To users this is `torch.ops`: the operators of the libraries that they define, and PyTorch's own (`torch.ops.aten`), as attributes
(`library.spaces`, `library.aten`).
"""
import importlib

NAMESPACES = {}                 # {a library's name: what its operators are attributes of}


def __getattr__(name):
    if name in ("load_library", "loaded_libraries") and space_of is not None:
        return getattr(importlib.import_module("jtensor.library.loading"), name)
    if name.startswith("__") or space_of is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return space_of(name)


space_of = None                 # what gives the operators of a library: put here when the package has been put together
