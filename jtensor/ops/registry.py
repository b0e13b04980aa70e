"""The one table of operators and composites, filled by the families' declarations and read by whoever derives something from them.

Owns: names. An operator (`@op`) has its own node in the autograd graph; a composite (`@composite`) is a Python function of the public
tensor API that is installed as a function and/or a method. May not know: tensors.
"""


class Registry:
    """``operators`` and ``composites`` by name, in the order of declaration."""

    def __init__(self):
        self.operators, self.composites = {}, {}

    def add(self, operator):
        if operator.name in self.operators:
            raise ValueError(f"two operators are called {operator.name}")
        self.operators[operator.name] = operator

    def add_composite(self, composite):
        if composite.name in self.composites:
            raise ValueError(f"two composites are called {composite.name}")
        self.composites[composite.name] = composite


REGISTRY = Registry()


class Composite:
    """A public function made of operators: ``body(*args)`` of tensors; ``method``/``function``: where it is installed."""

    __slots__ = ("body", "name", "function", "method", "aliases")

    def __init__(self, body, name, function, method, aliases):
        self.body, self.name, self.function, self.method, self.aliases = body, name, function, method, aliases


def composite(name=None, *, function=True, method=True, aliases=()):
    """Registers a Python function over tensors as ``torch.<name>`` and ``Tensor.<name>`` (its first parameter is the tensor)."""
    def declare(body):
        REGISTRY.add_composite(Composite(body, name or body.__name__, function, method, tuple(aliases)))
        return body
    return declare
