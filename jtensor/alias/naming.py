"""What a module shows about itself while it goes by another name.

Owns: the visible side of an aliased module: the version, the modules that classes say they come from, and the hook that
answers for absent names. May not know: tensors; which names PyTorch has.

PyTorch's scripts print `type(x)` and read `torch.__version__`, and its saved files name its classes. So a class that
users reach as `torch.nn.Linear` says that it comes from the module of that path (`torch.nn.modules.linear`), which the
finder can import again: pickles made under the alias load under the alias.
"""

import sys
from types import FunctionType, ModuleType

from . import helpers, metadata, missing

# Rooms of the library that have no counterpart in PyTorch. `torch.tensor` and `torch.trace` are functions there, and
# importing the room of that name through the alias would bind the package's attribute to the room.
HOUSE_ROOMS = frozenset({"alias", "base", "ops", "tensor", "trace", "views"})

PYTORCH = "torch"


class Names:
    """The modules of `target` that go by the name of `name` so far, and what is done to each of them once."""

    def __init__(self, target, name):
        self.target = target
        self.name = name
        self.adopted = {}

    def adopt(self, module, alias):
        """Take in `module`, known as `alias` from now on, and every public module of the target within reach of it."""
        if alias in self.adopted or module is self.adopted.get(self.name) or not self._ours(module):
            return
        self.adopted[alias] = module
        sys.modules.setdefault(alias, module)           # where `inspect` and `typing` look for the module that a class names
        if alias == self.name:
            self._dress_root(module)
        self._hook(module, alias)
        self._rename_classes(module, alias)
        for attr, value in list(vars(module).items()):
            if isinstance(value, FunctionType):         # `autograd.gradcheck` stays the function when the room of that name is imported
                value = sys.modules.get(f"{module.__name__}.{attr}")
            if isinstance(value, ModuleType) and not attr.startswith("_") and value.__name__ == f"{module.__name__}.{attr}":
                self.adopt(value, f"{alias}.{attr}")
        if alias == PYTORCH:                    # libraries ask for it; other names that the root may get are of tests, and are several
            module.__name__ = alias

    def _ours(self, module):
        if module is sys.modules.get(self.target):
            return True
        parts = module.__name__.split(".")
        return parts[0] == self.target and (len(parts) == 1 or parts[1] not in HOUSE_ROOMS)

    def _dress_root(self, module):
        module.__version__ = metadata.TorchVersion(metadata.VERSION)
        if not hasattr(module, "version"):
            module.version = metadata
            sys.modules.setdefault(f"{self.name}.version", metadata)

    def _hook(self, module, alias):
        """Answer for absent attributes, after the module's own `__getattr__` if it has one."""
        own = vars(module).get("__getattr__")

        def __getattr__(attr):
            if own is not None:
                try:
                    value = own(attr)
                except AttributeError:
                    pass
                else:
                    if isinstance(value, ModuleType):
                        self.adopt(value, f"{alias}.{attr}")
                    return value
            if attr.startswith("__"):  # Python's own probing: `__path__`, `__wrapped__`, ...
                raise AttributeError(f"module '{alias}' has no attribute '{attr}'", name=attr, obj=module)
            if helpers.has(alias.partition(".")[2], attr):
                return helpers.get(self.target, alias.partition(".")[2], attr)
            make = missing.import_error if missing.by_import_statement(depth=1) else missing.attribute_error
            raise make(self, module, alias, attr) from None

        module.__getattr__ = __getattr__

    def _rename_classes(self, module, alias):
        for attr, value in vars(module).items():
            if not isinstance(value, type) or attr.startswith("_") or not value.__module__.startswith(self.target + "."):
                continue
            home = sys.modules.get(value.__module__)
            if home is None or getattr(home, value.__name__, None) is not value:
                continue  # not to be found where it says it is: nothing to keep working
            if self._ours(home):
                _place(value, self.name + home.__name__[len(self.target) :])
            elif getattr(module, value.__name__, None) is value:
                _place(value, alias)  # a room without a counterpart: the place where users meet the class


def _place(cls, module):
    """Has a class say that it comes from a module. Python 3.13 forgets the line of its source then, and with it `inspect.getsource`."""
    line = vars(cls).get("__firstlineno__")
    cls.__module__ = module
    if line is not None:
        cls.__firstlineno__ = line
