"""TorchScript made of traces: the classes of a module's parts with their methods, or a function, as the text of a file.

Owns: which class has which method, names of classes. May not know: how anything was traced, how lines are written (`text`).
"""
from ..base import sites
from . import graph, programs
from .text import Constants, Writer


class Program:
    """The classes of a module and of all below it, with the methods that were traced; what `archive.write` wants to know of a file."""

    def __init__(self, module=None):
        self.methods, self.classes, self._taken = {}, {}, set()   # {path: {name of a method: (block, type of the result)}}
        self._modules = {}
        if module is not None:
            self._place(module, ())

    def _place(self, module, path):
        self._modules[path] = module
        self.classes[path] = unique(qualified(type(module)), self._taken)
        self.methods[path] = {}
        for name, child in module._modules.items():
            if child is not None:
                self._place(child, (*path, name))

    def add(self, name, trace):
        """A traced method of the outermost module."""
        root = trace.root
        kind = root.results[0].type
        graph.settle(root)
        self._add(name, root, kind)

    def _add(self, name, block, kind):
        for node in list(block.nodes):
            if node.block is not None:
                inner = node.block
                known = self.methods[inner.path]
                node.data = "forward" + (str(sum(one.startswith("forward") for one in known)) if "forward" in known else "")
                self._add(node.data, inner, _packed(block, node))
        self.methods[block.path][name] = block, kind

    def finish(self):
        """Writes the text, and reads it again as that of a file: `unit`, with `constants` and the `records` of an archive."""
        constants, sources = Constants(), {}
        for path, module in self._modules.items():
            room, _, _ = self.classes[path].rpartition(".")
            file = room.replace(".", "/") + ".py"
            sources[file] = sources.get(file, "") + self._class(path, module, constants)
        return self._read(sources, constants)

    def _read(self, sources, constants):
        self.constants = constants.tensors
        self.records = {f"code/{file}": text.encode() for file, text in sources.items()}
        self.unit = programs.Unit(sources)
        self.unit.constants = self.constants
        return self

    def kind(self, path):
        """The class of the module at a path, whose methods know how PyTorch shows them."""
        found = self.unit.find(self.classes[path])
        for name, (block, kind) in self.methods[path].items():
            found.methods[name].shown = Writer(Constants()).function(name, block, "", kind)
        return found

    def _class(self, path, module, constants):
        parameters = [name for name, one in module._parameters.items() if one is not None]
        buffers = [name for name, one in module._buffers.items() if one is not None]

        def listed(names):
            return "[" + "".join([f'"{name}", ' for name in names]) + "]"
        lines = [f"class {self.classes[path].rpartition('.')[2]}(Module):", f"  __parameters__ = {listed(parameters)}",
                 f"  __buffers__ = {listed(buffers)}"]
        names = dict.fromkeys([*parameters, *buffers], "Tensor") | {"training": "bool", "_is_full_backward_hook": "Optional[bool]"}
        names |= {name: self.classes[(*path, name)] for name, child in module._modules.items() if child is not None}
        lines += [f"  {name} : {kind}" if name.isidentifier() else f'  __annotations__["{name}"] = {kind}' for name, kind in names.items()]
        methods = [Writer(constants, 1).function(name, block, self.classes[path], kind)
                   for name, (block, kind) in self.methods[path].items()]
        return "\n".join(lines) + "\n" + "".join(methods)


PLACEHOLDER = "__torch__.PlaceholderModule"


class FunctionProgram(Program):
    """The program of a function, which is that of a module without attributes."""

    def __init__(self, name, trace):
        super().__init__()
        kind = trace.root.results[0].type
        graph.settle(trace.root)
        graph.flatten(trace.root)
        self.methods, self.classes = {(): {"forward": (trace.root, kind)}}, {(): PLACEHOLDER}
        constants = Constants()
        text = "class PlaceholderModule(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
        text += Writer(constants, 1).function("forward", trace.root, PLACEHOLDER, kind)
        self._read({"__torch__.py": text}, constants)
        self.shown = Writer(Constants()).function(name, trace.root, None, kind)


def _packed(block, node):
    """Makes one result of a call's results; answers its type."""
    inner = node.block
    if not inner.results:
        return "NoneType"
    if len(inner.results) == 1:
        return inner.results[0].type
    kind = f"Tuple[{', '.join([value.type for value in inner.results])}]"
    packed = graph.Node("prim::TupleConstruct", inner.results, (kind,))
    inner.nodes.append(packed)
    inner.results = [packed.output]
    unpacked = graph.Node("prim::TupleUnpack", (), ())
    unpacked.outputs = node.outputs
    for value in node.outputs:
        value.node = unpacked
    whole = graph.Value(node, kind)
    node.outputs, unpacked.inputs = [whole], [whole]
    block.nodes.insert(block.nodes.index(node) + 1, unpacked)
    return kind


def unique(name, taken):
    """A qualified name that is not ``taken``, which it is then: PyTorch numbers the others.

    >>> taken = {"__torch__.Net"}
    >>> unique("__torch__.Net", taken), unique("__torch__.Net", taken)
    ('__torch__.___torch_mangle_0.Net', '__torch__.___torch_mangle_1.Net')
    """
    room, _, short = name.rpartition(".")
    made, at = name, 0
    while made in taken:
        made, at = f"{room}.___torch_mangle_{at}.{short}", at + 1
    taken.add(made)
    return made


def qualified(kind):
    """A class's or function's name among those of TorchScript."""
    room = kind.__module__.replace("jtensor", "torch", 1) if sites.is_own(kind.__module__) else kind.__module__
    name = kind.__name__
    if name == "<lambda>":
        name = "_lambda"
    return "__torch__." + (name if room == "__main__" else f"{room}.{name}")
