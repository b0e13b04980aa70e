"""`torch.fx`: programs as graphs that Python code can rewrite. None is made here, where what runs is recorded and becomes XLA's.

Libraries ask whether something is a graph or a module made of one; of these types there is no instance. Owns: their names.
"""
from ..base.errors import missing

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "symbolic_trace", "wrap"]


def _refused():
    return missing("graphs of programs (torch.fx)", "the function or module itself, which is recorded and compiled as it runs")


class _NotMade:
    """What there is no instance of without graphs."""

    def __init__(self, *args, **kwargs):
        raise _refused()


class Graph(_NotMade):
    """A program as a list of nodes. Making one raises ``NotImplementedError``."""


class Node(_NotMade):
    """One operation of a graph. Making one raises ``NotImplementedError``."""


class Proxy(_NotMade):
    """What stands for a value while a graph is made. Making one raises ``NotImplementedError``."""


class Tracer(_NotMade):
    """What makes graphs of modules. Making one raises ``NotImplementedError``."""


class Interpreter(_NotMade):
    """What runs a graph node by node. Making one raises ``NotImplementedError``."""


class Transformer(Interpreter):
    """What makes a graph of another one. Making one raises ``NotImplementedError``."""


def symbolic_trace(root, concrete_args=None):
    """Raises ``NotImplementedError``: there are no graphs."""
    raise _refused()


def wrap(fn_or_name):
    """Marks a function that tracing shall not look into: nothing is traced, so it answers what it is given."""
    return fn_or_name


def __getattr__(name):
    if name == "GraphModule":                                  # a class of modules; `nn` is loaded when it is asked for
        from ._graph_module import GraphModule
        return GraphModule
    raise AttributeError(f"module 'jtensor.fx' has no attribute '{name}'")
