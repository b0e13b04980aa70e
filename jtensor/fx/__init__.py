"""`torch.fx`: programs as graphs that Python code can look at and rewrite.

A module or a function is run on proxies (`_symbolic_trace`, `proxy`), which write a `Graph` of `Node`s; a `GraphModule` runs the program
that is made of it again (`codegen`). It is PyTorch's interface, written in terms of the public one: what such a program does is recorded
and compiled as everything is. May not know: tapes.

>>> import jtensor as torch
>>> print(torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1).graph)
graph():
    %x : [num_users=1] = placeholder[target=x]
    %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
    %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})
    return add
"""
from . import (  # noqa: F401
    _pytree,
    _symbolic_trace,
    graph,
    graph_module,
    immutable_collections,
    interpreter,
    node,
    operator_schemas,
    proxy,
    subgraph_rewriter,
)
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap  # noqa: F401
from .graph import CodeGen, Graph  # noqa: F401
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = ["symbolic_trace", "Tracer", "wrap", "Graph", "GraphModule", "Interpreter", "Transformer", "Node", "Proxy", "replace_pattern",
           "has_side_effect", "map_arg"]
