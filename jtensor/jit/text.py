"""Blocks of traced nodes as TorchScript writes them: what is used once and at once stands where it is used, until a line gets too long.

Owns: names of variables, what stands in a line of its own, how constants are written. May not know: how anything was traced.
"""
import math

from ..tensor.core import Tensor
from .graph import Node

_NEVER = frozenset("""_ as aten attribute CONSTANTS fork getattr inf nan infj nanj ops self __torch__ and assert async await break class
                      continue def del elif else except exec finally for from global if import in is lambda nonlocal not or pass print raise
                      return try while with yield uninitialized unchecked_cast annotate False True None torch int float bool""".split())
_LONG = 40                           # characters, with the indentation, that an expression within another one may not have
_WORDS = {"aten::Int": "int", "aten::Float": "float", "aten::Bool": "bool"}


class Constants:
    """The tensors that programs call ``CONSTANTS.c0`` and so on: those of the same type and numbers are one."""

    def __init__(self):
        self.tensors, self._found = [], {}

    def name(self, tensor):
        small = tensor.numel() <= 16 and not tensor.requires_grad
        key = (tensor.dtype, tuple(tensor.shape), str(tensor.device), repr(tensor.tolist())) if small else id(tensor)
        if key not in self._found:
            self._found[key] = len(self.tensors)
            self.tensors.append(tensor)
        return f"CONSTANTS.c{self._found[key]}"


def constant(value, constants):
    """A constant as a program has it."""
    if isinstance(value, Tensor):
        return constants.name(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, complex):
        sign = "" if number(value.imag)[0] == "-" else "+"
        return f"{number(value.real)}{sign}{number(value.imag)}j"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (bool, int, type(None))):
        return str(value)
    return f'torch.device("{value}")'


def number(value):
    """A float as a program has it: ``2.``, ``0.10000000000000001``."""
    if math.isinf(value) or math.isnan(value):
        return str(value)
    text = f"{value:.17g}"
    return text if "." in text or "e" in text else text + "."


def quoted(text):
    """A text in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t") + '"'


class Writer:
    """Writes one function. ``depth``: how far its ``def`` is indented, which counts when lines get long."""

    def __init__(self, constants, depth=0):
        self.constants, self.indent, self.level = constants, "  " * (depth + 1), depth + 1
        self.names, self.taken, self.next, self.inline, self.lines = {}, set(_NEVER), {}, set(), []
        self.split_up_to = {}                                     # {node: the last of its arguments that was looked at}

    # -- names ----------------------------------------------------------------------------------------------------------

    def _new_name(self, wanted):
        name = wanted
        while name in self.taken:
            at = self.next.get(name, 0)                           # of the name that was tried last, as PyTorch counts
            self.next[name] = at + 1
            name = f"{wanted}{at}"
        self.taken.add(name)
        return name

    # -- the whole ------------------------------------------------------------------------------------------------------

    def function(self, name, block, own=None, returns="Tensor"):
        """The text of a function, or of a method whose module's class is ``own`` ("" to leave it out)."""
        arguments = []
        if own is not None:
            self.names[block.own] = "self"
            arguments.append(f"self: {own}" if own else "self")
        for at, value in enumerate(block.inputs, own is not None):
            called = self.names[value] = self._new_name(value.name or f"argument_{at}")
            arguments.append(f"{called}: {value.type}")
        head = f"{self.indent[2:]}def {name}({(','+chr(10)+'    ').join(arguments)}) -> {returns}:"
        self._body(block.nodes, block.results)
        return "\n".join([head, *self.lines]) + "\n"

    def _body(self, nodes, results):
        self.uses = {}
        for node in nodes:
            for value in node.inputs:
                self.uses.setdefault(value, []).append(node)
        self.end = end = Node("prim::Return", results, ())
        for value in results:
            self.uses.setdefault(value, []).append(end)
        self._find_inline(nodes, results)
        for node in nodes:
            if not node.is_constant:
                self._statement(node)
        self.lines.append(f"{self.indent}return {', '.join(map(self._of, results))}")

    # -- what stands where it is used -----------------------------------------------------------------------------------

    def _find_inline(self, nodes, results):
        """Those that are made right before they are used, in the order in which they are used, and only there."""
        order = [node for node in nodes if not node.is_constant]
        place = {node: at for at, node in enumerate(order)}

        def scan(inputs, before):
            for value in reversed(inputs):
                node = value.node
                if before >= 0 and node is order[before] and self._can_stand_inside(value):
                    self.inline.add(node)
                    before = scan(node.inputs, place[node] - 1)
            return before
        scan(results, len(order) - 1)
        for node in reversed(order):
            if node not in self.inline:
                scan(node.inputs, place[node] - 1)

    def _can_stand_inside(self, value):
        if len(value.node.outputs) != 1 or len(self.uses.get(value, ())) != 1:
            return False
        return not value.name or self.uses[value][0] is self.end

    def _split(self, value):
        """Gives a line of its own to an expression that is too long, and to those that would have been computed before it."""
        lines, user = [], self.uses[value][0]
        last = user.inputs.index(value)
        while True:
            done = self.split_up_to.get(user)
            lines += [one for one in user.inputs[(-1 if done is None else done) + 1:last + 1][::-1] if one.node in self.inline]
            self.split_up_to[user] = last
            if done is not None or user not in self.inline:
                break
            value, user = user.output, self.uses[user.output][0]
            last = user.inputs.index(value) - 1                   # itself is still being written
        for one in reversed(lines):
            self._line(one.node, self.names[one])

    # -- statements and expressions -------------------------------------------------------------------------------------

    def _statement(self, node):
        if node.kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            if node.outputs:
                self.lines.append(f"{self.indent}{', '.join(map(self._named, node.outputs))}, = {self._of(node.inputs[0])}")
            return
        text = self._text(node)
        if node in self.inline:
            self.names[node.output] = text
            if len(text) + 2 * self.level >= _LONG:
                self._split(node.output)
        else:
            self._line(node, text)

    def _line(self, node, text):
        self.lines.append(f"{self.indent}{', '.join(map(self._named, node.outputs))} = {text}")

    def _named(self, value):
        self.names[value] = name = self._new_name(value.name or "_")
        return name

    def _of(self, value):
        if value.node is not None and value.node.is_constant:
            return constant(value.node.data, self.constants)
        return self.names[value]

    def _text(self, node):
        kind, data = node.kind, node.data
        given = [self._of(value) for value in node.inputs]
        if kind == "prim::ListConstruct":
            text = f"[{', '.join(given)}]"
            return text if given and data in ("int", "Tensor", "float", "bool") else f"annotate(List[{data}], {text})"
        if kind == "prim::TupleConstruct":
            return f"({given[0]},)" if len(given) == 1 else f"({', '.join(given)})"
        if kind == "prim::DictConstruct":
            return "{" + ", ".join([f"{key}: {value}" for key, value in zip(given[::2], given[1::2], strict=True)]) + "}"
        if kind == "prim::GetAttr":
            return f"{given[0]}.{data}" if data.isidentifier() else f"getattr({given[0]}, {quoted(data)})"
        if kind == "prim::CallMethod":
            return f"({given[0]}).{data}({''.join([text + ', ' for text in given[1:]])})"
        if kind == "aten::__getitem__":
            return f"{given[0]}[{given[1]}]"
        if kind == "aten::ScalarImplicit":
            return f"annotate(number, {given[0]})"
        if kind in _WORDS:
            return f"{_WORDS[kind]}({given[0]})"
        if kind.startswith("prim::"):
            return f"ops.prim.{kind.removeprefix('prim::')}({', '.join(given)})"
        return f"torch.{kind.removeprefix('aten::')}({', '.join(self._needed(node, given))})"

    @staticmethod
    def _needed(node, given):
        """The arguments up to the last one that is not the default."""
        arguments, count = node.data.arguments, len(given)
        while count and _is_default(arguments[count - 1], node.inputs[count - 1].node):
            count -= 1
        return [f"{argument.name}={text}" if argument.kwarg_only else text
                for argument, text in zip(arguments, given[:count], strict=False)]


def _is_default(argument, node):
    if not argument.has_default_value() or node is None:
        return False
    return node.is_constant and not isinstance(node.data, Tensor) and type(node.data) is type(argument.default) and (
        node.data == argument.default)
