"""From TorchScript's operators to those of ONNX, which knows no writes: one recorded operator after the other.

Tensors that share memory are one cell, whose value an operator that writes replaces. A view is taken anew from it when it is asked for
after that, and what is written to a view is put at the places of the whole that the view has. Owns: that, and the values by which names
go. May not know: how an operator is written (`families`), what a model or a file is.
"""
import jtensor

from ..base import dtypes
from ..jit.calls import CODES
from ..tensor.core import Tensor
from . import table, writing
from .errors import OnnxExporterError, UnsupportedOperatorError
from .recorded import Fact

_IGNORED = frozenset("""layout device pin_memory non_blocking copy memory_format cudnn_enable cudnn_enabled benchmark deterministic
                        allow_tf32 implicit sparse scale_grad_by_freq generator stable""".split())
"""Arguments that say nothing about values."""
_BY_VALUE = frozenset("nonzero masked_select _unique2 unique_dim unique_consecutive".split())
"""Operators whose sizes depend on what they are given."""
_RANDOM = frozenset("""rand randn randint randperm rand_like randn_like randint_like bernoulli normal multinomial dropout empty
                       empty_like""".split())
_VIEWS_UNKNOWN = frozenset("select slice unsqueeze view alias".split())


class _Cell:
    """Memory: its value as a whole, and how often it was written to."""

    def __init__(self, current):
        self.current, self.version, self.unlinked = current, 0, False


class _Entry:
    """A tensor: a cell's whole (``how`` is None), or what an operator, as it was called, makes of one of its arguments."""

    def __init__(self, edge, cell, how=None, source=None):
        self.edge, self.cell, self.how, self.source, self.version = edge, cell, how, source, cell.version


class _Absent:
    """A result that is not written, which nobody may ask for."""

    def __init__(self, name):
        self.name = name


class Lowering:
    """One program on its way into a `writing.Graph`. ``attribute``: what answers the parameter or buffer at a path."""

    def __init__(self, graph, program, names, attribute):
        self.graph, self.program, self._attribute = graph, program, attribute
        self._values, self._cells, self._loose, self._counts, self._parameters = {}, {}, set(), {}, {}
        for value, name in zip(program.inputs, names, strict=True):
            fact = program.facts[value]
            edge = writing.Edge(fact.dtype, fact.shape, name=name)
            graph.inputs.append(edge)
            self._put(value, edge, fact)

    def run(self):
        """Writes it all; answers the edges of the results."""
        nodes = self.program.nodes
        for at, node in enumerate(nodes):
            self._node(node, nodes[at + 1] if at + 1 < len(nodes) else None)
        self.graph.outputs = [self._edge(self._get(value)) for value in self.program.results]
        return self.graph.outputs

    def is_loose(self, value):
        """Whether the sizes of a value depend on what the model is given."""
        return value in self._loose

    # -- values ---------------------------------------------------------------------------------------------------------

    def _get(self, value):
        """What a value is: an edge, a number, a text, a list."""
        if value.node is not None and value.node.kind == "prim::Attribute" and value not in self._values:
            self._parameter(value)
        found = self._values[value]
        if isinstance(found, _Absent):
            raise UnsupportedOperatorError(found.name, self.graph.opset, None, "one of its results has no counterpart in ONNX")
        if not isinstance(found, _Entry):
            return found
        if found.how is None:
            return found.cell.current
        if found.version != found.cell.version:
            found.edge, found.version = self._replayed(found, self._get(found.source)), found.cell.version
        return found.edge

    def _parameter(self, value):
        path = value.node.data
        fact = self.program.facts[value]
        edge = self._parameters.get(path)
        if edge is None:
            edge = self._parameters[path] = writing.Edge(fact.dtype, fact.shape, name=".".join(path))
            self.graph.initializers.append((edge, self._attribute(path)))
        self._put(value, edge, fact)

    def _put(self, value, edge, fact, node=None, args=None, output=None):
        """Keeps a tensor, and whose memory it has."""
        storage = None if fact is None else fact.storage
        if node is not None:
            for at, one in enumerate(node.inputs):
                source = self._values.get(one)
                if isinstance(source, _Entry) and (source.cell is self._cells.get(storage) if storage is not None else
                                                   at == 0 and _short(node) in _VIEWS_UNKNOWN):
                    self._values[value] = _Entry(edge, source.cell, (node, args, at, output, fact), one)
                    return
        cell = self._cells.get(storage) if storage is not None else None
        if cell is not None:
            cell.unlinked = True
        own = _Cell(edge)
        own.unlinked = cell is not None
        if storage is not None:
            self._cells.setdefault(storage, own)
        self._values[value] = _Entry(edge, own)

    def _edge(self, x):
        return x if isinstance(x, writing.Edge) else writing.constant(x, dtypes.of_scalar(x))

    # -- nodes ----------------------------------------------------------------------------------------------------------

    def _node(self, node, following):
        short = _short(node)
        if node.is_constant:
            self._constant(node)
        elif node.kind in ("prim::ListConstruct", "prim::TupleConstruct"):
            self._values[node.output] = list(node.inputs)
        elif node.kind == "prim::ListUnpack":
            pass                                                  # with the operator before it
        elif node.kind == "prim::NumToTensor":
            found = self._get(node.inputs[0])
            self._values[node.output] = found if isinstance(found, writing.Edge) else writing.constant(found, dtypes.int64)
        elif node.kind in ("aten::Int", "aten::Float", "aten::ScalarImplicit", "aten::Bool") and node.data is None:
            self._values[node.output] = self._number(node)
        elif node.kind in ("aten::size", "aten::numel") and node.output.type == "int":
            self._values[node.output] = self._size(node)
        elif node.kind.startswith("aten::"):
            self._operator(node, short, following)
        else:
            raise UnsupportedOperatorError(node.kind, self.graph.opset, None)

    def _constant(self, node):
        symbol = self.program.sizes.get(node.output)
        data = node.data
        if symbol is not None:
            at, axis = symbol.places[0]
            found = self.graph.size(self.graph.inputs[at], axis)
            self._values[node.output] = self.graph.cast(found, data.dtype) if isinstance(data, Tensor) else found
        elif isinstance(data, Tensor):
            self._values[node.output] = _Entry(made := _known(data), _Cell(made))
        else:
            self._values[node.output] = data

    def _number(self, node):
        found = self._get(node.inputs[0])
        if isinstance(found, writing.Edge) and found.known is not None:
            found = found.known.item()
        if isinstance(found, writing.Edge):
            return self.graph.cast(found, {"aten::Int": dtypes.int64, "aten::Float": dtypes.float32}.get(node.kind, found.dtype))
        return {"aten::Int": int, "aten::Float": float, "aten::Bool": bool}.get(node.kind, lambda x: x)(found)

    def _size(self, node):
        edge = self._get(node.inputs[0])
        if node.kind == "aten::size":
            return self.graph.size(edge, self._get(node.inputs[1]))
        if edge.shape is not None and None not in edge.shape:
            count = 1
            for size in edge.shape:
                count *= size
            return count
        return self.graph.op("Size", edge, dtype=dtypes.int64, shape=())

    # -- operators ------------------------------------------------------------------------------------------------------

    def _taken(self, value):
        """An argument's value; a list's, too."""
        found = self._get(value)
        return [self._taken(one) for one in found] if isinstance(found, list) and value.node is not None and value.node.kind in (
            "prim::ListConstruct", "prim::TupleConstruct") else found

    def _operator(self, node, short, following):
        args = [self._taken(value) for value in node.inputs]
        listed = following is not None and following.kind == "prim::ListUnpack" and following.inputs[0] is node.output
        outputs = following.outputs if listed else node.outputs
        loose = short in _BY_VALUE or any(value in self._loose for value in _deep(node.inputs)) or (
            short == "index" and any(isinstance(one, writing.Edge) and one.dtype in (dtypes.bool, dtypes.uint8) for one in args[1])) or (
            short == "repeat_interleave" and any(isinstance(one, writing.Edge) for one in args[1:2]))
        facts = [self._fact(value, short, args, loose) for value in outputs]
        if loose:
            self._loose.update(outputs)
        if node.writes:
            self._write(node, short, args, facts[0])
            return
        known = self._computed(node, short, args, outputs, loose, listed)
        if known is not None:
            for value, edge in zip(outputs, known, strict=True):
                self._put(value, edge, self.program.facts[value])
            return
        made = self._called(node, short, args, facts)
        made = made if isinstance(made, (list, tuple)) else [made]
        for at, (value, edge, fact) in enumerate(zip(outputs, made, facts, strict=True)):
            if edge is None:
                self._values[value] = _Absent(node.kind)
                continue
            self._named(edge, short)
            self._put(value, edge, fact if value in self.program.facts else None, node, args, at if listed or len(made) > 1 else None)

    def _named(self, edge, short):
        if not edge.name and edge.node is not None:
            count = self._counts[short] = self._counts.get(short, -1) + 1
            edge.name = f"{short}_{count}" if count else short

    def _fact(self, value, short, args, loose):
        """What is known of a result; of those in between, which no tensor stood for, what follows from the operator."""
        fact = self.program.facts.get(value)
        if fact is None:
            dtype, shape = _inferred(short, args)
            return Fact(None, dtype, shape, None, 0)
        if not loose:
            return fact
        return Fact(fact.tensor, fact.dtype, (None,) * len(fact.shape), fact.storage, fact.version)

    def _computed(self, node, short, args, outputs, loose, listed):
        """The edges of what is computed of constants alone, which is a constant."""
        if loose or listed or short in _RANDOM or not all(map(_plain, args)):
            return None
        facts = [self.program.facts.get(value) for value in outputs]
        if any(fact is None or fact.tensor is None or not fact.is_static or not fact.is_untouched for fact in facts):
            return None
        return [_known(fact.tensor) for fact in facts]

    def _called(self, node, short, args, facts):
        """What the operator's function writes, with the dtypes that the results have here."""
        graph = self.graph
        name = "aten::" + short
        function = table.table().get(short)
        if function is None:
            raise UnsupportedOperatorError(name, graph.opset, None)
        if any(fact.dtype.is_complex for fact in facts):
            raise UnsupportedOperatorError(name, graph.opset, None, "its result is complex")
        before = getattr(graph, "outs", None)
        graph.outs = facts
        try:
            made = table.call(function, graph, node.data, args, _IGNORED)
        except table.Refused as refused:
            raise UnsupportedOperatorError(name, graph.opset, refused.since, refused.reason) from None
        finally:
            graph.outs = before
        several = isinstance(made, (list, tuple))
        made = [edge and graph.cast(edge, fact.dtype) for edge, fact in zip(made if several else [made], facts, strict=True)]
        for edge, fact in zip(made, facts, strict=True):
            if edge is not None and (edge.node is not None or edge.known is None and edge.shape is None):
                edge.shape = fact.shape
        return made if several else made[0]

    # -- writes ---------------------------------------------------------------------------------------------------------

    def _replayed(self, entry, source, dtype=None):
        """A view, taken of another source; ``dtype``: of places, which go through it in the place of values."""
        node, args, at, output, fact = entry.how
        args = [source if one == at else self._taken(value) if isinstance(arg, writing.Edge) and dtype is None else arg
                for one, (arg, value) in enumerate(zip(args, node.inputs, strict=True))]
        fact = fact or Fact(None, *_inferred(_short(node), args), None, 0)
        facts = [Fact(fact.tensor, dtype or fact.dtype, fact.shape, None, 0)]
        if output is not None:
            facts = facts * (output + 1)
        made = self._called_for(node, args, facts, output)
        return made

    def _called_for(self, node, args, facts, output):
        if output is None:
            return self._called(node, _short(node), args, facts)
        graph = self.graph
        before = getattr(graph, "outs", None)
        following = next(one for one in self.program.nodes if one.kind == "prim::ListUnpack" and one.inputs[0] is node.output)
        graph.outs = [Fact(None, facts[0].dtype, self.program.facts[value].shape, None, 0) for value in following.outputs]
        try:
            return table.call(table.table()[_short(node)], graph, node.data, args, _IGNORED)[output]
        finally:
            graph.outs = before

    def _write(self, node, short, args, fact):
        """An operator in place: it is written as the one that is not, and its result replaces what the memory held."""
        entry = self._values[node.inputs[0]]
        if not isinstance(entry, _Entry) or entry.cell.unlinked:
            raise UnsupportedOperatorError(node.kind, self.graph.opset, None, "it writes to memory that other tensors have in another way")
        target = self._get(node.inputs[0])
        fact = Fact(None, target.dtype, fact.shape if node.output in self.program.facts else target.shape, None, 0)
        made = self._called(node, short[:-1], args, [fact])
        self._named(made, short[:-1])
        cell = entry.cell
        cell.version += 1
        if entry.how is None:
            cell.current = made
        else:
            cell.current = self._placed(entry, made, cell.current)
            entry.edge, entry.version = made, cell.version
        self._values[node.output] = entry

    def _placed(self, entry, made, whole):
        """The whole with what was written to a view of it: the view of its places says where."""
        graph = self.graph
        if whole.dtype is not made.dtype:
            raise UnsupportedOperatorError("aten::view", graph.opset, None, "what is written to is a view of another dtype")
        shape = graph.shape(whole)
        count = graph.op("ReduceProd", shape, dtype=dtypes.int64, keepdims=0, shape=())
        places = graph.op("Range", writing.constant(0, dtypes.int64), count, writing.constant(1, dtypes.int64), shape=(None,))
        places = graph.op("Reshape", places, shape, shape=whole.shape)
        places = graph.reshape(self._through(entry, places), [-1])
        flat = graph.op("ScatterElements", graph.reshape(whole, [-1]), places, graph.reshape(made, [-1]), axis=0, shape=(None,))
        return graph.op("Reshape", flat, shape, shape=whole.shape)

    def _through(self, entry, places):
        if entry.how is None:
            return places
        return self._replayed(entry, self._through(self._values[entry.source], places), dtypes.int64)


# -- what is told of values ---------------------------------------------------------------------------------------------


def _short(node):
    return node.kind.partition("::")[2]


def _deep(values):
    for value in values:
        yield value
        if value.node is not None and value.node.kind == "prim::ListConstruct":
            yield from value.node.inputs


def _plain(x):
    """Whether an argument is a constant."""
    if isinstance(x, list):
        return all(map(_plain, x))
    return not isinstance(x, writing.Edge) or x.known is not None


def _known(tensor):
    """The edge of a constant tensor."""
    tensor = tensor.detach().cpu()
    dtype = tensor.dtype
    if dtype.is_complex:
        raise OnnxExporterError("A constant of the model is complex, which operators of ONNX do not take")
    return writing.constant((tensor.float() if dtype is jtensor.bfloat16 else tensor).numpy().copy(), dtype)


def _inferred(short, args):
    """(dtype, shape) of what an operator gives, of those that indices are made of."""
    first = args[0]
    if short == "to":
        code = next(one for one in args[1:] if type(one) is int and CODES[one] is not None)
        return CODES[code], first.shape
    shape = None if first.shape is None else list(first.shape)
    if short == "view":
        shape = [None if isinstance(one, writing.Edge) or one < 0 else one for one in args[1]]
    elif shape is None:
        pass
    elif short == "select":
        del shape[args[1]]
    elif short == "unsqueeze":
        shape.insert(args[1], 1)
    elif short == "slice":
        size, bounds = shape[args[1]], args[2:5]
        whole = bounds[0] == 0 and bounds[1] == (1 << 63) - 1 and bounds[2] == 1
        if not whole:
            shape[args[1]] = None if size is None or any(isinstance(one, writing.Edge) for one in bounds) else len(
                range(size)[slice(*bounds)])
    return first.dtype, None if shape is None else tuple(shape)
