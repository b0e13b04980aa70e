"""Protobufs of ONNX made of a `writing.Graph`, by the package ``onnx``, and files of them, written whole or not at all.

Owns: names of edges, types, tensors as bytes, files. May not know: operators, models of PyTorch.
"""
import contextlib
import os
import tempfile

import numpy as np

from ..base import dtypes
from ..version import __version__
from . import writing
from .errors import OnnxExporterError

_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11,
          "uint32": 12, "uint64": 13, "bfloat16": 16}
_LARGE = 1536 << 20                                               # bytes: more do not fit into a protobuf, whose end are 2 GiB
_APART = 1024                                                     # bytes: smaller tensors stay in the file of the graph


def load_onnx():
    """The package ``onnx``. ``ModuleNotFoundError`` where it is missing."""
    try:
        import onnx
        import onnx.helper
    except ImportError as error:
        raise ModuleNotFoundError("No module named 'onnx': it writes the files of torch.onnx.export; pip install onnx",
                                  name="onnx") from error
    return onnx


def code_of(dtype):
    """ONNX's number of a dtype."""
    if dtype.name not in _TYPES:
        raise OnnxExporterError(f"ONNX's operators have no tensors of {dtype}")
    return _TYPES[dtype.name]


# -- tensors ------------------------------------------------------------------------------------------------------------


def bytes_of(tensor):
    """The elements of a tensor as ONNX has them: row by row, the lowest byte first."""
    tensor = tensor.detach().cpu()
    if tensor.dtype is dtypes.bfloat16:
        return tensor.float().numpy().astype(tensor.dtype.numpy).tobytes()
    return np.ascontiguousarray(tensor.numpy()).tobytes()


def _tensor(name, dtype, shape, raw):
    onnx = load_onnx()
    made = onnx.TensorProto(name=name, data_type=code_of(dtype), raw_data=raw)
    made.dims.extend(shape)
    return made


def initializer(name, tensor):
    """A parameter as a protobuf."""
    return _tensor(name, tensor.dtype, tuple(tensor.shape), bytes_of(tensor))


def _constant(edge, name):
    return _tensor(name, edge.dtype, edge.known.shape, np.ascontiguousarray(edge.known).tobytes())


def _info(name, dtype, shape):
    onnx = load_onnx()
    made = onnx.ValueInfoProto(name=name)
    kind = made.type.tensor_type
    kind.elem_type = code_of(dtype)
    kind.shape.SetInParent()
    for size in shape:
        dim = kind.shape.dim.add()
        if isinstance(size, str):
            dim.dim_param = size
        elif size is not None:
            dim.dim_value = size
    return made


def info(name, tensor):
    """What a graph says of an input that is a parameter."""
    return _info(name, tensor.dtype, tuple(tensor.shape))


# -- the model ----------------------------------------------------------------------------------------------------------


class _Names:
    """One name for each edge; those that are given come first."""

    def __init__(self):
        self.by_edge, self.taken, self._count = {}, set(), 0

    def fix(self, edge, name):
        self.taken.add(name)
        self.by_edge[edge] = name

    def of(self, edge):
        """The name of an edge, "" of one that is left out."""
        if edge is None:
            return ""
        found = self.by_edge.get(edge)
        if found is None:
            found = self.free(edge.name or "val")
            self.by_edge[edge] = found
        return found

    def free(self, wanted):
        """A name that nothing has, like the one that is wanted."""
        name, at = wanted, 0
        while name in self.taken:
            at += 1
            name = f"{wanted}_{at}"
        self.taken.add(name)
        return name


def made(graph, shapes, output_names, ir_version):
    """The ``ModelProto`` of a graph without the values of its parameters, and those: [(name, tensor)]. ``shapes``: of inputs and outputs,
    with names for what may change."""
    onnx = load_onnx()
    names = _Names()
    for edge in graph.inputs:
        names.fix(edge, edge.name)
    used = _used(graph)
    parameters = [(edge, tensor) for edge, tensor in graph.initializers if edge in used]
    for edge, _ in parameters:
        names.fix(edge, names.free(edge.name))
    ends = _ends(graph, output_names, names)
    proto = onnx.ModelProto(ir_version=ir_version, producer_name="jtensor", producer_version=__version__)
    proto.opset_import.add(domain="", version=graph.opset)
    whole = proto.graph
    whole.name = "main_graph"
    constants = {}
    for node in used.nodes:
        for edge in node.inputs:
            if edge is not None and edge.known is not None:
                _write_constant(whole, edge, names, constants)
        _write(whole.node.add(), node, names)
    for edge, name in ends:
        if edge.known is not None:
            _write_constant(whole, edge, names, constants)
        whole.node.add(op_type="Identity", input=[names.of(edge)], output=[name], name=f"node_{name}")
    for edge, shape in zip(graph.inputs, shapes[0], strict=True):
        whole.input.append(_info(names.of(edge), edge.dtype, shape))
    for edge, shape, name in zip(graph.outputs, shapes[1], _shown(graph, ends, names), strict=True):
        whole.output.append(_info(name, edge.dtype, shape))
    return proto, [(names.of(edge), tensor) for edge, tensor in parameters]


def _ends(graph, output_names, names):
    """[(edge, name)] of the outputs that take an operator of their own: what is an input, a constant, a parameter, or answered before."""
    ends, seen = [], set()
    for at, edge in enumerate(graph.outputs):
        wanted = output_names[at] if at < len(output_names) else None
        if edge.node is None or edge in seen:
            ends.append((edge, names.free(wanted or f"output_{at}")))
        else:
            seen.add(edge)
            names.fix(edge, names.free(wanted or edge.name or "output"))
    return ends


def _shown(graph, ends, names):
    """The outputs' names in order."""
    left, seen = list(ends), set()
    for edge in graph.outputs:
        if edge.node is None or edge in seen:
            yield left.pop(0)[1]
        else:
            seen.add(edge)
            yield names.of(edge)


class _used:
    """The nodes that something is done with, and the edges that they take."""

    def __init__(self, graph):
        self._edges, kept = set(graph.outputs), []
        for node in reversed(graph.nodes):
            if any(edge in self._edges for edge in node.outputs):
                kept.append(node)
                self._edges.update([edge for edge in node.inputs if edge is not None])
        self.nodes = kept[::-1]

    def __contains__(self, edge):
        return edge in self._edges


def _write_constant(whole, edge, names, constants):
    if edge in names.by_edge:
        return
    key = edge.dtype, edge.known.shape, edge.known.tobytes()
    name = constants.get(key)
    if name is None:
        name = constants[key] = names.free("const")
        node = whole.node.add(op_type="Constant", output=[name], name=f"node_{name}")
        attribute = node.attribute.add(name="value")
        attribute.type = attribute.TENSOR
        attribute.t.CopyFrom(_constant(edge, ""))
    names.by_edge[edge] = name


def _write(proto, node, names):
    onnx = load_onnx()
    proto.op_type = node.kind
    inputs = [names.of(edge) for edge in node.inputs]
    while inputs and not inputs[-1]:
        inputs.pop()
    proto.input.extend(inputs)
    proto.output.extend([names.of(edge) for edge in node.outputs])
    proto.name = "node_" + proto.output[0]
    for key, value in node.attributes.items():
        if isinstance(value, writing.Edge):
            value = _constant(value, "")
        elif isinstance(value, dtypes.dtype):
            value = code_of(value)
        proto.attribute.append(onnx.helper.make_attribute(key, value))


# -- files --------------------------------------------------------------------------------------------------------------


def is_large(tensors):
    """Whether parameters are too large for one protobuf."""
    return sum(tensor.numel() * tensor.element_size() for _, tensor in tensors) > _LARGE


def filled(proto, tensors):
    """A copy of a model with the values of its parameters."""
    made = type(proto)()
    made.CopyFrom(proto)
    made.graph.initializer.extend([initializer(name, tensor) for name, tensor in tensors])
    return made


def write(path, proto, tensors, apart):
    """Writes a model to a path, or into an open binary file; ``apart``: the large parameters into a file beside it, ``path + ".data"``."""
    if hasattr(path, "write"):
        path.write(filled(proto, tensors).SerializeToString())
        return
    path = os.fspath(path)
    if not apart:
        with _whole(path) as file:
            file.write(filled(proto, tensors).SerializeToString())
        return
    data, made = path + ".data", type(proto)()
    made.CopyFrom(proto)
    large = [name for name, tensor in tensors if tensor.numel() * tensor.element_size() >= _APART]
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(_whole(path))                  # the last one that takes its place
        beside = stack.enter_context(_whole(data)) if large else None
        for name, tensor in tensors:
            whole = initializer(name, tensor)
            if name in large:
                _put_apart(whole, beside, os.path.basename(data))
            made.graph.initializer.append(whole)
        file.write(made.SerializeToString())


def _put_apart(tensor, file, name):
    raw = tensor.raw_data
    file.write(b"\0" * (-file.tell() % 4096 if len(raw) > 1 << 20 else -file.tell() % 64))     # so that it can be mapped into memory
    tensor.ClearField("raw_data")
    tensor.data_location = tensor.EXTERNAL
    for key, value in (("location", name), ("offset", file.tell()), ("length", len(raw))):
        tensor.external_data.add(key=key, value=str(value))
    file.write(raw)


@contextlib.contextmanager
def _whole(path):
    """An open file that takes the place of the one at a path when all of it is written."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, "No such file or directory", path)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".jtensor-onnx-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
