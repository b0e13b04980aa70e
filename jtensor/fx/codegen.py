"""The text of a graph: a Python function that does what the graph says, and the globals that it needs.

Owns: the text. May not know: modules, how the text is run (`graph_module`).
"""
import enum
import inspect
import math
import re
import types
import typing

import jtensor

from ..utils import _pytree as pytree
from .naming import ours, qualified_name, type_name
from .node import Node

MAGIC = {"eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}", "pos": "+{}",
         "neg": "-{}", "invert": "~{}", "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}",
         "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}",
         "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}"}
INPLACE = {"iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}", "imul": "{} *= {}",
           "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}", "isub": "{} -= {}",
           "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}"}
# What a program's text may name without a definition of its own, and the statement that brings it.
BUILTIN = {"inf": ("from math import inf", math.inf), "nan": ("from math import nan", math.nan),
           "NoneType": ("NoneType = type(None)", type(None)), "torch": ("import torch", jtensor),
           "device": ("from torch import device", jtensor.device), "pytree": ("import torch.utils._pytree as pytree", pytree)}


class PythonCode:
    """A program's text (``src``) and the globals that it names (``globals``)."""

    def __init__(self, src, globals, _lineno_map=None):
        self.src, self.globals, self._lineno_map = src, globals, _lineno_map


class _Writer:
    """Writes one program. ``names``: its global names; ``root``: what the module is called."""

    def __init__(self, root, names):
        self.root, self.names, self.globals, self.wrapped = root, names, {}, {}
        for name, (_, value) in BUILTIN.items():
            self.globals[name] = value

    def name_of(self, hint, obj):
        """What a global is called in the text. The library's own are found by their whole name."""
        if ours(obj) and obj is not jtensor.device and obj is not pytree and not hint.startswith("torch.Tensor."):
            return hint
        name = self.names.create_name(hint, obj)
        self.globals[name] = obj
        return name

    def type(self, annotation):
        origin = typing.get_origin(annotation)
        if origin is None:
            name = type_name(annotation)
            return name if annotation in _PLAIN else self.name_of(name, annotation)
        texts = ["NoneType" if arg is type(None) else "()" if arg == () else self.type(arg) for arg in typing.get_args(annotation)]
        if origin is types.UnionType:
            return "|".join(texts)
        if origin is typing.Union:
            head = self.name_of("typing.Union", typing.Union)
        elif origin in _TYPING and not isinstance(annotation, types.GenericAlias):
            head = self.name_of(f"typing.{_TYPING[origin]}", getattr(typing, _TYPING[origin]))
        else:
            head = type_name(origin) if origin in _PLAIN else self.name_of(type_name(origin), origin)
        return f"{head}[{','.join(texts)}]" if texts else head

    def value(self, arg):
        """An argument's text."""
        if isinstance(arg, Node):
            return self.names_of(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.name_of(qualified_name(type(arg)), type(arg))}({', '.join(map(self.value, arg))}{',' if len(arg) == 1 else ''})"
        if isinstance(arg, enum.Enum):
            return f"{self.name_of(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, jtensor.Size):
            return repr(arg)
        if isinstance(arg, tuple):
            return f"({', '.join(map(self.value, arg))}{',' if len(arg) == 1 else ''})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.value, arg))}]"
        if isinstance(arg, dict):
            return f"{{{', '.join(f'{key!r}: {self.value(item)}' for key, item in arg.items())}}}"
        if isinstance(arg, slice):
            return f"slice({', '.join(map(self.value, (arg.start, arg.stop, arg.step)))})"
        if isinstance(arg, type) or callable(arg) and hasattr(arg, "__name__"):
            return self.name_of(qualified_name(arg), arg)
        return repr(arg)

    def arguments(self, args, kwargs):
        return ", ".join([*map(self.value, args), *(f"{name} = {self.value(arg)}" for name, arg in kwargs.items())])

    def names_of(self, node):
        """What a node is called in the text: mostly as in the graph, where it may hide what Python has."""
        return self.names.create_name(node.name, node)

    def mark(self, node, verbose=False):
        """A node's annotation; of a tensor without one, ``verbose``, its dtype and sizes where they are told."""
        if node.type is not None:
            return f" : {self.type(node.type)}"
        told = node.meta.get("val") if verbose else None
        return f': "{_DTYPES[told.dtype]}{list(told.shape)}"' if isinstance(told, jtensor.Tensor) and told.dtype in _DTYPES else ""

    def statement(self, node, verbose=False):
        """A node's line, without what is let go of after it."""
        mark, node_name = self.mark(node, verbose), self.names_of(node)
        if node.op == "get_attr":
            return f"{node_name}{mark} = {path(self.root, node.target)}"
        if node.op == "call_module":
            return f"{node_name}{mark} = {path(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            return f"{node_name}{mark} = {path(self.value(node.args[0]), node.target)}({self.arguments(node.args[1:], node.kwargs)})"
        name = getattr(node.target, "__name__", None)
        if getattr(node.target, "__module__", None) == "_operator":
            shown = [self.value(arg) for arg in node.args]
            if name in MAGIC:
                return f"{node_name}{mark} = {MAGIC[name].format(*shown)}"
            if name in INPLACE:
                return f"{INPLACE[name].format(*shown)};  {node_name}{mark} = {shown[0]}"
        called = self.name_of(qualified_name(node.target), node.target)
        if called == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            return f"{node_name}{mark} = {path(self.value(node.args[0]), node.args[1])}"
        if node.meta.get("is_wrapped"):
            self.wrapped.setdefault(called)
        return f"{node_name}{mark} = {called}({self.arguments(node.args, node.kwargs)})"


_DTYPES = {jtensor.float64: "f64", jtensor.float32: "f32", jtensor.float16: "f16", jtensor.bfloat16: "bf16", jtensor.complex64: "c64",
           jtensor.complex128: "c128", jtensor.int8: "i8", jtensor.int16: "i16", jtensor.int32: "i32", jtensor.int64: "i64",
           jtensor.bool: "b8", jtensor.uint8: "u8"}
_PLAIN = (int, float, bool, str, complex, list, dict, tuple)
_TYPING = {list: "List", dict: "Dict", set: "Set", frozenset: "FrozenSet", tuple: "Tuple"}


def path(base, target):
    """An attribute of an attribute ..., in Python: what is no identifier by ``getattr``.

    >>> path("self", "layers.0.weight")
    'getattr(self.layers, "0").weight'
    """
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


class CodeGen:
    """How a graph becomes text. A subclass may write the function's head and what it returns, and rearrange arguments and result."""

    _body_transformer = None

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        """The function's first line. ``free_vars``: its arguments' text."""
        if not free_vars or free_vars[0] != "self":
            free_vars = ["self", *free_vars]
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        """The statement that returns."""
        return f"return {(repr_fn or repr)(output_args)}"

    def _output(self, result, text_of):
        # A user's own may be older than what it is told beside the result.
        takes = inspect.signature(self.generate_output).parameters
        more = {"repr_fn": text_of} if "repr_fn" in takes or any(p.kind is p.VAR_KEYWORD for p in takes.values()) else {}
        return self.generate_output(result, **more)

    def process_inputs(self, *args):
        """The placeholders' values of the program's arguments: these."""
        return args

    def process_outputs(self, outputs):
        """The program's result of what the output node gives: that."""
        return outputs

    def additional_globals(self):
        """Names that the text needs beside those of the nodes: pairs (name, value)."""
        return []

    def _gen_python_code(self, nodes, root_module, namespace, *, verbose=False):
        writer, free, body, returns = _Writer(root_module, namespace), [], [], ""
        for name, value in self.additional_globals():
            writer.globals[name] = value
        last, told = last_uses(nodes), None
        for node in nodes:
            if node.op == "placeholder":
                mark = writer.mark(node, verbose)
                free.append(f"{node.target}{mark}{f' = {writer.value(node.args[0])}' if node.args else ''}")
                raw = node.target.replace("*", "")
                if raw != writer.names_of(node):
                    body.append(f"{writer.names_of(node)} = {raw}\n")
                continue
            if verbose and node.op != "output" and told != (node.stack_trace or ""):
                told = node.stack_trace or ""
                body.append(f"\n# {_summary(told)}\n")
            if node.op == "output":
                if node.type is not None:
                    returns = f" -> {writer.type(node.type)}"
                body.append(f"{self._output(node.args[0], writer.value)}\n")
                continue
            gone = [*last.get(node, ()), *([] if node.users else [node])]
            freed = f";  {' = '.join(map(writer.names_of, gone))} = None" if gone else ""
            body.append(f"{writer.statement(node, verbose)}{freed}\n")
        if not body:
            body.append("pass\n")
        if self._body_transformer is not None:
            body = self._body_transformer(body)
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped)
        text = "\n".join(f"    {line}" for line in "".join(body).lstrip("\n").split("\n"))
        return PythonCode(f"\n{wraps}\n\n{self.gen_fn_def(free, returns)}\n{text}", writer.globals)


def _summary(trace):
    """The innermost line of a traceback's text, for a comment."""
    frames = re.findall(r'File "(.+)", line (\d+), in (.+)\n\s*(.*)', trace)
    return "File: {}:{} in {}, code: {}".format(*frames[-1]) if frames else "No stacktrace found for following nodes"


def last_uses(nodes):
    """{node: the nodes that nobody needs after it}, in the order of its arguments."""
    seen, found = set(), {}
    for node in reversed(nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(node, []).append(used)
    return found


class _PyTreeInfo(typing.NamedTuple):
    """How a program's arguments and result are nested."""

    orig_args: list
    in_spec: object
    out_spec: object


class _PyTreeCodeGen(CodeGen):
    """Text of a program whose placeholders are the leaves of nested arguments, and whose result is a nest again."""

    def __init__(self, pytree_info):
        self.pytree_info = pytree_info

    def process_inputs(self, *args):
        """The leaves."""
        return pytree.tree_flatten(list(args))[0]

    def process_outputs(self, out):
        """The nest that the flat result stands for."""
        if not isinstance(out, (list, tuple)):
            out = [out]
        return pytree.tree_unflatten(list(out), self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        """The original arguments, and a line that takes the leaves out of them."""
        own = self.pytree_info.orig_args
        head = super().gen_fn_def(own, maybe_return_annotation)
        leaves = [*own[:own[:1] == ["self"]], *(free.split(" :")[0].split(" =")[0] for free in free_vars)]
        if not leaves:
            return head
        spec = self.pytree_info.in_spec
        taken = f"[{', '.join(own)}]"
        if spec.type is tuple and [child.type for child in spec.children()] == [tuple, dict]:      # of positional ones and keywords
            first, named = spec.children()
            at = first.num_children
            keywords = ", ".join([f"{key!r}:{name}" for key, name in zip(named.context, own[at:], strict=False)])
            taken = f"([{', '.join(own[:at])}], {{{keywords}}})"
        return f"{head}\n    {', '.join(leaves)}, = fx_pytree.tree_flatten_spec({taken}, self._in_spec)"

    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        """Puts the nest together."""
        shown = (repr_fn or repr)(output_args)
        return f"return pytree.tree_unflatten({shown}, self._out_spec)" if self.pytree_info.out_spec else f"return {shown}"

    def additional_globals(self):
        """The two helpers and the two descriptions of nests."""
        from . import _pytree
        return [("fx_pytree", _pytree)]
