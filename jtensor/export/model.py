"""A program as the JSON of PyTorch's ``.pt2`` files says it: the graph, what its arguments are, how they are nested.

Owns: that text, written and read; what it names that is not here is refused. May not know: archives, bytes of tensors (`files`).
"""
import math
import operator
import re

import jtensor

from ..base.errors import missing
from ..fx.graph import Graph
from ..fx.node import Node
from ..jit import schemas
from ..library.spaces import OpOverload
from ..tensor.core import Tensor
from ..utils import _pytree as pytree
from .exported_program import ModuleCallEntry, ModuleCallSignature
from .graph_signature import ConstantArgument, ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument
from .recording import without_numbers

DTYPES = {1: jtensor.uint8, 2: jtensor.int8, 3: jtensor.int16, 4: jtensor.int32, 5: jtensor.int64, 6: jtensor.float16, 7: jtensor.float32,
          8: jtensor.float64, 10: jtensor.complex64, 11: jtensor.complex128, 12: jtensor.bool, 13: jtensor.bfloat16}
_CODES = {dtype: code for code, dtype in DTYPES.items()}
_FORMATS = {1: jtensor.contiguous_format, 2: jtensor.channels_last, 3: jtensor.channels_last_3d, 4: jtensor.preserve_format}
_STRIDED = 7
_VERSION = {"major": 8, "minor": 20}
_TARGET = re.compile(r"torch\.ops\.([A-Za-z]\w*)\.(\w+)\.(\w+)")


def unknown(what):
    """The exception for what a file may hold and no program here has."""
    return missing(f"{what} in exported programs", "programs that jtensor has exported itself")


# -- values -------------------------------------------------------------------------------------------------------------


def device_written(device):
    """A device."""
    return {"type": device.type, "index": device.index}


def tensor_written(tensor, device, requires_grad=None):
    """What is said of a tensor."""
    if tensor.dtype not in _CODES:
        raise unknown(f"tensors of {tensor.dtype}")
    return {"dtype": _CODES[tensor.dtype], "sizes": [{"as_int": n} for n in tensor.shape],
            "requires_grad": tensor.requires_grad if requires_grad is None else requires_grad, "device": device_written(device),
            "strides": [{"as_int": n} for n in tensor.stride()], "storage_offset": {"as_int": tensor.storage_offset()}, "layout": _STRIDED}


def _float(x):
    return x if math.isfinite(x) else "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"


def written(value, kind=None):
    """An argument. ``kind``: the type that its operator asks for, which tells an empty list."""
    if isinstance(value, Node):
        return {"as_tensor": {"name": value.name}}
    if isinstance(value, (list, tuple)):
        return _list_written(list(value), kind)
    for classes, key, form in _PLAIN:
        if isinstance(value, classes):
            return {key: form(value)}
    raise unknown(f"arguments such as {value!r}")


_PLAIN = [
    (type(None), "as_none", lambda x: True), (bool, "as_bool", bool), (int, "as_int", int), (float, "as_float", _float),
    (str, "as_string", str), (complex, "as_complex", lambda x: {"real": _float(x.real), "imag": _float(x.imag)}),
    (jtensor.dtype, "as_scalar_type", _CODES.__getitem__), (jtensor.device, "as_device", device_written),
    (jtensor.layout, "as_layout", lambda x: _STRIDED),
    (jtensor.memory_format, "as_memory_format", {one: code for code, one in _FORMATS.items()}.__getitem__)]
_LISTS = [(bool, "as_bools", bool), (int, "as_ints", int), (float, "as_floats", _float), (str, "as_strings", str)]
_EMPTY = {"Tensor": "as_tensors", "int": "as_ints", "SymInt": "as_ints", "float": "as_floats", "bool": "as_bools", "str": "as_strings"}


def _list_written(items, kind):
    if not items:
        return {_EMPTY[kind.base if kind is not None else "int"]: []}
    if all(isinstance(one, Node) for one in items):
        return {"as_tensors": [{"name": one.name} for one in items]}
    if all(isinstance(one, Node) or one is None for one in items):
        return {"as_optional_tensors": [written(one) for one in items]}
    for one, key, form in _LISTS:
        if all(type(item) is one for item in items):
            return {key: [form(item) for item in items]}
    raise unknown(f"lists such as {items!r}")


def read(argument, nodes):
    """The value that an argument stands for. ``nodes``: {name: node}."""
    (key, value), = argument.items()
    if key not in _READ:
        raise unknown(f"arguments of the kind {key}")
    return _READ[key](value, nodes)


_READ = {
    "as_none": lambda x, _: None, "as_tensor": lambda x, nodes: nodes[x["name"]],
    "as_tensors": lambda x, nodes: [nodes[one["name"]] for one in x],
    "as_optional_tensors": lambda x, nodes: [read(one, nodes) for one in x],
    "as_complex": lambda x, _: complex(float(x["real"]), float(x["imag"])), "as_float": lambda x, _: float(x),
    "as_floats": lambda x, _: list(map(float, x)), "as_scalar_type": lambda x, _: DTYPES[x],
    "as_device": lambda x, _: device_read(x), "as_layout": lambda x, _: _layout(x), "as_memory_format": lambda x, _: _FORMATS[x],
    **dict.fromkeys(("as_int", "as_bool", "as_string", "as_ints", "as_bools", "as_strings"), lambda x, _: x)}


def device_read(told):
    """A device."""
    return jtensor.device(told["type"], told["index"]) if told["index"] is not None else jtensor.device(told["type"])


def _layout(code):
    if code != _STRIDED:
        raise unknown("layouts other than strided ones")
    return jtensor.strided


def tensor_read(told):
    """(dtype, sizes, strides, offset) of a tensor; sizes that may change are refused."""
    def whole(one):
        (key, value), = one.items()
        if key != "as_int":
            raise unknown("sizes that may change")
        return value
    _layout(told["layout"])
    if told["dtype"] not in DTYPES:
        raise unknown(f"tensors of type {told['dtype']}")
    return DTYPES[told["dtype"]], list(map(whole, told["sizes"])), list(map(whole, told["strides"])), whole(told["storage_offset"])


# -- writing ------------------------------------------------------------------------------------------------------------


def program_written(program, device):
    """The whole text, as JSON takes it."""
    nodes = list(program.graph.nodes)
    inputs = [node for node in nodes if node.op == "placeholder"]
    known = {node.name: tensor_written(node.meta["val"], device, None if node.op == "placeholder" else False)
             for node in nodes if isinstance(node.meta.get("val"), Tensor)}
    results = [written(one) for one in nodes[-1].args[0]]
    graph = {"inputs": [written(node if isinstance(node.meta["val"], Tensor) else node.meta["val"]) for node in inputs], "outputs": results,
             "nodes": [_node_written(node) for node in nodes if node.op == "call_function" and node.target is not operator.getitem],
             "tensor_values": known, "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": False,
             "custom_obj_values": {}, "sym_float_values": {}}
    outside = {"input_specs": list(map(_input_written, program.graph_signature.input_specs)),
               "output_specs": [{"user_output": {"arg": one}} for one in results]}
    return {"graph_module": {"graph": graph, "signature": outside, "module_call_graph": list(map(_call_written, program.module_call_graph)),
                             "metadata": {}, "treespec_namedtuple_fields": {}},
            "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": _VERSION, "verifiers": ["TRAINING"],
            "torch_version": "2.13.0", "guards_code": []}


def schema_of(target):
    """The schema of an operator of a graph."""
    if not isinstance(target, OpOverload):
        raise unknown(f"calls of {target}")
    if target.namespace != "aten":
        return target._definition.schema
    name = target.overloadpacket.__name__
    found = [one for one in schemas.forms(name) if (one.overload_name or "default") == target._overloadname]
    if not found:
        raise unknown(f"the operator {target}")
    return found[0]


def _node_written(node):
    schema = schema_of(node.target)
    kinds = {argument.name: argument.type for argument in schema.arguments}
    given = [(argument.name, one, 1) for argument, one in zip(schema.arguments, node.args, strict=False)]
    given += [(name, one, 2) for name, one in node.kwargs.items()]
    meta = {}
    if node.stack_trace:
        meta["stack_trace"] = node.stack_trace
    if node.meta.get("nn_module_stack"):
        meta["nn_module_stack"] = ";".join([f"{key},{path},{kind}" for key, (path, kind) in node.meta["nn_module_stack"].items()])
    return {"target": f"torch.ops.{node.target}", "inputs": [{"name": name, "arg": written(one, kinds[name]), "kind": kind}
                                                             for name, one, kind in given],
            "outputs": _outputs_written(node, schema), "metadata": meta, "is_hop_single_tensor_return": None, "name": node.name}


def _outputs_written(node, schema):
    parts = {user.args[1]: {"name": user.name} for user in node.users if user.target is operator.getitem}
    if not schema.returns:
        return []
    if len(schema.returns) > 1:
        return [{"as_tensor": parts[at]} for at in range(len(schema.returns))]
    return [{"as_tensors": [parts[at] for at in sorted(parts)]} if schema.returns[0].is_list else {"as_tensor": {"name": node.name}}]


def _input_written(spec):
    name = {"name": spec.arg.name}
    if spec.kind is InputKind.PARAMETER:
        return {"parameter": {"arg": name, "parameter_name": spec.target}}
    if spec.kind is InputKind.BUFFER:
        return {"buffer": {"arg": name, "buffer_name": spec.target, "persistent": spec.persistent}}
    if spec.kind is InputKind.CONSTANT_TENSOR:
        return {"tensor_constant": {"arg": name, "tensor_constant_name": spec.target}}
    if isinstance(spec.arg, ConstantArgument):
        return {"constant_input": {**name, "value": written(spec.arg.value)}}
    return {"user_input": {"arg": {"as_tensor": name}}}


def _call_written(entry):
    whole = entry.signature
    return {"fqn": entry.fqn, "signature": None if whole is None else {
        "inputs": [], "outputs": [], "in_spec": pytree.treespec_dumps(whole.in_spec), "out_spec": pytree.treespec_dumps(whole.out_spec),
        "forward_arg_names": whole.forward_arg_names}}


# -- reading ------------------------------------------------------------------------------------------------------------


def program_read(told):
    """(graph, signature, calls) of the text."""
    if told["schema_version"]["major"] != _VERSION["major"]:
        raise RuntimeError(f"Serialized schema version {tuple(told['schema_version'].values())} does not match our current schema version "
                           f"{tuple(_VERSION.values())}.")
    if told.get("range_constraints") or told["graph_module"]["graph"]["sym_int_values"]:
        raise unknown("sizes that may change")
    whole = told["graph_module"]
    graph, nodes, text = Graph(), {}, whole["graph"]
    inputs = [_input_read(one) for one in whole["signature"]["input_specs"]]
    for spec in inputs:
        node = nodes[spec.arg.name] = graph.placeholder_as(spec.arg.name)
        node.meta["val"] = spec.arg.value if isinstance(spec.arg, ConstantArgument) else None
    for one in text["nodes"]:
        _node_read(graph, one, nodes)
    results = [read(one, nodes) for one in text["outputs"]]
    graph.output(tuple(results))
    for name, one in text["tensor_values"].items():
        dtype, sizes, strides, offset = tensor_read(one)
        if name in nodes:
            nodes[name].meta["val"] = without_numbers(sizes, strides, offset, dtype, one["requires_grad"])
    outputs = []
    for spec, value in zip(whole["signature"]["output_specs"], results, strict=True):
        if "user_output" not in spec:
            raise unknown(f"results of the kind {next(iter(spec))}")
        argument = TensorArgument(value.name) if isinstance(value, Node) else ConstantArgument("", value)
        outputs.append(OutputSpec(OutputKind.USER_OUTPUT, argument, None))
    return graph, ExportGraphSignature(inputs, outputs), list(map(_call_read, whole["module_call_graph"]))


def _input_read(told):
    (kind, one), = told.items()
    if kind == "parameter":
        return InputSpec(InputKind.PARAMETER, TensorArgument(one["arg"]["name"]), one["parameter_name"])
    if kind == "buffer":
        return InputSpec(InputKind.BUFFER, TensorArgument(one["arg"]["name"]), one["buffer_name"], one["persistent"])
    if kind == "tensor_constant":
        return InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(one["arg"]["name"]), one["tensor_constant_name"])
    if kind == "constant_input":
        return InputSpec(InputKind.USER_INPUT, ConstantArgument(one["name"], read(one["value"], {})), None)
    if kind == "user_input" and "as_tensor" in one["arg"]:
        return InputSpec(InputKind.USER_INPUT, TensorArgument(one["arg"]["as_tensor"]["name"]), None)
    raise unknown(f"arguments of the kind {kind}")


def target_read(text):
    """The operator of a name, which is looked up among operators alone."""
    found = _TARGET.fullmatch(text)
    packet = getattr(getattr(jtensor.ops, found[1]), found[2], None) if found else None
    form = getattr(packet, found[3], None) if packet is not None else None
    if not isinstance(form, OpOverload):
        raise unknown(f"the operator {text}")
    return form


def _node_read(graph, told, nodes):
    target = target_read(told["target"])
    args = tuple([read(one["arg"], nodes) for one in told["inputs"] if one["kind"] != 2])
    kwargs = {one["name"]: read(one["arg"], nodes) for one in told["inputs"] if one["kind"] == 2}
    outputs = told["outputs"]
    single = len(outputs) == 1 and "as_tensor" in outputs[0]
    name = told.get("name") or (outputs[0]["as_tensor"]["name"] if single else graph._target_to_str(target.overloadpacket.__name__))
    node = graph.call_function(target, args, kwargs, name=name)
    meta = told.get("metadata") or {}
    if "stack_trace" in meta:
        node.meta["stack_trace"] = meta["stack_trace"]
    if "nn_module_stack" in meta:
        parts = [one.split(",", 1) for one in meta["nn_module_stack"].split(";")]
        node.meta["nn_module_stack"] = {key: tuple(rest.split(",", 1)) for key, rest in parts}
    if single:
        nodes[outputs[0]["as_tensor"]["name"]] = node
        return
    several = outputs[0]["as_tensors"] if len(outputs) == 1 and "as_tensors" in outputs[0] else [one["as_tensor"] for one in outputs]
    for at, one in enumerate(several):
        part = nodes[one["name"]] = graph.call_function(operator.getitem, (node, at), name=one["name"])
        part.meta.update(node.meta)


def _call_read(told):
    whole = told["signature"]
    return ModuleCallEntry(told["fqn"], None if whole is None else ModuleCallSignature(
        [], [], pytree.treespec_loads(whole["in_spec"]), pytree.treespec_loads(whole["out_spec"]), whole["forward_arg_names"]))
