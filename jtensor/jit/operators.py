"""A call of a public function as an operator of TorchScript: its node, the values of its arguments, those of its results.

Owns: recording such a call, and what becomes of a call that is none. May not know: which function is which operator (`lowering`).
"""
import jtensor

from ..base.errors import missing
from ..tensor.calling import overriding
from ..tensor.core import Tensor
from . import schemas
from .recording import is_tensors


def operator(trace, func, name, args, kwargs, schema_args=None, schema_kwargs=None):
    """Calls a function, and records it as an operator with these arguments or with others."""
    other = schema_args is not None
    try:
        found = schemas.bound(name, schema_args if other else args, (schema_kwargs or {}) if other else kwargs)
    except RuntimeError:
        found = None
    if found is None or kwargs.get("out") is not None:
        return outside(trace, func, args, kwargs)
    schema, values, plain, named = found
    before = len(trace.block.nodes)
    inputs = [argument(trace, kind, value) for kind, value in values]
    made = func(*args, **kwargs) if other else _called(func, args, kwargs, plain, named)
    if not is_tensors(made):
        del trace.block.nodes[before:]                            # of a question, which nobody records
        return made
    record(trace, name, schema, inputs, made)
    return made


def _called(func, args, kwargs, plain, named):
    changed = len(plain) != len(args) or any(one is not other for one, other in zip(plain, args, strict=True))
    if not changed and all(named.get(key, value) is value for key, value in kwargs.items()):
        return func(*args, **kwargs)
    return func(*plain, **{("input" if key == "self" and "input" in kwargs else "axis" if key == "dim" and "axis" in kwargs else key): value
                           for key, value in named.items()})


def record(trace, name, schema, inputs, made):
    """Adds an operator's node, whose results are these tensors."""
    several = len(schema.returns) > 1
    listed = schema.returns[0].is_list
    types = ("Tensor",) * len(schema.returns) if several else ("List[Tensor]" if listed else "Tensor",)
    node = trace.add("aten::" + name.partition(".")[0], inputs, types, schema)
    if listed and not several:
        node = trace.add("prim::ListUnpack", [node.output], ("Tensor",) * len(made))
        several = True
    for tensor, value in zip(made if several else (made,), node.outputs, strict=True):
        trace.set(tensor, value)


def argument(trace, kind, value):
    """The value of an argument of a type: a tensor's, a constant, a list's."""
    if isinstance(value, Tensor):
        if kind.base == "Tensor":
            return trace.value(value)
        if kind.base in ("int", "SymInt"):
            return trace.whole(value)
        to = {"float": "Float", "bool": "Bool"}.get(kind.base, "ScalarImplicit")
        return trace.add("aten::" + to, [trace.value(value)], (to.lower(),)).output
    if isinstance(value, list):
        inner = "Optional[Tensor]" if kind.base == "Tensor" and kind.marks[0] == "?" else {"SymInt": "int", "Scalar": "number"}.get(
            kind.base, kind.base)
        return trace.add("prim::ListConstruct", [argument(trace, kind, one) for one in value], (f"List[{inner}]",), inner).output
    if kind.base == "Tensor" and value is not None:
        return trace.number(value)
    return trace.constant(value)


def outside(trace, func, args, kwargs):
    """What is no operator of TorchScript: a question, or something made of others; else it is missing."""
    given = [(one, one._version) for one in overriding.spread((*args, *kwargs.values())) if isinstance(one, Tensor)]
    before = trace.count()
    made = trace.within(func, args, kwargs)
    if kwargs.get("out") is not None or trace.count() == before and any(one._version != version for one, version in given):
        raise absent(trace, func)
    for one in made if isinstance(made, (list, tuple)) else [made]:
        if isinstance(one, Tensor) and not trace.knows(one):
            raise absent(trace, func)
    return made


def absent(trace, func):
    """The `MissingFeature` of a function that no operator stands for."""
    name = jtensor.overrides.resolve_name(func) or getattr(func, "__name__", func)
    return missing(f"{trace.about[0]} of {name} as it is called here, which is no operator of {trace.about[1]}",
                   "functions of torch that it is made of")
