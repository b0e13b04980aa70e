"""Finding a pattern in a graph and putting something else in its place.

Owns: what matches (`_Matching`), which matches may be replaced, the replacement. May not know: what the operations mean.
"""
import copy
import operator
import typing

from ..nn import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph, reaches
from .graph_module import GraphModule, assign
from .node import Node

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(typing.NamedTuple):
    """Where a pattern was found: the last node of the pattern, and {a node of the pattern: the one that matched}."""

    anchor: Node
    nodes_map: dict


class ReplacedPatterns(typing.NamedTuple):
    """A `Match`, and the nodes that were put in its place."""

    anchor: Node
    nodes_map: dict
    replacements: list


class _Matching:
    """One try to find a pattern. ``places``: {a node of the pattern: the one that matched}."""

    def __init__(self, modules, ignore_literals):
        self.places, self.modules, self.ignore_literals = {}, modules, ignore_literals

    def node(self, pattern, node):
        known = self.places.get(pattern)
        if known is not None:
            return known is node
        if isinstance(node, Node) and node in self.places.values():         # two names of a pattern are two nodes, its arguments too
            return False
        if pattern.op == "placeholder":
            self.places[pattern] = node
            return True
        if not isinstance(node, Node) or pattern.op != node.op or not self._same_target(pattern, node):
            return False
        self.places[pattern] = node
        return self.argument(list(pattern.args), list(node.args)) and self.argument(dict(pattern.kwargs), dict(node.kwargs))

    def _same_target(self, pattern, node):
        if pattern.op == "call_module":
            mine, theirs = self.modules
            return type(mine.get(pattern.target)) is type(theirs.get(node.target))
        if pattern.op == "get_attr":
            return True
        return pattern.target == node.target

    def argument(self, pattern, found):
        if isinstance(pattern, Node):
            return self.node(pattern, found)
        if isinstance(pattern, (list, tuple)):
            return isinstance(found, (list, tuple)) and len(pattern) == len(found) and all(map(self.argument, pattern, found))
        if isinstance(pattern, dict):
            return isinstance(found, dict) and pattern.keys() == found.keys() and all(self.argument(pattern[k], found[k]) for k in pattern)
        if isinstance(pattern, slice):
            return isinstance(found, slice) and all(self.argument(getattr(pattern, part), getattr(found, part))
                                                    for part in ("start", "stop", "step"))
        return not isinstance(found, Node) and (self.ignore_literals or type(pattern) is type(found) and pattern == found)


def _given(graph):
    """The nodes that a graph's output names, in order."""
    value = graph.output_node().args[0]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _matches(graph, pattern, modules, ignore_literals):
    """All places of a pattern that do not overlap, none of whose inner results is used outside of it."""
    anchors = [node for node in pattern.output_node().all_input_nodes if set(node.users) == {pattern.output_node()}]
    found, taken = [], set()
    for places in _tries(graph, anchors, modules, ignore_literals):
        inner = {p: n for p, n in places.items() if p.op not in ("placeholder", "output")}
        given, mine = set(pattern.output_node().all_input_nodes), set(inner.values())
        if any(p not in given and not set(n.users) <= mine for p, n in inner.items()) or mine & taken:
            continue
        taken |= mine
        found.append(places)
    return found


def _tries(graph, anchors, modules, ignore_literals):
    def extend(matching_places, rest):
        if not rest:
            yield matching_places
            return
        for node in graph.nodes:
            matching = _Matching(modules, ignore_literals)
            matching.places = dict(matching_places)
            if node.op not in ("placeholder", "output") and matching.node(rest[0], node):
                yield from extend(matching.places, rest[1:])
    if anchors:
        yield from extend({}, anchors)


def replace_pattern(gm, pattern, replacement):
    """Puts ``replacement`` wherever ``pattern`` stands in a module's graph, and makes its program anew. Answers a `Match` for each place.

    ``pattern``, ``replacement``: functions or modules with as many arguments as each other, which are traced. Where matches overlap only
    the one that comes first is replaced; where a result inside of a match is used elsewhere it stays.

    >>> import jtensor as torch
    >>> module = torch.fx.symbolic_trace(lambda x, y: torch.relu(x + y))
    >>> found = replace_pattern(module, lambda a, b: torch.relu(a + b), lambda a, b: torch.sigmoid(a) - b)
    >>> print(len(found), module.code.strip())
    1 def forward(self, x, y):
        sigmoid = torch.sigmoid(x);  x = None
        sub = sigmoid - y;  sigmoid = y = None
        return sub

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.replace_pattern
    """
    return [Match(found.anchor, found.nodes_map) for found in _replaced(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, replacement_callback=None,
                                 node_name_match=""):
    """The same where all of ``match_filters`` hold, each asked with the match, the graph and the pattern's graph.

    ``ignore_literals``: numbers and the like in the pattern match any; ``replacement_callback``: makes the replacement of a match instead.
    Answers a `ReplacedPatterns` for each place.
    """
    return _replaced(gm, pattern, replacement, match_filters or [], ignore_literals, replacement_callback)


def _graph_of(program):
    if isinstance(program, Graph):
        return program, {}
    module = program if isinstance(program, GraphModule) else symbolic_trace(program)
    return module.graph, dict(module.named_modules())


def _replaced(gm, pattern, replacement, filters=(), ignore_literals=False, callback=None):
    graph, (wanted, modules) = gm.graph, _graph_of(pattern)
    put = None if callback is not None else _graph_of(replacement)[0]
    if put is None and callback is None:
        raise AssertionError("Must provide either replacement GraphModule or callback")
    arguments = [node for node in wanted.nodes if node.op == "placeholder"]
    found, moved = [], {}
    for places in _matches(graph, wanted, (modules, dict(gm.named_modules())), ignore_literals):
        match = Match(wanted.output_node().all_input_nodes[0], places)
        if not all(holds(match, graph, wanted) for holds in filters):
            continue
        chosen = put if callback is None else callback(match, graph, wanted)
        takes = [node for node in chosen.nodes if node.op == "placeholder"]
        if len(takes) != len(arguments):
            raise AssertionError(f"The replacement has {len(takes)} arguments, the pattern {len(arguments)}")
        values = {take: moved.get(places[name], places[name]) for take, name in zip(takes, arguments, strict=True) if name in places}
        known = set(values)
        old = [places[node] for node in _given(wanted) if isinstance(node, Node)]
        users = {user for node in old for user in node.users if user not in places.values()}
        first = next((node for node in graph.nodes if node in users), graph.output_node())
        with graph.inserting_before(first):
            result = graph.graph_copy(chosen, values)
        result = list(result) if isinstance(result, (list, tuple)) else [result]
        for before, after in zip(old, result, strict=True):
            before.replace_all_uses_with(after)
            moved[before] = after
        matched = {places[p] for p in places if p.op != "placeholder"}
        for node in reversed(graph.nodes):
            if node in matched:
                graph.erase_node(node)
        found.append(ReplacedPatterns(match.anchor, places, [new for take, new in values.items() if take not in known]))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_over(gm, replacement)
    return found


def _take_over(gm, replacement):
    """Has the module have what the replacement's nodes name."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or reaches(gm, node.target):
            continue
        if not reaches(replacement, node.target):
            raise RuntimeError(f'Attempted to create a "{node.op}" node during subgraph rewriting with target {node.target}, but the '
                               "referenced attribute does not exist in the replaced GraphModule")
        assign(copy.deepcopy(operator.attrgetter(node.target)(replacement)), gm, node.target)
    gm.graph.lint()
