"""A module whose ``forward`` is the program of a graph.

Owns: `GraphModule`: which parameters and modules it takes over, when the program is made anew, how it is copied and pickled. May not
know: how graphs are made.
"""
import contextlib
import copy
import itertools
import linecache
import os
import sys

import jtensor

from ..nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, Linear, Module, Parameter
from .codegen import BUILTIN, _PyTreeCodeGen
from .graph import Graph

__all__ = ["GraphModule", "reduce_graph_module"]

_REMINDER = "# To see more debug info, please use `graph_module.print_readable()`"
_programs = itertools.count()


# Modules whose text makes one like them.
_WRITTEN_OUT = (Linear, Conv1d, Conv2d, Conv3d, BatchNorm1d, BatchNorm2d, BatchNorm3d)


def _compiled(src, space):
    """The function ``forward`` of a program's text. Its lines are shown in tracebacks."""
    name = f"<eval_with_key>.{next(_programs)}"
    linecache.cache[name] = len(src), None, src.splitlines(True), name
    space = dict(space)
    exec(compile(src, name, "exec"), space)
    return space["forward"]


_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"      # an entry of ``meta``, which torch.export makes


class _CodeOnlyModule(Module):
    """A module of nothing but these attributes."""

    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def _copy_attr(source, module, target):
    """Has a module have what another one has under a dotted name: the same object."""
    *path, last = target.split(".")
    for part in path:
        found, own = getattr(source, part), getattr(module, part, None)
        if found is own:
            return
        if own is None:
            own = Module()
            setattr(module, part, own)
        source, module = found, own
    assign(getattr(source, last), module, last)


def assign(value, module, target):
    """Gives a module something under a dotted name; modules on the way are made."""
    *path, last = target.split(".")
    for part in path:
        if getattr(module, part, None) is None:
            setattr(module, part, Module())
        module = getattr(module, part)
    if isinstance(value, jtensor.Tensor) and not isinstance(value, Parameter):
        module.register_buffer(last, value)
    else:
        setattr(module, last, value)


class GraphModule(Module):
    """A module that does what a graph says.

    ``root``: the module, or {name: object}, that has what the graph's "get_attr" and "call_module" nodes name; these are taken over, not
    copied. ``graph``: a `Graph`, which this module owns from now on. ``class_name``: what its class is called.
    ``graph`` may be set; after changes of the graph `recompile` makes the program anew. ``code``: the program's text.

    >>> import jtensor as torch
    >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    >>> for node in module.graph.nodes:
    ...     if node.op == "call_module":
    ...         with module.graph.inserting_after(node):
    ...             twice = module.graph.call_function(torch.mul, (node, 2))
    ...         _ = node.replace_all_uses_with(twice, lambda user: user is not twice)
    >>> _ = module.recompile()
    >>> module(torch.tensor([-1.0, 3.0]))
    tensor([0., 6.])

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.GraphModule
    """

    def __new__(cls, *args, **kwargs):
        # A class of its own, since its `forward` is.
        plain = next(kind for kind in cls.__mro__ if "_is_graph_module_impl" not in vars(kind))
        made = type(plain.__name__, (plain,), {"_is_graph_module_impl": True, "__module__": plain.__module__, "__doc__": plain.__doc__,
                                               "__qualname__": plain.__qualname__})
        return super().__new__(made)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = type(self).__qualname__ = class_name
        self._class_name = class_name
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            targets = []
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    if node.target not in root:
                        raise RuntimeError(f"Node {node} referenced target {node.target} but that target was not provided in ``root``!")
                    targets.append(node.target)
            for target in sorted(targets, key=lambda name: name.count(".")):
                assign(root[target], self, target)
        else:
            raise RuntimeError("Unsupported type " + str(root) + " passed for root!")
        self.graph = graph
        self._tracer_cls = graph._tracer_cls
        self._tracer_extras = graph._tracer_extras or {}
        self.meta = dict(root.meta) if isinstance(getattr(root, "meta", None), dict) else {}
        self._replace_hooks, self._create_node_hooks, self._erase_node_hooks, self._deepcopy_hooks = [], [], [], []

    # -- the graph ------------------------------------------------------------------------------------------------------

    @property
    def graph(self):
        """The graph that it runs."""
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The text of the program that it runs."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self):
        """Makes the program of the graph as it is now. Answers its `PythonCode`."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            _, self._in_spec, self._out_spec = self._graph._codegen.pytree_info
        made = self._graph.python_code(root_module="self")
        self._code = made.src
        type(self).forward = _compiled(made.src, made.globals)
        return made

    # -- modules --------------------------------------------------------------------------------------------------------

    def add_submodule(self, target, m):
        """Puts in a module under a dotted name; modules on the way are made. False where something else stands in the way."""
        *path, last = target.split(".")
        module = self
        for part in path:
            if not hasattr(module, part):
                setattr(module, part, Module())
            module = getattr(module, part)
            if not isinstance(module, Module):
                return False
        module.add_module(last, m)
        return True

    def delete_submodule(self, target):
        """Takes out a module. False where there is none of the name."""
        *path, last = target.split(".")
        module = self
        for part in path:
            module = getattr(module, part, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, last, None), Module):
            return False
        delattr(module, last)
        return True

    def delete_all_unused_submodules(self):
        """Takes out the modules that no node names, and none inside of which one is named."""
        used = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                path = node.target.split(".")
                used.update(".".join(path[:depth]) for depth in range(1, len(path) + 1))
                with contextlib.suppress(AttributeError):          # a node whose module is yet to come, or that names no module
                    used.update(f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # -- copies ---------------------------------------------------------------------------------------------------------

    def _state(self):
        state = dict(self.__dict__)
        del state["_graph"]
        return state

    def __reduce__(self):
        made = self._graph.python_code(root_module="self")
        state = {name: value for name, value in self._state().items() if not name.endswith("_hooks") or name in Module().__dict__}
        own = {name: value for name, value in made.globals.items() if name not in BUILTIN}
        return reduce_graph_module, ({**state, "_code": made.src, "_graphmodule_cls_name": self._class_name}, _imports(own))

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        graph = copy.deepcopy(self._graph, memo)
        for name, value in self._state().items():
            made.__dict__[name] = copy.deepcopy(value, memo)
        type(made).__name__ = type(made).__qualname__ = self._class_name
        made.graph = graph
        for hook in self._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self):
        made = GraphModule(self, self.graph, self._class_name)
        made.meta = self.meta
        return made

    def to_folder(self, folder, module_name="FxModule"):
        """Writes the program and its state to a folder: ``module.py``, which can be imported, and the state beside it."""
        os.makedirs(folder, exist_ok=True)
        jtensor.save(self.state_dict(), os.path.join(folder, "state_dict.pt"))
        made = self._graph.python_code(root_module="self")
        lines = [f"{_imports(made.globals)}", "from torch.nn import *", "", "", f"class {module_name}(torch.nn.Module):",
                 "    def __init__(self):", "        super().__init__()"]
        for name, module in self._modules.items():
            if type(module) in _WRITTEN_OUT:
                lines.append(f"        self.{name} = {module!r}")
            else:
                jtensor.save(module, os.path.join(folder, f"{name}.pt"))
                lines.append(f"        self.{name} = torch.load(r'{os.path.join(folder, f'{name}.pt')}', weights_only=False)")
        for name, buffer in self._buffers.items():
            lines.append(f"        self.register_buffer('{name}', torch.empty({list(buffer.shape)}, dtype={buffer.dtype}))")
        for name, parameter in self._parameters.items():
            lines.append(f"        self.{name} = torch.nn.Parameter(torch.empty({list(parameter.shape)}, dtype={parameter.dtype}))")
        lines += [f"        self.load_state_dict(torch.load(r'{os.path.join(folder, 'state_dict.pt')}'))", "",
                  *(f"    {line}" for line in made.src.strip().split("\n")), ""]
        with open(os.path.join(folder, "module.py"), "w") as file:
            file.write("\n".join(lines))
        with open(os.path.join(folder, "__init__.py"), "w") as file:
            file.write("from .module import *\n")

    # -- text -----------------------------------------------------------------------------------------------------------

    def __str__(self):
        return "\n".join([super().__str__(), self._code, _REMINDER])

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False, **options):
        """The program as a class, and those of the graph modules inside of it. Printed, too, unless ``print_output`` is False."""
        code = self._graph.python_code("self", verbose=True, include_stride=include_stride, include_device=include_device, colored=colored)
        parts = [f"class {self._class_name}(torch.nn.Module):\n{_indented(code.src.strip(chr(10)))}"]
        for module in self.children():
            if isinstance(module, GraphModule):
                parts.append(_indented(module.print_readable(False)))
        text = "\n".join(parts)
        if print_output:
            print(text)
        return text

    # -- hooks ----------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _set_replace_hook(self, f):
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f):
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f):
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f):
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f):
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f):
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f):
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f):
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f):
        self._deepcopy_hooks.remove(f)


GraphModule.__module__ = "torch.fx.graph_module"


def _indented(text):
    return "\n".join(f"    {line}" if line.strip() else "" for line in text.split("\n"))


def _imports(space):
    """Statements that bring a program's globals."""
    lines = []
    for name, value in space.items():
        if name in BUILTIN:
            lines.append(BUILTIN[name][0])
        elif hasattr(value, "__name__") and hasattr(value, "__module__"):
            lines.append(f"from {value.__module__} import {value.__name__} as {name}")
        elif isinstance(value, type(sys)):
            lines.append(f"import {value.__name__} as {name}")
        else:
            lines.append(f"{name} = {value!r}")
    return "\n".join(lines)


class _Keep(Module):
    """What a pickled module is put together on."""

    def __init__(self, state):
        super().__init__()
        self.__dict__ = state


def reduce_graph_module(body, import_block):
    """The module of a pickle: its text is traced again, so that it has a graph."""
    from ._symbolic_trace import Tracer
    code, name = body["_code"], body["_graphmodule_cls_name"]
    forward = _compiled(import_block + code, {name: value for name, (_, value) in BUILTIN.items()})
    kept = _Keep({key: value for key, value in body.items() if key not in ("_code", "_graphmodule_cls_name")})
    kind = type("_Kept", (_Keep,), {"forward": forward})
    kept.__class__ = kind

    class Whole(body.get("_tracer_cls") or Tracer):
        """Looks into no module."""

        def is_leaf_module(self, m, module_qualified_name):
            return True
    graph = Whole().trace(kept)
    graph._tracer_cls = body.get("_tracer_cls")
    made = GraphModule(kept, graph, name)
    for key, value in body.items():
        made.__dict__.setdefault(key, value)
    made.__dict__.pop("_graphmodule_cls_name", None)
    return made


