"""One graph as several modules that call each other."""
import operator

from ..graph import Graph
from ..graph_module import GraphModule
from ..node import map_arg

__all__ = ["Partition", "split_module"]


class Partition:
    """A part of a graph: its nodes, what it takes and what it gives, by name."""

    def __init__(self, name):
        self.name, self.submod_name = name, f"submod_{name}"
        self.node_names, self.inputs, self.outputs, self.graph, self.environment, self.targets = [], {}, {}, Graph(), {}, {}
        self.depends = {}

    def __repr__(self):
        return (f"name: {self.name},\n nodes: {self.node_names},\n inputs: {list(self.inputs)},\n outputs: {list(self.outputs)},\n "
                f"partitions depended on: {list(self.depends)}")


def split_module(m, root_m, split_callback, qualname_map=None, keep_original_order=False, keep_original_node_name=False,
                 keep_original_input_name=True):
    """A `GraphModule` of submodules ``submod_0``, ``submod_1``, ...: one for each answer of ``split_callback(node)``.

    ``m``: the module whose graph is split; ``root_m``: the module that has its parameters and modules. ``RuntimeError`` where parts need
    each other in a circle.

    Source: https://docs.pytorch.org/docs/stable/fx.html
    """
    parts, home = {}, {}
    for node in m.graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            name = str(split_callback(node))
            home[node] = parts.setdefault(name, Partition(name))
            home[node].node_names.append(node.name)
    for node in m.graph.nodes:
        if node.op == "output":
            for used in node.all_input_nodes:
                if used in home:
                    home[used].outputs.setdefault(used.name, used)
            continue
        if node not in home:
            continue
        for used in node.all_input_nodes:
            source = home.get(used)
            if source is home[node]:
                continue
            home[node].inputs.setdefault(used.name, used)
            if source is not None:
                source.outputs.setdefault(used.name, used)
                home[node].depends.setdefault(source.name)
    ordered = _in_order(parts)
    for part in ordered:
        for used in part.inputs.values():
            part.environment[used] = part.graph.placeholder(used.name, type_expr=used.type)
    for node in m.graph.nodes:
        if node in home:
            _put(node, home[node])
    whole, values, attributes = Graph(), {}, {}
    for node in m.graph.nodes:
        if node.op == "placeholder":
            values[node] = whole.placeholder(node.target, node.type, *node.args[:1])
            values[node].meta = node.meta.copy()
        elif node.op == "get_attr":
            values[node] = whole.get_attr(node.target)
            attributes[node.target] = operator.attrgetter(node.target)(root_m)
    for part in ordered:
        given = tuple(part.environment[node] for node in part.outputs.values())
        part.graph.output(given[0] if len(given) == 1 else given)
        attributes[part.submod_name] = GraphModule(part.targets, part.graph)
        called = whole.call_module(part.submod_name, tuple(values[node] for node in part.inputs.values()))
        for at, node in enumerate(part.outputs.values()):
            values[node] = called if len(given) == 1 else whole.call_function(operator.getitem, (called, at))
    for node in m.graph.nodes:
        if node.op == "output":
            whole.output(map_arg(node.args[0], lambda used: values[used]), node.type)
    return GraphModule(attributes, whole)


def _in_order(parts):
    done, waiting = [], list(parts.values())
    while waiting:
        ready = next((part for part in waiting if all(name in {p.name for p in done} for name in part.depends)), None)
        if ready is None:
            raise RuntimeError("cycle exists between partitions!")
        done.append(ready)
        waiting.remove(ready)
    return done


def _put(node, part):
    args, kwargs = (map_arg(given, lambda used: part.environment[used]) for given in (node.args, node.kwargs))
    target = node.target
    if node.op == "call_module":
        target = node.target.replace(".", "_")
        part.targets[target] = operator.attrgetter(node.target)(node.graph.owning_module)
    made = part.graph.create_node(node.op, target, args, kwargs, node.name if node.op != "call_module" else None, node.type)
    made.meta = node.meta.copy()
    part.environment[node] = made
