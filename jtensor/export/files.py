"""Files of exported programs, PyTorch's ``.pt2``: a zip archive of a program's text, its tensors' bytes and the example's arguments.

Owns: the records of such a file. May not know: how the program's text is written (`model`).
"""
import io
import json
import os
import zipfile

import jtensor

from ..base.errors import missing
from ..nn import Parameter
from ..serialization import load as load_objects
from ..serialization import save as save_objects
from ..serialization import writing
from ..tensor.core import Tensor
from ..utils import _pytree as pytree
from . import model
from .exported_program import ExportedProgram

_WEIGHTS, _CONSTANTS = "data/weights/model_weights_config.json", "data/constants/model_constants_config.json"


# -- writing ------------------------------------------------------------------------------------------------------------


def write(program, f, extra=None):
    """Writes a program to a path or an open binary file, whole or not at all."""
    device = _device_of(program)
    records = _tensors(program.state_dict, device, "data/weights/weight_", _WEIGHTS)
    records += _tensors(program.constants, device, "data/constants/tensor_", _CONSTANTS)
    records.append(("models/model.json", json.dumps(model.program_written(program, device), allow_nan=False).encode()))
    example = io.BytesIO()
    save_objects(program.example_inputs, example)
    records.append(("data/sample_inputs/model.pt", example.getvalue()))
    records += [(f"extra/{name}", data.encode() if isinstance(data, str) else data) for name, data in (extra or {}).items()]
    records += [("archive_format", b"pt2"), ("archive_version", b"0"), (".data/version", b"6\n"), ("byteorder", b"little")]
    writing.put(f, records)


def _device_of(program):
    held = [*program.state_dict.values(), *program.constants.values(), *pytree.tree_leaves(program.example_inputs)]
    devices = {one.device for one in held if isinstance(one, Tensor)} or {jtensor.device("cpu")}
    if len(devices) > 1:
        raise missing("files of programs on several devices (torch.export.save)", "a program on one device")
    return devices.pop()


def _tensors(tensors, device, stem, config):
    """The records of tensors: the bytes of each, and what is said of them; the same tensor twice is one record."""
    records, places, told = [], {}, {}
    for name, one in tensors.items():
        dense = one.detach().contiguous()
        if id(one) not in places:
            places[id(one)] = stem + str(len(places))
            data = dense.cpu().reshape(-1).view(jtensor.uint8).numpy().tobytes() if dense.numel() else b""
            records.append((places[id(one)], data))
        told[name] = {"path_name": places[id(one)].rpartition("/")[2], "is_param": isinstance(one, Parameter), "use_pickle": False,
                      "tensor_meta": model.tensor_written(dense, device, one.requires_grad)}
    return [*records, (config, json.dumps({"config": told}).encode())]


# -- reading ------------------------------------------------------------------------------------------------------------


def read(f, extra=None):
    """The program in a file at a path, or in an open binary file."""
    with zipfile.ZipFile(os.fspath(f) if isinstance(f, (str, os.PathLike)) else f) as archive:
        stem = archive.namelist()[0].partition("/")[0] + "/" if archive.namelist() else ""

        def record(name):
            try:
                return archive.read(stem + name)
            except KeyError:
                raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found") from None
        if record("archive_format") != b"pt2":
            raise RuntimeError("the file is no archive of exported programs")
        state, constants = (_tensors_read(record, config) for config in (_WEIGHTS, _CONSTANTS))
        graph, signature, calls = model.program_read(json.loads(record("models/model.json")))
        example = load_objects(io.BytesIO(record("data/sample_inputs/model.pt")), weights_only=True)
        for name in extra or ():
            extra[name] = record(f"extra/{name}").decode()
    return ExportedProgram({}, graph, signature, state, {}, calls, example, constants)


def _tensors_read(record, config):
    found, made = {}, {}
    for name, one in json.loads(record(config))["config"].items():
        if one["use_pickle"]:
            raise model.unknown("tensors that are pickled")
        key = one["path_name"], json.dumps(one["tensor_meta"], sort_keys=True), one["is_param"]
        if key not in made:
            data = record(f"{config.rpartition('/')[0]}/{one['path_name']}")
            made[key] = _tensor_read(data, one["tensor_meta"], one["is_param"])
        found[name] = made[key]
    return found


def _tensor_read(data, told, is_parameter):
    dtype, sizes, strides, offset = model.tensor_read(told)
    if data:
        flat = jtensor.frombuffer(bytearray(data), dtype=jtensor.uint8).view(dtype)
        tensor = flat.as_strided(sizes, strides, offset).clone()
    else:
        tensor = jtensor.empty(sizes, dtype=dtype)
    if told["device"]["type"] != "cpu":
        tensor = tensor.to(model.device_read(told["device"]))
    return Parameter(tensor, told["requires_grad"]) if is_parameter else tensor.requires_grad_(told["requires_grad"])
