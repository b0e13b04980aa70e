"""Pictures of graphs: `FxGraphDrawer`, which is missing, with PyTorch's error where the package pydot is, too."""
import importlib.util

from ...base.errors import missing

__all__ = ["FxGraphDrawer"]


class FxGraphDrawer:
    """Pictures of a module's graph. There is no instance: RuntimeError without pydot, as in PyTorch, and `MissingFeature` with it."""

    def __init__(self, graph_module, name, *args, **kwargs):
        if importlib.util.find_spec("pydot") is None:
            raise RuntimeError("FXGraphDrawer requires the pydot package to be installed. Please install pydot through your favorite "
                               "Python package manager.")
        raise missing("pictures of graphs (FxGraphDrawer)", "print(graph_module.graph), graph_module.print_readable()")
