"""The operators, one declaration each, a room for each family. Importing this package fills the registry."""
import importlib
import pkgutil


def load():
    """Imports every family."""
    for room in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{room}")
