"""Writes `jtensor/tensor/calling/signatures.txt`: how PyTorch's own functions and methods may be called.

    python tests/house/make_signatures.py

One line for each name that jtensor has too and that PyTorch binds by its argument parser: the name (``Tensor.`` before a method's, ``nn.``
before that of a function behind one that is written in Python, as those of ``nn.functional`` are), and each signature in parentheses,
``~(`` where PyTorch takes it and does not show it. A type that ends with ``?`` may be None; ``ints1`` is a tuple of ints that may be one
int, a ``symint`` may be a tensor of one int.
``Tensor.name -`` takes no arguments. Needs PyTorch; ``tests/tensor/test_guards.py`` says when the file is stale.
"""
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "jtensor" / "tensor" / "calling" / "signatures.txt"
# as Python's annotations and as aten's schemas call them -> the words of the parser's messages
ANNOTATED = {
    "Tensor": "Tensor", "_int": "int", "_int | SymInt": "symint", "int": "int", "_bool": "bool", "bool": "bool", "_float": "float",
    "float": "float", "str": "str", "Number | _complex": "Number", "Tensor | Number | _complex": "Tensor#", "_dtype": "torch.dtype",
    "_layout": "torch.layout", "DeviceLikeType": "torch.device", "Generator": "torch.Generator",
    "memory_format": "torch.memory_format", "_size": "ints", "Sequence[_int | SymInt]": "ints", "_int | _size": "ints1",
    "tuple[Tensor, ...] | list[Tensor]": "Tensors", "_qscheme": "torch.qscheme",
    "Tensor | tuple[Tensor, ...] | list[Tensor]": "Tensors", "Sequence[Tensor]": "Tensors", "Sequence[Number | _complex]": "numbers",
    "Sequence[_float]": "floats", "Storage": "torch.Storage", "_int | SymInt | _size": "ints1",
    "_float | Sequence[_float]": "floats", "Sequence[Tensor | None]": "Tensors", "Any": "object", "Sequence[_int] | _int": "ints1",
    "_int | SymInt | Sequence[_int | SymInt]": "ints1", "Tensor | Number | _complex | torch.SymInt | torch.SymFloat": "Tensor#",
    "torch.memory_format": "torch.memory_format", "_device": "torch.device", "_device | _int | str": "torch.device",
    "Number": "Number", "tuple[Tensor | None, ...] | list[Tensor | None]": "Tensors",
}
SCHEMAS = {
    "Tensor": "Tensor", "int": "int", "SymInt": "symint", "bool": "bool", "float": "float", "str": "str", "Scalar": "Number",
    "Tensor[]": "Tensors", "ScalarType": "torch.dtype", "Layout": "torch.layout", "Device": "torch.device",
    "MemoryFormat": "torch.memory_format", "Generator": "torch.Generator", "Scalar[]": "numbers", "float[]": "floats",
}
SHOWN = {"tuple of ints": "ints", "tuple of Tensors": "Tensors", "tuple of floats": "floats", "tuple of Scalars": "numbers"}
# where neither the stubs nor the schemas say what the parser takes
FORMAT = "(*, torch.memory_format memory_format=torch.{}_format)"
BY_HAND = {
    "tensor": "(object data, *, torch.dtype? dtype=None, torch.device? device=None, bool pin_memory=False, bool requires_grad=False)",
    "as_tensor": "(object data, *, torch.dtype? dtype=None, torch.device? device=None)",
    "numel": "(Tensor input)",
    "nonzero": "(Tensor input, *, bool as_tuple=False, Tensor? out=None)",
    "Tensor.requires_grad_": "(bool requires_grad=True)",
    "Tensor.size": "(int? dim=None)",
    "Tensor.stride": "(int? dim=None)",
    "Tensor.new_tensor": "(object data, *, torch.dtype? dtype=None, torch.device? device=None, bool requires_grad=False)",
    "cdist": "(Tensor x1, Tensor x2, float p=2.0, object compute_mode=None)",
    "Tensor.uniform_": "(float from=0, float to=1, *, torch.Generator? generator=None)",
    "Tensor.unflatten": "(int dim, ints sizes)",
    "unflatten": "(Tensor input, int dim, ints sizes)",
    "nn.grid_sampler": "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners)",
    "nn.split": "(Tensor input, int split_size, int dim=0)(Tensor input, ints split_size, int dim=0)",
    "nn.pad": "(Tensor input, ints pad, str mode='constant', float? value=None)",
    "Tensor.to": None,
    "Tensor.set_": None,
    **dict.fromkeys(("fft_fftfreq", "fft_rfftfreq"),
                    "(int n, float d=1., *, Tensor? out=None, torch.dtype? dtype=None, torch.layout? layout=None,"
                    " torch.device? device=None, bool? pin_memory=None, bool? requires_grad=False)"),
    "amax": "(Tensor input, ints1? dim=(), bool keepdim=False, *, Tensor? out=None)",
    "amin": "(Tensor input, ints1? dim=(), bool keepdim=False, *, Tensor? out=None)",
    "Tensor.amax": "(ints1? dim=(), bool keepdim=False)",
    "Tensor.amin": "(ints1? dim=(), bool keepdim=False)",
    "Tensor.hash_tensor": "(ints1? dim=(), *, bool keepdim=False, int mode=0)",
    **{f"Tensor.{name}": FORMAT.format("preserve") for name in "cpu float double half bfloat16 int long short char byte bool".split()},
    "Tensor.contiguous": FORMAT.format("contiguous"),
    "Tensor.is_contiguous": FORMAT.format("contiguous"),
}
NUMBERS_AS_TENSORS = {"add", "sub", "mul", "div", "divide", "multiply", "subtract", "true_divide", "floor_divide", "copy"}


def annotated(text, default):
    """A type of the stubs in this file's words, or None where it is not one that the parser knows."""
    optional = text.endswith(" | None")
    text = text.removesuffix(" | None")
    found = ANNOTATED.get(text)
    if found is None:
        return None
    return found + ("?" if optional and default in (None, "None") else "")


def of_stub(path, scope=None):
    """{name: [[(type, name, default)...] with "*" between]} of a stub's functions."""
    tree = ast.parse(path.read_text())
    body = tree.body
    if scope is not None:
        body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == scope).body
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            read = stub_signature(node, scope is not None)
            if read is not None:
                found.setdefault(node.name, []).append(read)
    return found


def stub_signature(node, method):
    args = node.args
    positional = args.args[1:] if method else args.args
    if any(a.annotation is None for a in (*positional, *args.kwonlyargs)):
        return None
    defaults = ([None] * len(positional) + args.defaults)[-len(positional):] if positional else []
    made = []
    for a, d in zip(positional, defaults, strict=True):
        made.append((annotated(ast.unparse(a.annotation), d and ast.unparse(d)), a.arg, d and ast.unparse(d)))
    if args.vararg is not None:
        made.append(("ints", args.vararg.arg, None))
    if args.kwonlyargs:
        made.append("*")
        for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            made.append((annotated(ast.unparse(a.annotation), d and ast.unparse(d)), a.arg, d and ast.unparse(d)))
    return None if any(p != "*" and p[0] is None for p in made) else made


def of_schema(text):
    """A signature of an aten schema, or None."""
    inside = re.match(r"aten::[\w.]+\((.*)\) -> ", text).group(1)
    made = []
    for part in re.split(r", (?![^\[]*\])", inside) if inside else []:
        if part == "*":
            made.append("*")
            continue
        kind, name = part.split(" ", 1)
        name, _, default = name.partition("=")
        kind = re.sub(r"\(.*?\)", "", kind)
        optional = kind.endswith("?")
        kind = kind.removesuffix("?")
        size = re.fullmatch(r"(?:Sym)?[iI]nt\[(\d*)\]", kind)
        word = ("ints1" if size.group(1) else "ints") if size else SCHEMAS.get(kind)
        if word is None:
            return None
        made.append((word + ("?" if optional else ""), "input" if name == "self" else name, default.replace('"', "'") or None))
    return made


def of_schemas(torch, name):
    """The base overload of an aten operator, with ``out`` where there is one."""
    by_name = {re.match(r"aten::([\w.]+)\(", str(s)).group(1): str(s) for s in torch._C._jit_get_schemas_for_operator("aten::" + name)}
    base = by_name.get(name)
    made = of_schema(base) if base else None
    if made is None:
        return []
    for overload, text in by_name.items():
        writes = overload.endswith("out") or "(b!)" in text         # where several are written to, an overload is named after the first
        if overload.startswith(name + ".") and writes and (out := of_schema(text)):
            names = [p[1] for p in out if p != "*"]
            own = [p[1] for p in made if p != "*"]
            if names[:len(own)] == own and len(names) > len(own):
                made = [*made, *([] if "*" in made else ["*"]), ("Tensor" if len(names) == len(own) + 1 else "Tensors", "out", "None")]
                break
    return [made]


def shown(signature):
    return "(" + ", ".join(["*" if p == "*" else f"{_none_too(p)} {p[1]}" + ("" if p[2] is None else f"={p[2]}") for p in signature]) + ")"


def _none_too(parameter):
    """The kind of a parameter. What is None if not given may be given as None, ``requires_grad`` and an empty list too."""
    kind, name, default = parameter
    none = default == "None" or name == "requires_grad" or default in ("()", "[]") and kind.startswith("ints")
    return kind + "?" if none and "?" not in kind else kind


def of_message(text):
    """The signatures that a refusal lists."""
    lines = re.findall(r"^ \* \((.*)\)$", text, re.M) or re.findall(r"but expected \((.*)\)", text)
    found = []
    for line in lines:
        made = []
        for part in line.split(", ") if line else []:
            if part == "*":
                made.append("*")
                continue
            part, _, default = part.partition(" = ")
            kind, _, name = part.rpartition(" ")
            made.append([SHOWN.get(kind, kind), name, default or None])
        found.append(made)
    return found


def matched(lists, seen):
    """A signature as a message shows it, with what the stub knows of its parameters; and the place of the stub's."""
    names = [p if p == "*" else p[1] for p in seen]
    for at, known in enumerate(lists):
        kinds = {p[1]: p for p in known if p != "*"}
        alike = all(p == "*" or p[1] == "out" or p[1] in kinds and bare(kinds[p[1]][0]) == p[0] for p in seen)
        if alike and [n for n in names if n not in ("*", "out")] == [p[1] for p in known if p != "*" and p[1] != "out"]:
            return at, ["*" if p == "*" else (kinds[p[1]][0] if p[1] in kinds else p[0], p[1], p[2]) for p in seen]
    kinds = {(p[1], bare(p[0])): p[0] for known in lists for p in known if p != "*"}
    return None, ["*" if p == "*" else (kinds.get((p[1], p[0]), p[0]), p[1], p[2]) for p in seen]


def listed(name, function, known, method=False):
    """The line of a function: its signatures as PyTorch shows them, and those that it does not."""
    try:
        function(*[object()] * 12) if not method else function(*[object()] * 11)
    except TypeError as error:
        text = str(error)
    except Exception:
        return None
    else:
        return None
    if "takes no arguments" in text:
        return " -"
    seen = of_message(text)
    hidden = []
    if seen:
        used, made = set(), []
        for s in seen:
            at, one = matched(known, s)
            used.add(at)
            made.append(one)
        # (The stubs let ``linspace`` go without ``steps``, which the parser has not taken for years.)
        hidden = [k for at, k in enumerate(known)
                  if at not in used and plain(k) not in map(plain, made) and ("int?", "steps", "None") not in k]
        if len(made) == 1 and not hidden:
            hidden = [[("deprecated", "signature", None)]]
    else:
        made = known if not method else [[p for p in s if p == "*" or p[1] != "out"] for s in known]
    if not made:
        return None
    if not seen:
        made = made[-1:]
    bare = name.removesuffix("_")
    if bare in NUMBERS_AS_TENSORS:
        made = [[("Tensor#", *p[1:]) if p != "*" and p[0] == "Tensor" and p[1] in ("input", "other") else p for p in s] for s in made]
    else:
        made = [["*" if p == "*" else (p[0].replace("Tensor#", "Tensor"), *p[1:]) for p in s] for s in made]
    return " " + "".join(dict.fromkeys([shown(s) for s in made] + ["~" + shown(s) for s in hidden]))


def plain(signature):
    """What tells one signature from another."""
    return [p if p == "*" else (bare(p[0]), p[1]) for p in signature]


def bare(kind):
    """A kind as messages have it."""
    return kind.rstrip("?1#").removeprefix("sym")


def lines():
    """The lines of the file, sorted."""
    sys.path.insert(0, str(ROOT))
    import warnings

    import torch

    import jtensor
    warnings.simplefilter("ignore")
    builtin = type(torch.relu)
    stubs = Path(torch.__file__).parent / "_C"
    functions, methods = of_stub(stubs / "_VariableFunctions.pyi"), of_stub(stubs / "__init__.pyi", "TensorBase")
    found = {}
    for name in dir(torch):                                     # some of ours are looked up when they are asked for
        function = getattr(torch, name, None)
        if type(function) is builtin and not name.startswith(("_", "set_")) and hasattr(jtensor, name):
            found[name] = listed(name, function, functions.get(name) or of_schemas(torch, name))
    x = torch.ones(2, 2, dtype=torch.complex64)
    for name in dir(jtensor.Tensor):
        if type(getattr(x, name, None)) is builtin and not name.startswith("_") and name not in ("numpy", "apply_"):
            found["Tensor." + name] = listed(name, getattr(x, name), methods.get(name) or [
                one[1:] for one in of_schemas(torch, name)], True)
    for space, prefix in (("nn.functional", ""), ("linalg", "linalg_"), ("fft", "fft_"), ("special", "special_")):
        theirs, ours = torch, jtensor
        for part in space.split("."):
            theirs, ours = getattr(theirs, part), getattr(ours, part)
        for name in dir(ours):
            function = getattr(theirs, name, None)
            if type(function) is builtin and not name.startswith("_") and found.get(prefix + name) is None:
                found[prefix + name] = listed(prefix + name, function, of_schemas(torch, function.__name__))
    from jtensor.nn.functional.behind import INNER
    for name in INNER:
        found["nn." + name] = listed(name, getattr(torch._C._nn, name, None) or getattr(torch, name), of_schemas(torch, name))
    found.update({name: line and " " + line for name, line in BY_HAND.items()})
    return [name + line for name, line in sorted(found.items()) if line and (line != " -" or name.startswith("Tensor."))]


if __name__ == "__main__":
    made = lines()
    PATH.write_text("\n".join(made) + "\n")
    print(f"{len(made)} names in {PATH.name}")
