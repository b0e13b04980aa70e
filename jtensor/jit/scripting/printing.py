"""Compiled functions as text: what `text` writes of traced ones, with branches, loops, and what else the language has.

Owns: these statements and expressions, and what may stand where it is used among them. May not know: how anything was compiled.
"""
import enum

from .. import text
from . import cleanup, forms, kinds

_SIMPLE = {"aten::Int": "int", "aten::Float": "float", "aten::Bool": "bool", "aten::str": "str", "aten::Complex": "complex",
           "prim::Print": "print", "aten::sorted": "sorted"}
_IMPLICIT = ("aten::FloatImplicit", "aten::IntImplicit", "aten::ScalarImplicit", "aten::ComplexImplicit")


class Writer(text.Writer):
    """Writes one function. ``typed``: what a `Kind` is called in the file."""

    def __init__(self, constants, depth=0, typed=str):
        super().__init__(constants, depth)
        self.typed, self.ends = typed, {}

    def function(self, name, made, own=None):
        """The text of a compiled function; ``own``: what the first argument of a method is called, "" to leave its type out."""
        graph, arguments = made.graph, []
        self.taken.discard("self")                                # a function, too, may call its argument so
        for at, (value, argument) in enumerate(zip(graph.block.inputs, made.form.arguments, strict=True)):
            called = self.names[value] = self._new_name(argument.name)
            if own is not None and at == 0:
                arguments.append(f"{called}: {own}" if own else called)
                continue
            default = f"={self._constant(argument.default)}" if argument.has_default_value() else ""
            arguments.append(f"{called}: {self.typed(kinds.plain(argument.kind))}{default}")
        head = f"{self.indent[2:]}def {name}({(',' + chr(10) + '    ').join(arguments)}) -> {self.typed(made.form.returns[0])}:"
        self._count(graph.block)
        self._scan_block(graph.block)
        self.long = {}
        self._long_constants(graph.block)
        first = self.indent                                      # a block of with that raises has no end
        self._write(graph.block)
        self.indent = first
        self.lines.append(f"{self.indent}return {', '.join(map(self._of, graph.block.results))}")
        return "\n".join([head, *self.lines]) + "\n"

    # -- uses -----------------------------------------------------------------------------------------------------------

    def _count(self, block):
        """What uses each value: a node, or the end of a block."""
        self.uses, self.places = {}, {}

        def walk(block):
            order = [node for node in block.nodes if not node.is_constant]
            self.places.update({node: (order, at) for at, node in enumerate(order)})
            for node in order:
                for at, value in enumerate(node.inputs):
                    self.uses.setdefault(value, []).append(node if not (node.kind == "prim::Loop" and at >= 2) else None)
                for inner in node.blocks:
                    walk(inner)
            for value in block.results:
                self.uses.setdefault(value, []).append(self._end_of(block))
        walk(block)

    def _can_stand_inside(self, value):
        node, users = value.node, self.uses.get(value, ())
        if len(node.outputs) != 1 or len(users) != 1 or node.blocks or users[0] is None or node.kind in (
                "prim::isinstance", "prim::ModuleContainerIndex"):
            return False
        if users[0].kind in ("prim::fork",):
            return False
        return not value.name or users[0].kind == "prim::Return"

    def _end_of(self, block):
        """What uses the values that a block answers."""
        if block not in self.ends:
            self.ends[block] = text.Node("prim::Return", block.results)
        return self.ends[block]

    def _scan_block(self, block):
        order = [node for node in block.nodes if not node.is_constant]
        self._scan_inputs(block.results, len(order) - 1, order)
        for node in reversed(order):
            self._scan(node)

    def _scan(self, node):
        if node in self.inline:
            return
        for inner in node.blocks:
            self._scan_block(inner)
        order, at = self.places[node]
        self._scan_inputs(node.inputs, at - 1, order)

    def _scan_inputs(self, inputs, before, order):
        for value in reversed(inputs):
            node = value.node
            if before >= 0 and node is order[before] and self._can_stand_inside(value):
                for inner in node.blocks:
                    self._scan_block(inner)
                self.inline.add(node)
                before = self._scan_inputs(node.inputs, before - 1, order)
        return before

    # -- constants ------------------------------------------------------------------------------------------------------

    def _long_constants(self, block):
        """Those too long to stand within a line get one of their own at the head."""
        for node in block.nodes:
            if node.kind == "prim::CallFunction":
                self._long_callee(node.data)
            self._long(node.inputs)
            for inner in node.blocks:
                self._long_constants(inner)
        self._long(block.results)

    def _long_callee(self, made):
        called = self.typed(made)
        if called not in self.long and len(called) + 2 * self.level >= 40:
            self.long[called] = self._new_name("_")
            self.lines.append(f"{self.indent}{self.long[called]} = {called}")

    def _long(self, values):
        for value in values:
            if value.node is None or not value.node.is_constant:
                continue
            written = self._constant(value.node.data, value.type)
            if len(written) + 2 * self.level < 40:
                continue
            key = written
            if key not in self.long:
                self.long[key] = self._named(value)
                self.lines.append(f"{self.indent}{self.long[key]} = {written}")
            self.names[value] = self.long[key]

    def _constant(self, value, kind=None):
        if isinstance(value, enum.Enum):
            return f"{self.typed(kind)}.{value.name}"
        if isinstance(value, tuple):
            inner = [self._constant(one) for one in value]
            return f"({inner[0]},)" if len(inner) == 1 else f"({', '.join(inner)})"
        if isinstance(value, list):
            listed = f"[{', '.join([self._constant(one) for one in value])}]"
            return listed if value else f"annotate({self.typed(kind)}, {listed})" if kind is not None else "[]"
        return text.constant(value, self.constants)

    # -- statements -----------------------------------------------------------------------------------------------------

    def _write(self, block):
        for node in block.nodes:
            if node.is_constant:
                continue
            if node.kind == "prim::If":
                self._if(node)
            elif node.kind == "prim::Loop":
                self._loop(node)
            elif node.kind == "prim::SetAttr":
                own, value = map(self._of, node.inputs)
                self.lines.append(f"{self.indent}{own}.{node.data} = {value}")
            elif node.kind in ("prim::Enter", "prim::Exit"):
                self._with(node)
            elif node.kind == "prim::ModuleContainerIndex":
                own, at = map(self._of, node.inputs)
                self.lines.append(f"{self.indent}{self._named(node.output)} : {self.typed(node.output.type)} = {own}[{at}]")
            elif node.kind == "prim::fork":
                self._fork(node)
            else:
                self._statement(node)

    def _inside(self, block, targets=(), typed=False):
        outer, self.indent, self.level = (self.indent, self.level), self.indent + "  ", self.level + 1
        if not targets and not block.nodes:
            self.lines.append(f"{self.indent}pass")
        self._write(block)
        self._set(targets, block.results[len(block.results) - len(targets):] if targets else (), typed)
        self.indent, self.level = outer

    def _set(self, targets, values, typed=False):
        """``typed``: whether a single variable gets its type, if that is not its value's."""
        if typed and len(targets) == 1 and (targets[0].type != (kinds.NONE if _is_none(values[0]) else kinds.plain(values[0].type))
                                            or targets[0].type.name == "Optional" and _is_unset(values[0])):
            self.lines.append(f"{self.indent}{self._of(targets[0])} : {self.typed(targets[0].type)} = {self._of(values[0])}")
        elif targets:
            self.lines.append(f"{self.indent}{', '.join(map(self._of, targets))} = {', '.join(map(self._of, values))}")

    def _if(self, node):
        for value in node.outputs:
            self._named(value)
        for word, block in zip((f"if {self._of(node.inputs[0])}:", "else:"), node.blocks, strict=True):
            self.lines.append(self.indent + word)
            self._inside(block, node.outputs, word != "else:")

    def _loop(self, node):
        body = node.blocks[0]
        counts = cleanup.kind_of_loop(node, self.uses) == "for"
        for value in node.outputs:
            self._named(value)
        for inside, outside in zip(body.inputs[1:], node.outputs, strict=True):
            self.names[inside] = self.names[outside]
        for outside, first in zip(node.outputs, node.inputs[2:], strict=True):
            before = kinds.NONE if _is_none(first) else kinds.plain(first.type)
            typed = f": {self.typed(outside.type)}" if before != outside.type else ""
            self.lines.append(f"{self.indent}{self._of(outside)}{typed} = {self._of(first)}")
        index = self._named(body.inputs[0])
        if counts:
            self.lines.append(f"{self.indent}for {index} in range({self._of(node.inputs[0])}):")
            self._inside(body, body.inputs[1:])
        else:
            self.lines.append(f"{self.indent}{index} = {self._of(node.inputs[1])}")
            self.lines.append(f"{self.indent}while {index}:")
            self._inside(body, body.inputs)

    def _with(self, node):
        if node.kind == "prim::Enter":
            named = f" as {self._named(node.output)}" if self.uses.get(node.output) else ""
            self.lines.append(f"{self.indent}with {self._of(node.inputs[0])}{named}:")
            self.indent, self.level = self.indent + "  ", self.level + 1
            return
        if self.lines[-1].lstrip().startswith("with "):
            self.lines.append(f"{self.indent}pass")
        self.indent, self.level = self.indent[:-2], self.level - 1

    def _fork(self, node):
        block, name = node.blocks[0], self._new_name("__forked_function")
        self.lines.append(f"{self.indent}def {name}():")
        outer, self.indent, self.level = (self.indent, self.level), self.indent + "  ", self.level + 1
        self._write(block)
        self.lines.append(f"{self.indent}return {self._of(block.results[0])}")
        self.indent, self.level = outer
        self._line(node, f"fork({name})")

    def _line(self, node, written):
        left = f"{', '.join(map(self._named, node.outputs))} = " if node.outputs else ""
        self.lines.append(f"{self.indent}{left}{written}")

    def _new_name(self, wanted):
        made = "".join([letter if letter.isalnum() or letter == "_" else "_" for letter in wanted])
        return super()._new_name("_" + made if made[:1].isdigit() else made)

    # -- expressions ----------------------------------------------------------------------------------------------------

    def _of(self, value):
        if value in self.names:
            return self.names[value]
        if value.node is not None and value.node.is_constant:
            return self._constant(value.node.data, value.type)
        return self.names[value]

    def _text(self, node):
        kind, data = node.kind, node.data
        given = [self._of(value) for value in node.inputs]
        if kind == "prim::CallMethod" and data.python is not None:
            return f"{self._callee(data)}({', '.join(given)})"
        if kind == "prim::CallMethod":
            return f"({given[0]}).{data.short}({''.join([one + ', ' for one in given[1:]])})"
        if kind == "prim::CallFunction":
            return f"{self._callee(data)}({''.join([one + ', ' for one in given]) if data.python is None else ', '.join(given)})"
        if kind == "prim::ListConstruct":
            listed, wanted = f"[{', '.join(given)}]", node.output.type
            if not given or wanted.of[0].name in ("Optional", "Union", "Any") or any(
                    kinds.plain(one.type) != wanted.of[0] for one in node.inputs):
                return f"annotate({self.typed(wanted)}, {listed})"
            return listed
        if kind == "prim::DictConstruct":
            pairs = [f"{key}: {one}" for key, one in zip(given[::2], given[1::2], strict=True)]
            listed, wanted = "{" + ", ".join(pairs) + "}", node.output.type
            mixed = any(kinds.plain(one.type) != wanted.of[at % 2] for at, one in enumerate(node.inputs))
            return listed if pairs and not mixed and wanted.of[1].name not in ("Optional", "Union", "Any") else (
                f"annotate({self.typed(wanted)}, {listed})")
        if kind == "prim::TupleConstruct" and node.output.type.name == "named tuple":
            return f"{self.typed(node.output.type)}({', '.join(given)})"
        if kind == "prim::CreateObject":
            return f"{self.typed(node.output.type)}.__new__({self.typed(node.output.type)})"
        if kind == "prim::TupleIndex":
            return f"({given[0]})[{given[1]}]"
        if kind == "prim::Uninitialized":
            return f"uninitialized({self.typed(node.output.type)})"
        if kind in ("prim::unchecked_cast",):
            return f"unchecked_cast({self.typed(node.output.type)}, {given[0]})"
        if kind == "prim::isinstance":
            wanted = ", ".join([self.typed(one) for one in data])
            return f"isinstance({given[0]}, {wanted if len(data) == 1 else f'({wanted})'})"
        if kind == "prim::tolist":
            return f"annotate({self.typed(node.output.type)}, {given[0]}.tolist())"
        if kind in ("prim::EnumName", "prim::EnumValue"):
            return f"({given[0]}).{data}"
        if kind in _IMPLICIT:
            return f"annotate({self.typed(node.output.type)}, {given[0]})"
        if kind in _SIMPLE:
            return f"{_SIMPLE[kind]}({', '.join(given)})"
        if kind == "aten::__getitem__" and node.inputs[0].type.name in ("List", "Dict") or kind == "aten::__getitem__":
            inner = node.inputs[0].node
            first = f"({given[0]})" if inner in self.inline and given[0][-1:] == ")" else given[0]
            return f"{first}[{given[1]}]"
        if type(data) is forms.Form:
            space, _, name = kind.partition("::")
            return f"{'torch.' if space == 'aten' else f'ops.{space}.'}{name}({', '.join(self._needed(node, given))})"
        if data is None and kind.startswith("aten::"):
            return f"torch.{kind.removeprefix('aten::')}({', '.join(given)})"
        return super()._text(node)

    def _callee(self, made):
        called = self.typed(made)
        return self.long.get(called, called)

    @staticmethod
    def _needed(node, given):
        if node.data.varied:
            return given
        return text.Writer._needed(node, given)


def _is_none(value):
    return value.node is not None and value.node.is_constant and value.node.data is None


def _is_unset(value):
    return value.node is not None and value.node.kind == "prim::Uninitialized"
