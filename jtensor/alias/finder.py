"""The import system's side of the alias: `import torch.nn` gives the very module object `jtensor.nn`.

Owns: the meta-path finder and `install`. May not know: tensors, or what the aliased modules hold.

A finder answers with a spec whose loader puts the target's module into `sys.modules` in place of the fresh one that the
import system prepared. That is the documented way for a module to replace itself, and it leaves the target's own
`__spec__`, `__loader__` and `__name__` alone, so that relative imports inside it go on working.
"""

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder

from . import children, metadata, missing, naming
from .naming import HOUSE_ROOMS

# Modules that exist only because scripts ask the alias for them.
OWN_MODULES = {"version": "metadata", "torch_version": "metadata"}


class AliasLoader:
    """Loads `spec.name` by handing out another module that exists already or is imported now."""

    def __init__(self, finder, source):
        self.finder = finder
        self.source = source

    def create_module(self, spec):
        """Leave it to Python: the module made here is replaced in `exec_module`."""
        return None

    def exec_module(self, module):
        alias = module.__name__
        real = importlib.import_module(self.source)
        self.finder.names.adopt(real, alias)
        sys.modules[alias] = real

    def get_code(self, alias):
        """The code behind the module, for `-m torch.something`."""
        return importlib.util.find_spec(self.source).loader.get_code(self.source)


class FollowingLoader:
    """Loads a module of the target under its own name, by its own loader, and takes it in: the library imports its parts when they are
    needed, and ``from torch.nn.utils import prune`` asks for the part of `jtensor.nn.utils`, since that is the module's name."""

    def __init__(self, loader, names, alias):
        self.loader, self.names, self.alias = loader, names, alias

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.names.adopt(module, self.alias)


class AliasFinder:
    """Answers every import at or below `name` with the module of the same path at or below `target`."""

    def __init__(self, target, name):
        self.target = target
        self.name = name
        self.names = naming.Names(target, name)

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith(self.target + "."):
            return self._followed(fullname, path)
        if fullname != self.name and not fullname.startswith(self.name + "."):
            return None
        source = self.source_of(fullname)
        if source is None:
            # Without a spec no other finder has one either, since the library's folder has no such file; a rejected house
            # room has, so for those the search must end here. Asking without importing gets its answer, not an error.
            if self._importing() or fullname.split(".")[1] in HOUSE_ROOMS:
                raise missing.module_error(self.names, fullname)
            return None
        spec = importlib.util.find_spec(source)
        alias = ModuleSpec(fullname, AliasLoader(self, source), origin=spec.origin, is_package=spec.submodule_search_locations is not None)
        if alias.submodule_search_locations is not None:
            alias.submodule_search_locations.extend(spec.submodule_search_locations)
        return alias

    def _followed(self, fullname, path):
        """The spec of a public part of a module that goes by the alias."""
        alias = self.name + fullname[len(self.target):]
        parent, _, leaf = alias.rpartition(".")
        if leaf.startswith("_") or parent not in self.names.adopted:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = FollowingLoader(spec.loader, self.names, alias)
        return spec

    def source_of(self, fullname):
        """The full name of the module that `fullname` stands for, or None where there is none."""
        tail = fullname[len(self.name) + 1 :]
        if not tail:
            return self.target
        if tail in OWN_MODULES:
            return f"{__package__}.{OWN_MODULES[tail]}"
        if tail.split(".")[0] in HOUSE_ROOMS:
            return None
        source = f"{self.target}.{tail}"
        try:
            return source if importlib.util.find_spec(source) is not None else None
        except ModuleNotFoundError:  # a parent of it is not there, or is no package
            return None

    @staticmethod
    def _importing():
        """Whether an import statement asks, and not `importlib.util.find_spec`, which must be told None."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_name in ("find_spec", "_find_spec"):
            if "importlib" in frame.f_code.co_filename and "util" in frame.f_code.co_filename:
                return False
            frame = frame.f_back
        return frame is not None and frame.f_code.co_name in ("_find_and_load_unlocked", "_find_and_load")

    def find_distributions(self, context):
        """`importlib.metadata` asks the finders too: the distribution called `name` is here."""
        return metadata.distributions(self.name, getattr(context, "name", None))


def install(target=None, name="torch"):
    """Make ``import torch`` and everything below it mean jtensor, for the rest of this process.

    Args:
        target: the package to hand out; the one this room belongs to unless given.
        name: the name it is imported by.

    Raises:
        ImportError: `name` is imported already and is something else; both cannot go by one name in one process.

    >>> import jtensor.alias
    >>> jtensor.alias.install(name="pretend_torch")   # doctest: +ELLIPSIS
    <jtensor.alias.finder.AliasFinder object at 0x...>
    >>> import pretend_torch.nn as nn, jtensor.nn
    >>> nn is jtensor.nn
    True
    """
    target = target or __name__.partition(".")[0]
    for finder in sys.meta_path:
        if isinstance(finder, AliasFinder) and finder.name == name:
            if finder.target == target:
                return finder
            raise ImportError(f"{name} stands for {finder.target} already", name=name)
    if name in sys.modules:
        where = getattr(sys.modules[name], "__file__", None) or "no file"
        raise ImportError(f"{name} is imported already (from {where}); install the alias before the first `import {name}`", name=name)
    finder = AliasFinder(target, name)
    sys.meta_path.insert(0, finder)
    children.follow(target, name)
    return finder
