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
        """A method that takes other arguments than the function of its name has an entry of its own, after the function's."""
        name = composite.name
        other = self.composites.get(name)
        if other is not None and not other.method and not composite.function:
            name = f"Tensor.{name}"
        if name in self.composites:
            raise ValueError(f"two composites are called {name}")
        self.composites[name] = composite


REGISTRY = Registry()


class Composite:
    """A public function made of operators: ``body(*args)`` of tensors; ``method``/``function``: where it is installed; ``asked``,
    ``one_list``: below."""

    __slots__ = ("body", "name", "function", "method", "aliases", "asked", "one_list")

    def __init__(self, body, name, function, method, aliases, asked, one_list):
        self.body, self.name, self.function, self.method, self.aliases = body, name, function, method, aliases
        self.asked, self.one_list = asked, one_list


def composite(name=None, *, function=True, method=True, aliases=(), asked=False, one_list=False):
    """Registers a Python function over tensors as ``torch.<name>`` and ``Tensor.<name>`` (its first parameter is the tensor).

    With ``asked``, arguments of classes that were not seen before are asked about before the call, which costs each call 0.2 µs: for bodies
    that make something new only now and then (``if upper``), and so would take what PyTorch refuses. With ``one_list``, numbers that the
    method takes one by one come to the function in one argument.
    """
    def declare(body):
        REGISTRY.add_composite(Composite(body, name or body.__name__, function, method, tuple(aliases), asked, one_list))
        return body
    return declare
