"""Random tensors printed by PyTorch and by jtensor's printing room.

Run it from the repository's root; it needs torch:

    python tests/tensor/print_fuzz.py --cases 20000           # prints the number of cases that differ, and the first of them
    python tests/tensor/print_fuzz.py --tensors               # the same with jtensor's own Tensors, through the public interface
    python tests/tensor/print_fuzz.py --write-goldens 240     # writes tests/goldens/printing.json, for test runs without torch

The tensors are PyTorch's, seen through `StandIn`, which shows the printing room exactly what it may ask of a tensor.
"""
import argparse
import base64
import json
import math
import random
import sys
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2])] if __name__ == "__main__" else []

from jtensor.base import dtypes  # noqa: E402
from jtensor.tensor import formatting, printing  # noqa: E402

GOLDENS = Path(__file__).parents[1] / "goldens" / "printing.json"

FLOATS = ["float32", "float64", "float16", "bfloat16",
          "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
COMPLEX = ["complex64", "complex128", "complex32"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool"]
DTYPES = FLOATS + COMPLEX + INTEGERS


# -- what a tensor looks like from the printing room -------------------------------------------------------------------


class NamedDtype:
    """Stands for a dtype that `jtensor.base.dtypes` does not have (yet)."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name


class Device:
    def __init__(self, text):
        self.text, self.type = text, text.partition(":")[0]

    def __str__(self):
        return self.text


class Node:
    def __init__(self, name):
        self._name = name

    def name(self):
        return self._name


class Tensor:
    """The facts the printing room asks for, and nothing else."""

    __module__ = "jtensor"

    def __init__(self, host, *, dtype=None, shape=None, device="cpu", requires_grad=False, node=None):
        self._array = host
        name = dtype or host.dtype.name
        self.dtype = dtypes.NAMES.get(name) or NamedDtype(name)
        self.shape = host.shape if shape is None else shape
        self.device, self.is_meta = Device(device), device == "meta"
        self.requires_grad = requires_grad
        self.grad_fn = node and Node(node)

    def _host(self):
        assert not self.is_meta
        return self._array


class Parameter(Tensor):
    __module__ = "jtensor.nn.parameter"


class Derived(Tensor):
    __module__ = "user"


class DerivedParameter(Parameter):
    __module__ = "user"


CLASSES = {"Tensor": Tensor, "Parameter": Parameter, "Derived": Derived, "DerivedParameter": DerivedParameter}


def text_of(tensor):
    """`repr` as the classes will define it: a parameter of the library or derived from it has a line in front."""
    return printing.parameter_str(tensor) if isinstance(tensor, Parameter) else printing.tensor_str(tensor)


def host_of(t):
    """The NumPy copy of a PyTorch tensor, in the types jtensor uses."""
    import torch
    t = t.detach()
    name = str(t.dtype).removeprefix("torch.")
    if name == "complex32":
        return t.to(torch.complex64).resolve_conj().numpy().copy()
    if name == "bfloat16":
        return t.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16).copy()
    if name.startswith("float8"):
        return t.contiguous().view(torch.uint8).numpy().view(getattr(ml_dtypes, name)).copy()
    return t.resolve_conj().resolve_neg().numpy().copy()


def facts_of(t, kind):
    return {"kind": kind, "dtype": str(t.dtype).removeprefix("torch."), "shape": list(t.shape), "device": str(t.device),
            "requires_grad": t.requires_grad, "node": t.grad_fn and t.grad_fn.name()}


def stand_in(facts, host):
    rest = {name: value for name, value in facts.items() if name not in ("kind", "shape")}
    return CLASSES[facts["kind"]](host, shape=tuple(facts["shape"]), **rest)


# -- random cases ------------------------------------------------------------------------------------------------------


def some_shape(r):
    roll = r.random()
    if roll < 0.08:
        return ()
    if roll < 0.13:
        shape = [r.randrange(4) for _ in range(r.randint(1, 3))]
        shape[r.randrange(len(shape))] = 0
        return tuple(shape)
    if roll < 0.45:
        return (r.choice([1, 2, 3, 5, 7, 12, 30]),)
    if roll < 0.6:
        return (r.randint(1, 5), r.choice([1, 3, 6, 7, 8, 15, 40]))
    if roll < 0.75:
        return tuple(r.randint(1, 4) for _ in range(r.randint(3, 5)))
    return r.choice([(1000,), (1001,), (7, 150), (150, 7), (6, 200), (2000, 1), (1, 1001), (11, 11, 11), (2, 3, 200), (9, 2, 8, 9)])


def some_numbers(r, count):
    """float64 numbers of one of the kinds where notation and columns change."""
    g = np.random.default_rng(r.getrandbits(32))
    kind = r.randrange(14)
    if kind == 0:
        x = g.standard_normal(count)
    elif kind == 1:
        x = g.integers(-r.choice([2, 20, 1000]), r.choice([3, 11, 1001]), count).astype(float)
    elif kind == 2:                                        # every magnitude
        x = g.standard_normal(count) * 10.0 ** g.integers(-12, 13, count)
    elif kind == 3:                                        # one magnitude
        x = g.standard_normal(count) * 10.0 ** r.randint(-45, 38)
    elif kind == 4:                                        # a ratio of about 1000
        x = np.where(g.random(count) < 0.5, r.choice([1.0, 0.1, 3.0, 0.7]), r.choice([1000.0, 999.99994, 1000.0001, 100.0, 3000.0, 700.0]))
    elif kind == 5:                                        # the ends of fixed notation
        x = g.choice([1e8, 1e8 + 8, 1e8 - 8, 1.0e-4, 9.9999e-5, 1.00001e-4, 99999999.0, 5e7, 2.0**24, 2.0**24 + 1,
                      2.0**24 - 1], count)
    elif kind == 6:                                        # halves and other ties
        x = g.integers(-99999, 99999, count) / r.choice([2.0, 8.0, 32.0, 20000.0, 200.0, 3.0])
    elif kind == 7:                                        # denormal numbers
        x = g.integers(-9, 10, count) * r.choice([5e-324, 1e-45, 6e-8, 1e-39, 1e-310])
    elif kind == 8:
        x = np.full(count, r.choice([0.0, -0.0, 1.0, -1.0, 0.1, 1e10, math.inf, math.nan, -math.inf, 1e-5, 123456.789, 0.99999, 0.99995]))
    elif kind == 9:                                        # any bits
        x = g.integers(0, 2**32, count, dtype=np.uint32).view(np.float32).astype(float)
    elif kind == 10:
        x = g.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    elif kind == 11:                                       # whole numbers that are large
        x = np.floor(g.random(count) * 10.0 ** r.randint(1, 12))
    elif kind == 12:                                       # rounds up to one more digit
        x = g.choice([9.99994, 9.99995, 9.99996, 99.99995, 999.99996, -9.99996, 0.99996, 1.0], count)
    else:
        x = g.random(count)
    if r.random() < 0.25:
        mask = g.random(count) < r.choice([0.05, 0.3, 0.9])
        x = np.where(mask, g.choice([0.0, -0.0, math.nan, math.inf, -math.inf], count), x)
    return x


def some_tensor(r):
    """A PyTorch tensor, and the name of its class."""
    import torch
    name, shape = r.choice(DTYPES if r.random() < 0.6 else ["float32", "float32", "float64", "int64", "complex64"]), some_shape(r)
    dtype, count = getattr(torch, name), math.prod(shape)
    if name == "bool":
        t = torch.tensor(np.random.default_rng(r.getrandbits(32)).random(count) < r.choice([0.0, 0.5, 1.0]))
    elif name in INTEGERS:
        limits, bound = np.iinfo(name), r.choice([3, 12, 100, 20000, 2**31, 2**64])
        low, high = max(limits.min, -bound * r.choice([0, 1])), min(limits.max, bound)
        t = torch.from_numpy(np.random.default_rng(r.getrandbits(32)).integers(low, high, count, dtype=name, endpoint=True))
    elif name in COMPLEX:
        parts = [torch.from_numpy(some_numbers(r, count)) for _ in range(2)]
        t = torch.complex(*parts).to(dtype)
        if r.random() < 0.2 and name != "complex32":
            t = t.conj()
    elif name.startswith("float8") and r.random() < 0.3:
        t = torch.from_numpy(np.random.default_rng(r.getrandbits(32)).integers(0, 256, count, dtype=np.uint8)).view(dtype)
    else:
        t = torch.from_numpy(some_numbers(r, count)).to(dtype)
    t = t.reshape(shape)
    if t.ndim > 1 and r.random() < 0.2:
        t = t.transpose(0, 1)
    if r.random() < 0.06:
        t = torch.empty(shape, dtype=dtype, device="meta")
    return decorated(r, t)


def decorated(r, t):
    import torch
    floating = (t.is_floating_point() or t.is_complex()) and t.dtype != torch.complex32 and t.element_size() > 1
    roll = r.random()
    if roll < 0.8 or not floating:
        return t, "Tensor"
    if roll < 0.85:
        return t.clone().requires_grad_(), "Tensor"
    if roll < 0.9:
        return r.choice([lambda x: x.clone(), lambda x: x * 1, lambda x: x.view(x.shape), lambda x: x.unsqueeze(0)])(
            t.clone().requires_grad_()), "Tensor"
    if roll < 0.94:
        return torch.nn.Parameter(t.resolve_conj(), requires_grad=r.random() < 0.8), "Parameter"
    if roll < 0.97:
        return t.resolve_conj().as_subclass(torch_class("Derived")), "Derived"
    return torch_class("DerivedParameter")(t.resolve_conj()), "DerivedParameter"


def torch_class(name, _made={}):  # noqa: B006  one class for each name
    import torch
    base = torch.nn.Parameter if name.endswith("Parameter") else torch.Tensor
    if name not in _made:
        _made[name] = type(name, (base,), {})
    return _made[name]


def some_options(r):
    if r.random() < 0.6:
        return {}
    return {name: value for name, value in {
        "profile": r.choice([None, "default", "short", "full"]), "precision": r.choice([None, None, 0, 1, 2, 3, 6, 10]),
        "threshold": r.choice([None, None, 0, 5, 20, 1000, math.inf]), "edgeitems": r.choice([None, None, 0, 1, 2, 5]),
        "linewidth": r.choice([None, None, 1, 20, 40, 120, 200]), "sci_mode": r.choice([None, None, True, False]),
    }.items() if value is not None}


def case(r):
    """One case: options, default dtype, PyTorch's text, ours, and what is needed to print it again without PyTorch."""
    import torch
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                   # PyTorch calls complex32 experimental
        t, kind = some_tensor(r)
        options, default = some_options(r), r.choice(["float32"] * 9 + ["float64", "float16", "bfloat16"])
        facts, host = facts_of(t, kind), None if t.is_meta else host_of(t)
        torch.set_printoptions(profile="default")
        torch.set_printoptions(**options)
        torch.set_default_dtype(getattr(torch, default))
        try:
            expected = repr(t)
        finally:
            torch.set_default_dtype(torch.float32)
            torch.set_printoptions(profile="default")
    return {"options": options, "default": default, "facts": facts, "host": host, "expected": expected}


def ours(case):
    """jtensor's text for a case."""
    formatting.set_printoptions(profile="default")
    formatting.set_printoptions(**case["options"])
    dtypes.set_default_dtype(dtypes.NAMES[case["default"]])
    try:
        return text_of(stand_in(case["facts"], case["host"]))
    finally:
        dtypes.set_default_dtype(dtypes.float32)
        formatting.set_printoptions(profile="default")


# -- the public interface ----------------------------------------------------------------------------------------------


def real_tensor(facts, host):
    """jtensor's own tensor of the same class, dtype and history; None for a dtype that it does not have."""
    import jtensor
    from jtensor.tensor.creating import from_data
    dtype = dtypes.NAMES.get(facts["dtype"])
    if dtype is None:
        return None
    node = (facts["node"] or "").removesuffix("Backward0")
    shape = facts["shape"][1:] if node == "Unsqueeze" else facts["shape"]
    if host is None:
        made = jtensor.empty(shape, dtype=dtype, device="meta")
    else:
        made = from_data.from_host(np.ascontiguousarray(host).reshape(shape), dtype)
    kind = facts["kind"]
    if kind == "Parameter":
        return jtensor.nn.Parameter(made, requires_grad=facts["requires_grad"])
    if kind != "Tensor":
        return _real_class(kind)(made) if kind == "DerivedParameter" else made.as_subclass(_real_class(kind))
    if not facts["requires_grad"]:
        return made
    made.requires_grad_()
    return {"": lambda x: x, "Clone": lambda x: x.clone(), "Mul": lambda x: x * 1, "View": lambda x: x.view(x.shape),
            "Unsqueeze": lambda x: x.unsqueeze(0)}[node](made)


def _real_class(name, _made={}):  # noqa: B006  one class for each name
    import jtensor
    if name not in _made:
        _made[name] = type(name, (jtensor.nn.Parameter if name.endswith("Parameter") else jtensor.Tensor,), {})
    return _made[name]


OTHER_VALUES = "other values: XLA's product of complex infinities or denormal numbers with one"


def _same_values(tensor, host):
    if host is None or not (tensor.is_floating_point() or tensor.is_complex()):
        return True
    ours, theirs = (np.ascontiguousarray(x).reshape(-1) for x in (tensor.detach()._host(), host))
    if tensor.is_complex():
        ours, theirs = (x.view("f4" if x.itemsize == 8 else "f8") for x in (ours, theirs))
    return np.array_equal(ours.astype(np.float64), theirs.astype(np.float64), equal_nan=True)


def ours_in_public(case):
    """``repr`` of jtensor's own tensor; None where there is none of that dtype."""
    import jtensor
    jtensor.set_printoptions(profile="default")
    jtensor.set_printoptions(**case["options"])
    jtensor.set_default_dtype(dtypes.NAMES[case["default"]])
    try:
        tensor = real_tensor(case["facts"], case["host"])
        return None if tensor is None else repr(tensor) if _same_values(tensor, case["host"]) else OTHER_VALUES
    finally:
        jtensor.set_default_dtype(jtensor.float32)
        jtensor.set_printoptions(profile="default")


# -- stored cases ------------------------------------------------------------------------------------------------------


def packed(case):
    host = case["host"]
    data = None if host is None else base64.b64encode(host.tobytes()).decode()
    options = {name: "inf" if value == math.inf else value for name, value in case["options"].items()}
    return {**case, "options": options, "host": data, "held_as": host is not None and host.dtype.name}


def unpacked(stored):
    options = {name: math.inf if value == "inf" else value for name, value in stored["options"].items()}
    host = None
    if stored["host"] is not None:
        held_as = np.dtype(getattr(ml_dtypes, stored["held_as"], stored["held_as"]))
        host = np.frombuffer(base64.b64decode(stored["host"]), held_as).reshape(stored["facts"]["shape"])
    return {**stored, "options": options, "host": host}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tensors", action="store_true")
    parser.add_argument("--write-goldens", type=int, metavar="N")
    args = parser.parse_args()
    r = random.Random(args.seed)
    if args.write_goldens:
        kept = []
        while len(kept) < args.write_goldens:
            found = case(r)
            if found["host"] is None or found["host"].nbytes <= 400 and len(found["expected"]) < 1500:
                kept.append(packed(found))
        GOLDENS.parent.mkdir(exist_ok=True)
        GOLDENS.write_text("[\n" + ",\n".join([json.dumps(item) for item in kept]) + "\n]\n")
        return 0
    differing = absent = other = 0
    show = ours_in_public if args.tensors else ours
    for number in range(args.cases):
        found = case(r)
        text = show(found)
        absent += text is None
        other += text is OTHER_VALUES
        if text not in (None, OTHER_VALUES, found["expected"]):
            differing += 1
            if differing <= 5:
                print(f"case {number}: {found['options']} default {found['default']} {found['facts']}")
                print(f"--- torch\n{found['expected']}\n--- jtensor\n{text}\n")
    print(f"{differing} of {args.cases - absent - other} cases differ", *(f"{absent} of a dtype that is not there",) * bool(absent),
          *(f"{other} of {OTHER_VALUES}",) * bool(other), sep="; ")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
