"""Fewer operations for the same result, while a network is not trained."""
import copy

from ...nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d
from ...nn.utils.fusion import fuse_conv_bn_eval
from .._symbolic_trace import symbolic_trace
from ..graph_module import GraphModule

__all__ = ["fuse", "matches_module_pattern", "remove_dropout", "replace_node_module"]

_PAIRS = ((Conv1d, BatchNorm1d), (Conv2d, BatchNorm2d), (Conv3d, BatchNorm3d))


def matches_module_pattern(pattern, node, modules):
    """Whether a node is a call of a module of the second type, of the result of a call of one of the first."""
    if not node.args:
        return False
    calls = node.args[0], node
    return all(getattr(call, "op", None) == "call_module" and type(modules.get(call.target)) is kind
               for kind, call in zip(pattern, calls, strict=True))


def replace_node_module(node, modules, new_module):
    """Puts another module where a node's is."""
    *path, last = node.target.split(".")
    modules[node.target] = new_module
    setattr(modules[".".join(path)], last, new_module)


def fuse(model, inplace=False, no_trace=False):
    """A `GraphModule` in which normalizations that follow a convolution are part of it. For networks in ``eval()`` mode.

    ``inplace``: the model's own modules are changed; ``no_trace``: it is one already.
    """
    traced = model if no_trace else symbolic_trace(model)
    if not inplace:
        traced = copy.deepcopy(traced)
    graph, modules = traced.graph, dict(traced.named_modules())
    for pair in _PAIRS:
        for node in graph.nodes:
            if not matches_module_pattern(pair, node, modules) or len(node.args[0].users) > 1:
                continue
            normalization = modules[node.target]
            if not normalization.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fuse_conv_bn_eval(modules[node.args[0].target], normalization))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model):
    """A `GraphModule` without calls of dropout modules."""
    from ...nn import Dropout
    traced = symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        if node.op == "call_module" and isinstance(modules[node.target], Dropout):
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    traced.recompile()
    return traced
