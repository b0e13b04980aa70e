"""Channels last between layers: what is done element by element to a convolution's result is done before its transpose.

XLA's CPU library computes convolutions with the channels last; PyTorch's tensors have them second. Left alone, XLA goes through the
library's result in the tensor's order, a step of all channels from one element to the next, in every loop of every operator behind it:
a pool and its gradient took five times as long so. Here a transpose waits: elementwise equations, windows, padding and repetitions are
rewritten for what it is a transpose of, until something needs the tensor's own order (a sum, a matrix product, a result); before the next
convolution it meets its opposite, and both are gone. No number changes: what adds up keeps the order that it had.

Knows of nothing but JAX and the list of equations; works before boxes and fences.
"""
import collections
import math

import jax
from jax import lax

from .boxes import WORTH_IT
from .flat import Equation
from .kinds import CARRIED

_CARRIED = CARRIED | {"barrier", "stop_gradient"}
_LAYERS = "conv_general_dilated"


def channels_last(graph):
    """The `Flat`, rewritten where it has convolutions."""
    if any(e.name == _LAYERS for e in graph.equations):
        _Rewriting(graph).run()
    return graph


class _Rewriting:
    """One pass over the equations, which are written down anew.

    ``turned``: {variable: (variable, permutation)}: a transpose that waits, and of what. ``same``: {variable: variable} that stands for it.
    ``brought``: {(variable, permutation): variable}: another operand in that order.
    """

    def __init__(self, graph):
        self.graph, self.old, self.made = graph, graph.equations, []
        self.turned, self.same, self.layers, self.makers, self.brought = {}, {}, set(), {}, {}
        self.rules = {"transpose": self._transpose, "slice": self._slice, "pad": self._pad, "concatenate": self._concatenate,
                      "broadcast_in_dim": self._repeat, "reshape": self._merge, **dict.fromkeys(_CARRIED, self._elementwise)}

    def run(self):
        graph = self.graph
        for e in self.old:
            e.inputs = [self.same.get(v, v) if type(v) is int else v for v in e.inputs]
            rule = self.rules.get(e.name)
            waits = e.name == "transpose" and e.inputs[0] in self.layers or any(type(v) is int and v in self.turned for v in e.inputs)
            if rule is None or not waits or not rule(e):
                self._keep(e)
        outputs = [self.same.get(v, v) if type(v) is int else v for v in graph.outputs]
        for v in outputs:
            self._settle(v)
        graph.equations = self.made
        graph.finish(outputs)
        self._put_down()

    def _put_down(self):
        """Puts into memory what is computed, and then read in both orders: in the other one it would take long to compute it again."""
        graph = self.graph
        uses = collections.Counter(v for e in graph.equations for v in {v for v in e.inputs if type(v) is int})
        for e in graph.equations:
            v = e.inputs[0] if e.name == "transpose" and e.outputs[0] in self.turned else None
            maker = self.makers.get(v)
            if maker is not None and maker.name in _CARRIED and uses[v] > 1 and math.prod(e.avals[0].shape) >= WORTH_IT:
                maker.kept = True

    # -- writing down -----------------------------------------------------------------------------------------------------

    def _keep(self, e):
        """An equation that needs its operands as they are."""
        for v in e.inputs:
            self._settle(v)
        self._add(e)
        if e.name == _LAYERS:
            self.layers.update(e.outputs)

    def _add(self, e):
        self.made.append(e)
        self.makers.update(dict.fromkeys(e.outputs, e))

    def _settle(self, v):
        """Has a transpose that waits written down."""
        if type(v) is int and v in self.turned and v not in self.makers:
            origin, order = self.turned[v]
            self._add(Equation(lax.transpose_p, {"permutation": order}, [origin], [v], [self.graph.avals[v]]))

    def _new(self, primitive, params, inputs, shape, dtype):
        self.graph.avals.append(jax.core.ShapedArray(shape, dtype))
        made = len(self.graph.avals) - 1
        self._add(Equation(primitive, params, inputs, [made], [self.graph.avals[made]]))
        return made

    def _instead(self, e, params, inputs, order):
        """Another equation in the place of one whose result is its result's transpose."""
        shape = _moved(e.avals[0].shape, order)
        self.turned[e.outputs[0]] = self._new(e.primitive, params, inputs, shape, e.avals[0].dtype), order
        return True

    # -- operands ---------------------------------------------------------------------------------------------------------

    def _order(self, e):
        """The permutation that the operands' transposes have in common; None if they differ, or as much again would have to be turned."""
        orders, others, whole = set(), set(), math.prod(e.avals[0].shape)
        for v in e.inputs:
            if type(v) is int and v in self.turned:
                orders.add(self.turned[v][1])
            elif type(v) is int and 2 * math.prod(self.graph.avals[v].shape) > whole and not self._is_repeated(v):
                others.add(v)
        few = len(others) <= len({v for v in e.inputs if type(v) is int and v in self.turned})
        return orders.pop() if len(orders) == 1 and few else None

    def _is_repeated(self, v):
        maker = self.makers.get(v)
        return maker is not None and maker.name == "broadcast_in_dim"

    def _operand(self, v, order):
        """An operand in the order of what the transposes are of; None where it has other dimensions."""
        graph = self.graph
        shape = graph.aval(v).shape
        if not shape:
            return v
        if type(v) is not int or len(shape) != len(order):
            return None
        if v in self.turned:
            return self.turned[v][0]
        known = self.brought.get((v, order))
        if known is None:
            known = self.brought[v, order] = self._bring(v, shape, order)
        return known

    def _bring(self, v, shape, order):
        target, dtype, maker = _moved(shape, order), self.graph.avals[v].dtype, self.makers.get(v)
        if self._is_repeated(v):
            places = tuple([order[d] for d in maker.params["broadcast_dimensions"]])
            if list(places) == sorted(places):
                params = maker.params | {"shape": target, "broadcast_dimensions": places}
                return self._new(maker.primitive, params, maker.inputs, target, dtype)
        if sum(n > 1 for n in shape) < 2:
            return self._new(lax.reshape_p, {"new_sizes": target, "dimensions": None, "sharding": None}, [v], target, dtype)
        return self._new(lax.transpose_p, {"permutation": _inverse(order)}, [v], target, dtype)

    # -- rules: whether the equation has been rewritten ---------------------------------------------------------------------

    def _transpose(self, e):
        (v,), order = e.inputs, tuple(e.params["permutation"])
        if v in self.turned:
            v, before = self.turned[v]
            order = tuple([before[d] for d in order])
        if order == tuple(range(len(order))):
            self.same[e.outputs[0]] = v
        else:
            self.turned[e.outputs[0]] = v, order
        return True

    def _elementwise(self, e):
        order = self._order(e)
        if order is None or len(e.outputs) > 1 or len(order) != len(e.avals[0].shape):
            return False
        inputs = [self._operand(v, order) for v in e.inputs]
        return None not in inputs and self._instead(e, e.params, inputs, order)

    def _slice(self, e):
        origin, order = self.turned[e.inputs[0]]
        params = {name: None if given is None else _moved(given, order) for name, given in e.params.items()}
        return self._instead(e, params, [origin], order)

    def _pad(self, e):
        if e.inputs[0] not in self.turned:
            return False
        origin, order = self.turned[e.inputs[0]]
        self._settle(e.inputs[1])
        return self._instead(e, {"padding_config": _moved(e.params["padding_config"], order)}, [origin, e.inputs[1]], order)

    def _concatenate(self, e):
        order = self._order(e)
        inputs = [None] if order is None else [self._operand(v, order) for v in e.inputs]
        return None not in inputs and self._instead(e, {"dimension": order[e.params["dimension"]]}, inputs, order)

    def _repeat(self, e):
        """Each new dimension stays behind the one that it stood behind."""
        origin, order = self.turned[e.inputs[0]]
        places, rank = e.params["broadcast_dimensions"], len(e.avals[0].shape)
        if not places or places[0] != 0:
            return False
        begins = [*places, rank]
        blocks = [range(begins[d], begins[d + 1]) for d in _inverse(order)]        # of result's dimensions, in the origin's order
        standing = [d for block in blocks for d in block]
        turned = _inverse(standing)
        starts = tuple([standing.index(block[0]) for block in blocks])
        params = e.params | {"shape": _moved(e.avals[0].shape, turned), "broadcast_dimensions": starts}
        return self._instead(e, params, [origin], turned)

    def _merge(self, e):
        """Neighbours that become one dimension, where they are neighbours there, too."""
        origin, order = self.turned[e.inputs[0]]
        groups = _groups(self.graph.avals[e.inputs[0]].shape, e.avals[0].shape)
        if groups is None or any(order[d] + 1 != order[d + 1] for group in groups for d in group[:-1]):
            return False
        standing = sorted(range(len(groups)), key=lambda g: order[groups[g][0]])
        turned = _inverse(standing)
        return self._instead(e, e.params | {"new_sizes": _moved(e.avals[0].shape, turned)}, [origin], turned)


def _moved(values, order):
    """What belongs to a transpose's dimensions in the order of its operand's: number ``d`` comes to ``order[d]``."""
    return tuple([values[d] for d in _inverse(order)])


def _inverse(order):
    found = [0] * len(order)
    for at, d in enumerate(order):
        found[d] = at
    return tuple(found)


def _groups(shape, target):
    """Which dimensions of a shape become each dimension of another one, neighbours all; None where they do not, or one is left over."""
    groups, at = [], 0
    for n in target:
        group, count = [], 1
        while at < len(shape) and (not group or count < n):
            group.append(at)
            count *= shape[at]
            at += 1
        if count != n or not group:
            return None
        groups.append(group)
    return groups if at == len(shape) else None
