"""One operation of a graph: what is done, to what, and who uses the result.

Owns: `Node`, how its arguments are walked and shown. May not know: how a graph is made of a program, or a program of a graph.
"""
import collections.abc
import operator

import jtensor

from .immutable_collections import immutable_dict, immutable_list
from .naming import pretty, qualified_name, type_name

__all__ = ["Node", "map_arg", "map_aggregate", "has_side_effect"]

_get_qualified_name, _type_repr = qualified_name, type_name          # PyTorch's names for them, which libraries use

Target = collections.abc.Callable | str                 # for annotations: what a node calls, and what may be an argument of it
Argument = object
OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")
BASE_TYPES = (str, int, float, bool, complex, jtensor.dtype, jtensor.device, jtensor.memory_format, jtensor.layout)
_side_effectful_functions = {jtensor._assert, jtensor._assert_async, operator.setitem}


def has_side_effect(fn):
    """Marks a function as one whose calls are kept even where nobody uses their results. Answers the function.

    >>> has_side_effect(setattr) is setattr
    True
    """
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a, fn):
    """``fn`` of everything inside of nested tuples, lists, dictionaries and slices, in a nest of the same kind that cannot be changed.

    >>> map_aggregate([1, (2, {"a": 3})], lambda x: x * 10)
    [10, (20, {'a': 30})]
    """
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(*[map_aggregate(part, fn) for part in (a.start, a.stop, a.step)])
    return fn(a)


def map_arg(a, fn):
    """``fn`` of every node inside of an argument; the rest stays.

    >>> map_arg((1, [2]), lambda node: None)
    (1, [2])
    """
    return map_aggregate(a, lambda item: fn(item) if isinstance(item, Node) else item)


def _shown(arg):
    """An argument in a graph's text: nodes as ``%name``, strings as they are."""
    if isinstance(arg, Node):
        return f"%{arg}"
    if isinstance(arg, tuple) and hasattr(arg, "_fields"):
        return f"{type(arg).__name__}({', '.join(f'{name}={_shown(item)}' for name, item in zip(arg._fields, arg, strict=True))})"
    if isinstance(arg, tuple):
        return f"({', '.join(map(_shown, arg))}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, list):
        return f"[{', '.join(map(_shown, arg))}]"
    if isinstance(arg, dict):
        return f"{{{', '.join(f'{key}: {_shown(value)}' for key, value in arg.items())}}}"
    if callable(arg) and hasattr(arg, "__name__") and not isinstance(arg, type):
        return pretty(arg)
    return str(arg)


class Node:
    """An operation of a `Graph`. Made by the graph's methods (``call_function``, ``placeholder``, ...), not by hand.

    ``op``: "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output"; ``target``: the function, or the name of
    the method, module, attribute or argument; ``args`` and ``kwargs``: arguments, in which other nodes stand for their results;
    ``users``: the nodes that use its result (keys of a dictionary, in order); ``meta``: anything, by name; ``type``: an annotation.

    >>> import jtensor as torch
    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(torch.add, (x, 1))
    >>> y, y.args, list(x.users), y.format_node()
    (add, (x, 1), [add], '%add : [num_users=0] = call_function[target=torch.add](args = (%x, 1), kwargs = {})')
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in OPS:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        wanted = "Callable" if op == "call_function" else "str"
        if not (callable(target) if op == "call_function" else isinstance(target, str)):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a {wanted} is expected")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users, self.meta, self._inputs, self._erased = {}, {}, {}, False
        self._prev = self._next = self
        self._args, self._kwargs = (), immutable_dict()
        self._set_arguments(args, kwargs)

    # -- order ----------------------------------------------------------------------------------------------------------

    @property
    def next(self):
        """The node after this one."""
        return self._next

    @property
    def prev(self):
        """The node before this one."""
        return self._prev

    def prepend(self, x):
        """Moves a node of the same graph to stand before this one."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x):
        """Moves a node of the same graph to stand after this one."""
        self._next.prepend(x)

    def _unlink(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def _place(self):
        """How many nodes stand before it."""
        return next(at for at, node in enumerate(self.graph.nodes) if node is self)

    def __lt__(self, other):
        return self._place() < other._place()

    def __gt__(self, other):
        return self._place() > other._place()

    def __le__(self, other):
        return self is other or self < other

    def __ge__(self, other):
        return self is other or self > other

    # -- arguments ------------------------------------------------------------------------------------------------------

    def _set_arguments(self, args, kwargs):
        for node in self._inputs:
            node.users.pop(self, None)
        self._inputs = {}

        def use(node):
            self._inputs.setdefault(node)
            node.users.setdefault(self)
            return node
        self._args, self._kwargs = map_arg(tuple(args), use), map_arg(dict(kwargs), use)

    @property
    def args(self):
        """The positional arguments. May be set; ``users`` of what they name follow."""
        return self._args

    @args.setter
    def args(self, a):
        self._set_arguments(a, self._kwargs)

    @property
    def kwargs(self):
        """The arguments by name. May be set."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k):
        self._set_arguments(self._args, k)

    @property
    def all_input_nodes(self):
        """The nodes among the arguments, each once."""
        return list(self._inputs)

    def update_arg(self, idx, arg):
        """Replaces one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Puts in a positional argument before the one at ``idx``."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key, arg):
        """Replaces or adds one argument by name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input, new_input):
        """Puts ``new_input`` for ``old_input`` wherever the arguments name it."""
        def put(node):
            return new_input if node is old_input else node
        self._tell(old_input, new_input)
        self._set_arguments(map_arg(self.args, put), map_arg(self.kwargs, put))

    def replace_all_uses_with(self, replace_with, delete_user_cb=None, *, propagate_meta=False):
        """Puts another node for this one in all that use it, or in those for which ``delete_user_cb(user)`` holds. Answers these.

        ``propagate_meta``: the other node, whose ``meta`` must be empty, takes over this one's.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has "
                                     ".meta keys")
            replace_with.meta.update(self.meta)
        found = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in found:
            user.replace_input_with(self, replace_with)
        return found

    def _tell(self, old, new):
        module = self.graph.owning_module
        for hook in getattr(module, "_replace_hooks", None) or ():
            hook(old=old, new=new.name, user=self)

    # -- what it is -----------------------------------------------------------------------------------------------------

    @property
    def stack_trace(self):
        """Where the user's program did this, as text, if the tracer recorded it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random=True):
        """Whether it does more than give its result, so that it is kept without users.

        ``impure_random``: drawing random numbers counts.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            name = getattr(self.target, "__name__", "")
            drawn = impure_random and name in _DRAWS and jtensor.overrides.resolve_name(self.target) is not None
            return self.target in _side_effectful_functions or drawn
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            module = owner.get_submodule(self.target)
            return getattr(module, "_is_impure", False)
        return False

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
        """The arguments under the names of the target's parameters (`fx.operator_schemas`), or None where these are not known."""
        from .operator_schemas import normalize_function, normalize_module
        if self.op == "call_function":
            return normalize_function(self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs)
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    def __repr__(self):
        return self.name

    def _rename(self, candidate):
        if candidate != self.name:
            self.name = self.graph._namespace.create_name(candidate, None)
            self.graph._namespace.rename(self, self.name)

    @staticmethod
    def _pretty_print_target(target):
        return target if isinstance(target, str) else pretty(target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """Its line in the graph's text. A placeholder is put into ``placeholder_names`` instead, where that has names already, and None is
        answered; the type of the result into ``maybe_return_typename``."""
        if self.op == "placeholder" and placeholder_names:
            placeholder_names.append(f"{self.target}{f': {type_name(self.type)}' if self.type else ''}")
            return None
        head = f"%{self.name} : {type_name(self.type) + ' ' if self.type else ''}[num_users={len(self.users)}] = "
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}{self.op}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}{self.op}[target={self.target}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_name(self.type)}"
            return f"return {self.args[0]}"
        target = self._pretty_print_target(self.target)
        return f"{head}{self.op}[target={target}](args = {_shown(self.args)}, kwargs = {_shown(self.kwargs)})"


_DRAWS = frozenset("rand randn randint randperm rand_like randn_like randint_like normal poisson bernoulli multinomial".split())
