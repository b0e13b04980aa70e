"""Writes `jtensor/jit/schemas.txt`: what PyTorch's operators take and answer, as TorchScript names their arguments; and
`jtensor/dispatching/schemas.txt`: the same of those that PyTorch has below autograd, where it is made of no others, with ``out``; and
`jtensor/jit/scripting/schemas.txt`: all forms of the operators that have one of numbers, texts, lists or dictionaries, as far as
`jtensor/jit/calls.py` runs them, in the order in which PyTorch tries them; and `jtensor/jit/other_schemas.txt`: forms that
`library/overloads.txt` names and none of these files has, of which programs ask what they take.

    python tests/house/make_schemas.py

One line for each form, in PyTorch's order, of each operator that jtensor has (`library/overloads.txt`) and that takes or answers tensors,
but for those that write into ``out``, or speak of named dimensions. Needs PyTorch;
``tests/jit/test_traced.py`` says when the file is stale.
"""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "jtensor" / "jit" / "schemas.txt"
BELOW = ROOT / "jtensor" / "dispatching" / "schemas.txt"
SCRIPTED = ROOT / "jtensor" / "jit" / "scripting" / "schemas.txt"
OTHERS = ROOT / "jtensor" / "jit" / "other_schemas.txt"
OPERATORS = ROOT / "jtensor" / "library" / "overloads.txt"


def _is_below(torch, schema, name):
    """Whether an operator is one below autograd, where it is not made of others."""
    try:
        return not torch._C._dispatch_has_kernel_for_dispatch_key(f"{schema.name}.{schema.overload_name}".rstrip("."),
                                                                  "CompositeImplicitAutograd")
    except RuntimeError:                                         # of TorchScript alone
        return False


def lines(below=False):
    """The text of the file, line by line."""
    import torch
    ours = {line.split()[0] for line in OPERATORS.read_text().splitlines()} | {"_unique2"}      # what unique is in a graph
    found = []
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        text = str(schema)
        if space != "aten" or name not in ours or name.startswith("_foreach") or "Dimname" in text or "Tensor" not in text:
            continue
        if below and not _is_below(torch, schema, name):
            continue
        if re.search(r"\.\.\.|[(, ]t(\[\]| |\)|$)|Stream|Storage|Dict|Tensor\[\]\(", text):
            continue                                             # of lists and dictionaries of anything: nobody traces these
        if below or not any(argument.is_out for argument in schema.arguments):
            found.append(text.removeprefix("aten::"))
    return sorted(found, key=lambda line: re.match(r"\w+", line)[0])


def scripted():
    """The lines of the file for the compiler of TorchScript."""
    import sys

    import torch
    sys.path.insert(0, str(ROOT))
    from jtensor.jit import calls
    ours = {line.split()[0] for line in OPERATORS.read_text().splitlines()} | calls._PLAIN.keys() | calls._ALWAYS.keys()
    ours |= calls._TENSORS.keys() | calls._IN_TEXTS
    run = {f"aten::{name}" for name in ours} | {f"prim::{name}" for name in calls._PRIM}
    traced, found = {"aten::" + line for line in lines()}, []
    for name in sorted(run):
        forms = [schema for schema in torch._C._jit_get_schemas_for_operator(name)
                 if not any(argument.is_out for argument in schema.arguments) and "Dimname" not in str(schema)]
        texts = [str(schema) for schema in forms]
        if not set(texts) <= traced and not name.startswith(("aten::_foreach", "aten::_fused")):
            found += texts
    return found


def others(known):
    """The schemas of the forms that `library/overloads.txt` names, but for those that are known."""
    import torch
    forms = {(name, form) for name, *found in map(str.split, OPERATORS.read_text().splitlines()) for form in found}
    texts = [str(schema).removeprefix("aten::") for schema in torch._C._jit_get_all_schemas()
             if schema.name.startswith("aten::") and (schema.name[6:], schema.overload_name or "default") in forms]
    return sorted(dict.fromkeys(text for text in texts if text not in known))


if __name__ == "__main__":
    PATH.write_text("".join([line + "\n" for line in lines()]))
    BELOW.write_text("".join([line + "\n" for line in lines(below=True)]))
    SCRIPTED.write_text("".join([line + "\n" for line in scripted()]))
    OTHERS.write_text("".join([line + "\n" for line in others({*lines(), *lines(below=True)})]))
