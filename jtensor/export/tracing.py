"""Running a module to export it: copies of its parameters, buffers and arguments take their places, so that nothing of it changes.

Owns: that, the names of arguments, the signature. May not know: which operator a function is, what an `ExportedProgram` is asked for.
"""
import contextlib
import inspect

import jtensor

from ..base.errors import missing
from ..jit import graph, tracing
from ..nn import Module, Parameter
from ..tensor.core import Tensor
from ..utils import _pytree as pytree
from . import lowering
from .graph_signature import ConstantArgument, ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument
from .making import Maker
from .recording import Trace, told_of

_PLAIN = (int, float, bool, str, complex, type(None), jtensor.dtype, jtensor.device, jtensor.layout, jtensor.memory_format)
_UNSUPPORTED = ("Unsupported input type {}. Export only supports pytree containers of basic types (Tensor, int, float, ...) as input. To "
                "register a custom dataclass, use torch.export.register_dataclass. To register a custom container type, use "
                "torch.utils._pytree.register_pytree_node. To register a constant input, use torch.utils._pytree.register_constant")
_UNKNOWN_RESULT = ("Found {} in output, which is not a known type. If this type holds tensors, you need to register a pytree for it. See "
                   "https://github.com/pytorch/functorch/issues/475 for a brief explanation why. If you don't need to register a pytree, "
                   "please leave a comment explaining your use case and we'll make this more ergonomic to deal with")


class Exported:
    """What came of it: ``graph``, ``signature``, ``state`` (parameters and saved buffers), ``constants``, ``in_spec``, ``out_spec``,
    ``arguments`` (names of the function's arguments)."""


def traced(module, args, kwargs):
    """A module's program, `Exported`, for arguments such as these."""
    inspect.signature(module.forward).bind(*args, **kwargs)       # PyTorch's TypeError
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    for one in leaves:
        if not isinstance(one, (Tensor, *_PLAIN)):
            raise ValueError(_UNSUPPORTED.format(type(one)))
        if isinstance(one, Tensor) and one.is_nested:
            raise missing("torch.export of nested tensors", "their values and offsets as arguments, or torch.nested.to_padded_tensor")
    stand_ins = Copies(module)
    random = jtensor.get_rng_state()
    trace = Trace(lowering.lower, stand_ins.attributes)
    inner_args, inner_kwargs = pytree.tree_unflatten([stand_ins.of(one) for one in leaves], in_spec)
    values = [_value(trace, stand_ins.of(one)) for one in leaves]
    with stand_ins.in_place(trace):
        try:
            with tracing.scopes(trace, module), trace:
                made = module(*inner_args, **inner_kwargs)
            written = stand_ins.replaced_buffers()
        finally:
            jtensor.set_rng_state(random)
    trace.finish()
    return _Making(module, trace, stand_ins, values, leaves, written).exported(args, kwargs, in_spec, made)


def _value(trace, tensor):
    if not isinstance(tensor, Tensor):
        return None
    value = graph.Node("prim::Attribute", data=None).output
    trace.set(tensor, value)                                      # given twice, it goes by the last one, as in PyTorch
    return value


class Copies:
    """What takes the place of a module's tensors, and of what it is given, while it runs."""

    def __init__(self, module):
        self.module, self._made, self.attributes = module, {}, {}
        self.tensors = [(name, one, InputKind.PARAMETER) for name, one in module.named_parameters(remove_duplicate=False)]
        self.tensors += [(name, one, InputKind.BUFFER) for name, one in module.named_buffers(remove_duplicate=False)]
        for path, part in module.named_modules():
            for name, one in vars(part).items():
                if isinstance(one, Tensor):
                    self.attributes.setdefault(id(one), f"{path}.{name}" if path else name)
        for _, one, _ in self.tensors:
            self.of(one)

    def of(self, x):
        """The copy of a tensor; anything else as it is."""
        if not isinstance(x, Tensor):
            return x
        if id(x) not in self._made:
            copy = x.detach().clone()
            if copy.stride() != x.stride():
                copy = x.detach()                                 # overlaps itself: nobody may write to it
            copy = Parameter(copy, x.requires_grad) if isinstance(x, Parameter) else copy.requires_grad_(x.requires_grad)
            self._made[id(x)] = x, copy
        return self._made[id(x)][1]

    def persistent(self, name):
        """Whether a buffer is saved."""
        *path, last = name.split(".")
        return last not in self.module.get_submodule(".".join(path))._non_persistent_buffers_set

    @contextlib.contextmanager
    def in_place(self, trace):
        """The module has the copies, which the trace knows; afterwards it is what it was, whatever it has set."""
        self.values, parts = {}, [part for _, part in self.module.named_modules()]
        before = [(part, dict(part._parameters), part._buffers, {key: one for key, one in vars(part).items() if key[0] != "_"})
                  for part in parts]
        for name, one, _ in self.tensors:
            self.values[name] = _value(trace, self.of(one))
        for part, parameters, buffers, _ in before:
            part._parameters.update({key: self.of(one) for key, one in parameters.items()})
            part.__dict__["_buffers"] = _Watched({key: self.of(one) for key, one in buffers.items()})
        try:
            yield
        finally:
            for part, parameters, buffers, attributes in before:
                part._parameters.clear()
                part._parameters.update(parameters)
                part.__dict__["_buffers"] = buffers
                own = vars(part)
                for key in [key for key in own if key[0] != "_" and key not in attributes]:
                    del own[key]
                own.update(attributes)

    def replaced_buffers(self):
        """[(name, tensor that the module has put in its place)]."""
        found = []
        for name, one, kind in self.tensors:
            *path, last = name.split(".")
            owner = self.module.get_submodule(".".join(path))
            own = owner._parameters if kind is InputKind.PARAMETER else owner._buffers
            now = own.get(last)
            if now is not self.of(one) or kind is InputKind.BUFFER and last in own.set:
                if kind is InputKind.PARAMETER or now is None:
                    raise missing(f"torch.export of a module that replaces {name}", "a buffer, or parameters written in place")
                found.append((name, now))
        return found


class _Watched(dict):
    """The buffers of a module, which knows those that have been set: PyTorch copies them at the end, even ``self.count += 1``."""

    def __init__(self, buffers):
        super().__init__(buffers)
        self.set = set()

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        self.set.add(name)


class _Making:
    """Makes the graph and its signature."""

    def __init__(self, module, trace, copies, values, leaves, written):
        self.module, self.trace, self.copies, self.values, self.leaves, self.written = module, trace, copies, values, leaves, written

    def exported(self, args, kwargs, in_spec, made):
        """All that an `ExportedProgram` is made of."""
        results, out_spec = pytree.tree_flatten(made)
        for one in results:
            if not isinstance(one, (Tensor, *_PLAIN)):
                raise RuntimeError(_UNKNOWN_RESULT.format(type(one)))
        result_values = [self.trace.value(one) if isinstance(one, Tensor) else None for one in results]     # may find further constants
        found, maker = Exported(), Maker(self.trace)
        found.in_spec, found.out_spec, found.arguments = in_spec, out_spec, _names(self.module, args, kwargs)
        inputs = self._placeholders(maker, _leaf_names(self.module, args, kwargs), found)
        maker.operators(self._stacks())
        for name, tensor in self.written:
            maker.copied(maker.nodes[self.copies.values[name]], maker.nodes[self.trace.value(tensor)], told_of(tensor))
        nodes = [one if value is None else maker.nodes[value] for one, value in zip(results, result_values, strict=True)]
        maker.output(nodes)
        outputs = [OutputSpec(OutputKind.USER_OUTPUT, ConstantArgument("", one) if value is None else TensorArgument(node.name), None)
                   for one, value, node in zip(results, result_values, nodes, strict=True)]
        found.graph, found.signature = maker.graph, ExportGraphSignature(inputs, outputs)
        return found

    def _placeholders(self, maker, leaf_names, found):
        taken, specs, lifted = set(), [], 0
        names = [_unique(name, taken) for name in leaf_names]
        found.state, found.constants, unsaved = {}, {}, {}
        for target, tensor, kind in self.copies.tensors:
            prefix = "p_" if kind is InputKind.PARAMETER else "b_"
            saved = None if kind is InputKind.PARAMETER else self.copies.persistent(target)
            (unsaved if saved is False else found.state)[target] = tensor
            name = _unique(prefix + _identifier(target.removeprefix("self_")), taken)
            node = maker.placeholder(name, self.copies.values[target], told_of(tensor))
            specs.append(InputSpec(kind, TensorArgument(node.name), target, saved))
        for value, (tensor, _) in self.trace.constants.items():
            target = self.copies.attributes.get(id(tensor))
            if target is None:
                target, lifted = f"lifted_tensor_{lifted}", lifted + 1
            node = maker.placeholder(_unique("c_" + _identifier(target.removeprefix("self_")), taken), value, told_of(tensor))
            found.constants[target] = tensor
            specs.append(InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), target))
        found.constants |= unsaved
        for name, value, one in zip(names, self.values, self.leaves, strict=True):
            tensor = isinstance(one, Tensor)
            node = maker.placeholder(name, value, told_of(one) if tensor else one)
            specs.append(InputSpec(InputKind.USER_INPUT, TensorArgument(name) if tensor else ConstantArgument(name, one), None))
        return specs

    def _stacks(self):
        """{path of a module: {the name that PyTorch has for it: (its dotted name, its class)}, from the outermost inwards}."""
        found = {}
        for path, part in self.module.named_modules(remove_duplicate=False):
            names = path.split(".") if path else []
            kind = type(part)
            room = kind.__module__.replace("jtensor", "torch", 1) if kind.__module__.startswith("jtensor") else kind.__module__
            above = found.get(tuple(names[:-1]), {}) if names else {}
            if names and kind.forward is Module.forward:          # nobody calls a list of modules
                found[tuple(names)] = above
                continue
            key = f"L__self__{path}"
            found[tuple(names)] = {**above, key: (path, f"{room}.{kind.__qualname__}")}
        return found


# -- names --------------------------------------------------------------------------------------------------------------


def _identifier(name):
    """As PyTorch has it in the names of nodes."""
    return "".join([letter if letter.isalnum() else "_" for letter in name]).lower()


def _unique(name, taken):
    made, at = name, 0
    while made in taken:
        at += 1
        made = f"{name}_{at}"
    taken.add(made)
    return made


def _bound(module, args, kwargs):
    """[(name of an argument, what is given for it)], each of several positional ones by a number."""
    found, given = [], list(args)
    for parameter in inspect.signature(module.forward).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            found += [(f"{parameter.name}_{at}", one) for at, one in enumerate(given)]
            given = []
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) and given:
            found.append((parameter.name, given.pop(0)))
    return [*found, *kwargs.items()]


def _names(module, args, kwargs):
    return [name for name, _ in _bound(module, args, kwargs)]


def _leaf_names(module, args, kwargs):
    found = []
    for name, one in _bound(module, args, kwargs):
        for path, _ in pytree.tree_flatten_with_path(one)[0]:
            parts = [getattr(key, "key", getattr(key, "idx", getattr(key, "name", None))) for key in path]
            found.append(_identifier("_".join([name, *map(str, parts)])))
    return found
