"""Imports go one way: a room imports only rooms of layers below its own, and the few exceptions say why.

base -> trace -> storage -> views -> ops -> autograd -> tensor -> the rooms on top -> alias
"""

import ast
import functools
import math
import re
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "jtensor"
LAYERS = ["base", "trace", "storage", "views", "ops", "autograd", "tensor"]
FOLDERS = {                 # of a layer, each above those before it
    "trace": ["cache", "lowering", "op_by_op", "dynamic_shapes"],
    "tensor": ["calling", "viewing", "lifted", "creating", "recording", "replaying", "memory"],
}
TOP, ROOT, ALIAS = len(LAYERS), len(LAYERS) + 1, len(LAYERS) + 2

# Rooms on top that may import each other, in this direction only. A room on top may also `import jtensor` itself, whose
# names its functions then look up when they are called: it is written in terms of the public interface.
SIBLINGS = {
    "nn": {"utils": "hook handles", "overridable": "how PyTorch prints a function"},
    "optim": {"nn": "parameters", "utils": "hook handles"},
    "func": {"random": "numbers that are drawn inside of vmap", "utils": "nests of tensors"},
    "amp": {"nn": "the functions that a region casts for"},
    "cuda": {"random": "the seeds and states of its generators", "amp": "its older names", "streams": "queues and marks",
             "_legacy": "its tensor types of old"},
    "accelerator": {"streams": "queues and marks", "cuda": "what its memory is"},
    "cpu": {"amp": "its older names"},
    "jit": {"nn": "a class of modules", "serialization": "files", "library": "operators by the names of their schemas",
            "futures": "what fork answers"},
    "onnx": {"jit": "what is written was traced", "nn": "a class of modules", "version": "files say what wrote them"},
    "export": {"nn": "a class of modules", "jit": "records what runs", "fx": "graphs", "library": "operators by their names",
               "utils": "nests of arguments", "serialization": "files", "_dynamo": "PyTorch has an exception of it there"},
    "_dynamo": {"compiler": "what it does of the same", "nn": "a class of modules"},
    "distributed": {"nn": "a class of modules", "futures": "what is under way is one", "optim": "optimizers whose state is spread",
                    "serialization": "files", "utils": "nests of tensors", "_dynamo": "compiled modules have no part in names"},
    "fx": {"nn": "a class of modules", "utils": "nests of arguments", "overrides": "the names of functions, and that they ask proxies",
           "overridable": "where PyTorch has them", "_subclasses": "what a node gives, without its values"},
    "_higher_order_ops": {"utils": "nests of tensors", "choices": "two of them have a public name"},
    "_functorch": {"func": "its older names", "utils": "nests of tensors", "nn": "a class of modules",
                  "fx": "graphs of functions, which PyTorch had there"},
    "overrides": {"_ignored": "the table of functions that do not ask"},
    "ao": {"nn": "modules"},
    "quantization": {"ao": "its newer name"},
    "_vmap_internals": {"func": "its newer name"},
    "_custom_ops": {"library": "its newer name"},
    "hub": {"serialization": "reads checkpoints"},
    "utils": {"hub": "its older name", "library": "operators that selective checkpointing is told of"},
    "dispatching": {"library": "operators by their names", "jit": "the forms of operators", "export": "arguments as operators have them",
                    "random": "functions that ask", "signal": "the same"},
    "profiler": {"dispatching": "functions that tell of their calls, and what PyTorch calls them", "jit": "the forms of operators",
                 "library": "the names of operators", "nn": "functions that tell", "optim": "steps that tell",
                 "utils": "loaders that tell, and how many operations a program takes"},
    "_C": {"random": "PyTorch has generators there", "nn": "PyTorch has some of its functions there",
           "func": "what a tensor is inside of its functions", "_functorch": "PyTorch has some of that room's functions there",
           "distributed": "PyTorch has stores and groups there", "profiler": "PyTorch has some of its types there"},
    "_ops": {"library": "programs ask for its classes there"},
    "_tensor": {"serialization": "pickles name its functions there"},
    "_utils": {"serialization": "pickles name its functions there"},
    "_jit_internal": {"futures": "annotations name the type there", "jit": "its marks and annotations are the same"},
    "serialization": {"sparse": "puts sparse tensors together again", "nested": "the same of nested ones",
                      "_legacy": "the names of the types of old"},
    "nested": {"symbols": "lengths that are no numbers are such", "utils": "dictionaries by tensors"},
    "sparse": {"_legacy": "the names of the types of old"},
}

# Modules of upper rooms that import nothing of the library, so that any room may import them.
LEAVES = {"utils.hooks": "the removable handle that autograd, nn and optim hand out; PyTorch has it there",
          "utils.serialization.config": "settings of files; PyTorch has them there"}

# Imports inside a function, against the arrows: (importing module or package, imported room) -> the reason.
LAZY = {
    ("autograd.transfer", "tensor"): "asks for the graph edge of a tensor, which only the room that makes tensors knows",
    ("ops.families", "tensor"): "a composite is a function of tensors, declared in the family of the operators that it is made of",
    ("ops.families", ""): "the same, in the words of the public interface",
    ("autograd.forward_ad", "tensor"): "asks for tensors with a tangent, which only the rooms that make tensors know",
    ("nn.parallel.distributed", "distributed"): "a module that several processes train, which is loaded by those who make one",
    ("autograd.profiler_util", "profiler"): "PyTorch has the parts of a profile there",
    ("autograd.profiler", "profiler"): "the profiler's older place, which its names are looked up in",
    ("autograd.functional", "func"): "a Jacobian by columns is one call for a batch of directions",
    ("autograd.functional", ""): "written in terms of the public interface, looked up when a function is called",
    ("autograd.gradcheck", ""): "the same",
    ("autograd.undefined", ""): "the same",
    ("ops.families", "sparse"): "a table of rows whose gradient is asked to be sparse",
    ("tensor.seldom", "sparse"): "how a dense tensor becomes a sparse one, which only that room knows",
    ("tensor.viewing.views", "tensor"): "adds up into memory in the backward of as_strided, which is seldom, and tensors of batches there",
    ("tensor.creating.create", "sparse"): "zeros in a sparse layout",
    ("tensor.custom_levels", "utils"): "the `vmap` of a custom function takes and answers nests, whose room is loaded by those who use it",
    ("library.spaces", "jit"): "the schema of an operator as an object is made of that room's types, for those who ask",
    ("func.rewriting", "fx"): "while a graph is made, writes become operators without; whoever makes one has that room",
    ("ops.families.composing", "autograd"): "checks `out=` of a composite as the dispatcher checks an operator's",
}


def listed(arrow):
    """The entry of the table above that lets an arrow pass, or None."""
    for source, target in LAZY:
        if arrow.lazy and f"{arrow.source}.".startswith(f"{source}.") and room(arrow.target) == target:
            return source, target


class Arrow(NamedTuple):
    source: str  # the importing module, without the package's name; "" is the package itself, which `namespace` fills
    line: int
    target: str
    lazy: bool  # inside a function: runs when the function is called


def arrows(package):
    """All imports of the package's modules from each other."""
    names = {path.relative_to(package).with_suffix("").as_posix().replace("/", ".") for path in package.rglob("*.py")}
    modules = {name.removesuffix("__init__").rstrip(".") for name in names}
    modules |= {".".join(name.split(".")[:depth]) for name in names for depth in range(1, name.count(".") + 1)}
    for name in sorted(names):
        path = package / (name.replace(".", "/") + ".py")
        source = name.removesuffix("__init__").rstrip(".")
        folder = name.split(".")[:-1]
        yield from _of_tree(ast.parse(path.read_text()), source, folder, modules, package.name, lazy=False)


@functools.cache
def of_package():
    return list(arrows(PACKAGE))


def _of_tree(tree, source, folder, modules, package, lazy):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):                                  # in which nothing can be imported
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        inner = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(node, ast.Import):
            targets = [one.name.split(".", 1)[1:] for one in node.names if one.name.split(".")[0] == package]
            targets = ["".join(rest) for rest in targets]
        elif isinstance(node, ast.ImportFrom):
            targets = _from(node, folder, modules, package)
        else:
            yield from _of_tree(node, source, folder, modules, package, inner)
            continue
        yield from (Arrow(source, node.lineno, target, lazy) for target in targets)


def _from(node, folder, modules, package):
    if node.level:
        base = [*folder[: len(folder) - node.level + 1], *(node.module or "").split(".")]
    elif node.module.split(".")[0] == package:
        base = node.module.split(".")[1:]
    else:
        return
    base = ".".join(part for part in base if part)
    for one in node.names:
        full = f"{base}.{one.name}".lstrip(".")
        yield full if full in modules else base


def room(module):
    return module.split(".")[0]


def layer(module):
    name = room(module)
    return ROOT if name in ("", "namespace") else ALIAS if name in ("alias", "__main__") else LAYERS.index(name) if name in LAYERS else TOP


def folder(module):
    """The place of a module's folder among those of its layer; nothing is said of modules that lie beside them."""
    folders = FOLDERS.get(room(module), ())
    name = ".".join(module.split(".")[1:2])
    return folders.index(name) if name in folders else math.nan


def against(arrow):
    """Why an arrow is wrong, or None."""
    source, target = layer(arrow.source), layer(arrow.target)
    if room(arrow.source) == room(arrow.target):
        return "points up" if folder(arrow.source) < folder(arrow.target) else None
    if arrow.target in LEAVES or source == ALIAS:
        return None
    if target == ALIAS:
        return "nothing may know the alias"
    if source == ROOT or target < source:
        return None
    if source == TOP and (target == ROOT or room(arrow.target) in SIBLINGS.get(room(arrow.source), ())):
        return None
    return "points up" if target > source else "neighbours"


def wrong(found):
    return {
        (arrow.source, room(arrow.target)): f"{arrow.source}:{arrow.line} imports {arrow.target or 'the package itself'}: {reason}"
        for arrow in found
        if (reason := against(arrow)) and not listed(arrow)
    }


def test_imports_go_one_way():
    assert not list(wrong(of_package()).values())


def test_every_exception_is_still_one():
    found = of_package()
    assert set(LAZY) == {listed(arrow) for arrow in found if against(arrow)} - {None}, "listed, but no longer there"
    siblings = {(room(a.source), room(a.target)) for a in found}
    assert {(a, b) for a, more in SIBLINGS.items() for b in more} <= siblings
    assert set(LEAVES) <= {arrow.target for arrow in found}
    assert not [arrow for arrow in found if arrow.source in LEAVES]


@pytest.mark.parametrize(
    "file, text, message",
    [
        ("base/a.py", "from ..trace import b", "base.a:1 imports trace.b: points up"),
        ("base/a.py", "def f():\n    import pack.trace.b", "base.a:2 imports trace.b: points up"),
        ("base/a.py", "import pack", "base.a:1 imports the package itself: points up"),
        ("views/a.py", "from .. import trace, tensor", "views.a:1 imports tensor: points up"),
        ("fft/a.py", "from pack.special import a", "fft.a:1 imports special: neighbours"),
        ("nn/a/b.py", "from ...alias import finder", "nn.a.b:1 imports alias: nothing may know the alias"),
        ("trace/a.py", "from ..base.x import y", None),
        ("trace/a.py", "from .b import y", None),
        ("trace/cache/a.py", "from ..b import y", None),
        ("trace/op_by_op/a.py", "from ..cache.b import y", None),
        ("trace/cache/a.py", "from ..op_by_op import b", "trace.cache.a:1 imports trace.op_by_op.b: points up"),
        ("fft/a.py", "import pack\nfrom ..tensor import tensor", None),
        ("alias/a.py", "from .. import nn", None),
    ],
)
def test_the_check_bites(tmp_path, file, text, message):
    for name in ("trace/b.py", "trace/cache/b.py", "trace/op_by_op/b.py", "tensor/__init__.py", "__init__.py", file):
        path = tmp_path / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "pack" / file).write_text(text)
    assert list(wrong(arrows(tmp_path / "pack")).values()) == ([message] if message else [])


def _all_sources():
    return {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}


def test_private_jax_stays_in_one_room():
    users = {name for name, text in _all_sources().items() if "jax._src" in text}
    assert users <= {"base/compat/inside.py"}


def test_jax_configuration_is_never_touched():
    assert not [name for name, text in _all_sources().items() if "jax.config.update" in text or "config.update(\"jax" in text]


def test_torch_is_never_imported():
    imported, named = set(), re.compile(r"\b(?:import|from)\s[^#\n]*\btorch\b")
    for name, text in _all_sources().items():
        for node in ast.walk(ast.parse(text)) if named.search(text) else ():
            modules = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module]
            imported |= {(name, module) for module in modules if module.split(".")[0] == "torch"}
    assert not imported
