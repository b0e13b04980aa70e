"""`torch.export`: a module's program as a graph of ``torch.ops.aten``, for arguments of fixed sizes.

It is recorded as `torch.jit.trace` records (`tracing`, `lowering`), and made an FX graph (`making`), which an `ExportedProgram` holds.
Owns: these names. May not know: how any of it is done.
"""
from ..base.errors import missing, refusal
from . import exported_program, graph_signature  # noqa: F401
from .dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims, refuse_dynamic
from .exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature, default_decompositions
from .graph_signature import ExportBackwardSignature, ExportGraphSignature

__all__ = ["AdditionalInputs", "Constraint", "Dim", "dims", "draft_export", "export", "ExportBackwardSignature", "ExportedProgram",
           "ExportGraphSignature", "default_decompositions", "load", "ModuleCallEntry", "ModuleCallSignature", "register_dataclass",
           "save", "ShapesCollection", "unflatten"]

_ADVICE = ("\n\nThe error above occurred when calling torch.export.export. If you would like to view some more information about this "
           "error, and get a list of all other errors that may occur in your export call, you can replace your `export()` call with "
           "`draft_export()`.")


def export(mod, args, kwargs=None, *, dynamic_shapes=None, strict=False, preserve_module_call_signature=(),
           prefer_deferred_runtime_asserts_over_guards=False):
    """The `ExportedProgram` of a module for arguments like ``args``, a tuple, and ``kwargs``, a dictionary.

    Arguments and results may be nests of tensors, numbers and texts; sizes, numbers and texts are fixed for good, and so is what Python
    decided. The module is run with copies: neither it nor the arguments change, and no random numbers are used up.

    ``GuardOnDataDependentSymNode`` (a ``RuntimeError``) where Python decides by numbers in tensors; ``ValueError`` for arguments of other
    types, or what is no module; ``TypeError`` where the arguments are not those of ``forward``; ``MissingFeature`` for what no operator
    stands for, regions of `torch.no_grad`, sizes that depend on numbers, ``dynamic_shapes`` other than fixed ones, and ``strict=True``.

    >>> import jtensor as torch
    >>> class Net(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.scale = torch.nn.Parameter(torch.ones(3))
    ...
    ...     def forward(self, x, *, shift):
    ...         return {"sum": torch.relu(x * self.scale) + shift}
    >>> program = torch.export.export(Net(), (torch.ones(2, 3),), {"shift": torch.zeros(3)})
    >>> print(program.graph)
    graph():
        %p_scale : [num_users=1] = placeholder[target=p_scale]
        %x : [num_users=1] = placeholder[target=x]
        %shift : [num_users=1] = placeholder[target=shift]
        %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, %p_scale), kwargs = {})
        %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%mul,), kwargs = {})
        %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%relu, %shift), kwargs = {})
        return (add,)
    >>> program.module()(torch.ones(2, 3), shift=torch.ones(3))["sum"]
    tensor([[2., 2., 2.],
            [2., 2., 2.]], grad_fn=<AddBackward0>)

    Source: https://docs.pytorch.org/docs/stable/export.html
    """
    from ..nn import Module
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    from ..jit import ScriptModule
    if isinstance(mod, ScriptModule):
        raise ValueError("Exporting a ScriptModule is not supported. Maybe try converting your ScriptModule to an ExportedProgram using "
                         "`TS2EPConverter(mod, args, kwargs).convert()` instead.")
    from .._dynamo.exc import UserError
    if not isinstance(args, tuple):
        raise UserError(None, f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}{_ADVICE}")
    if strict:
        raise missing("torch.export.export with strict=True, which reads Python's code", "strict=False")
    if preserve_module_call_signature:
        raise missing("signatures of the modules within (preserve_module_call_signature)", "the whole module's program")
    refuse_dynamic(dynamic_shapes)
    kwargs = {} if kwargs is None else dict(kwargs)
    from . import tracing
    found = tracing.traced(mod, args, kwargs)
    signature = ModuleCallSignature([], [], found.in_spec, found.out_spec, found.arguments)
    calls = [ModuleCallEntry(name, None if name else signature) for name, _ in mod.named_modules(remove_duplicate=False)]
    return ExportedProgram({}, found.graph, found.signature, found.state, {}, calls, (args, kwargs), found.constants)


def save(ep, f, *, extra_files=None, opset_version=None, pickle_protocol=2):
    """Writes an `ExportedProgram` to a path or an open binary file, in PyTorch's format (``.pt2``), whole or not at all.

    `torch.export.load` reads it, here and in PyTorch 2.13. ``extra_files``: {name: text} of further records. ``TypeError`` for anything but
    a program; what that format has no word for is a `MissingFeature`.

    >>> import io, jtensor as torch
    >>> file = io.BytesIO()
    >>> torch.export.save(torch.export.export(torch.nn.ReLU(), (torch.ones(2),)), file)
    >>> torch.export.load(io.BytesIO(file.getvalue())).module()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' instead.")
    from . import files
    files.write(ep, f, extra_files)


def load(f, *, extra_files=None, expected_opset_version=None):
    """The `ExportedProgram` of a file that `save` wrote, here or in PyTorch 2.13: a path, or an open binary file.

    ``extra_files``: a dictionary whose keys name further records, which become its values. ``FileNotFoundError``,
    ``zipfile.BadZipFile`` where there is no such file; programs of sizes that may change, and operators that are not here, are a
    `MissingFeature`. Nothing in a file is run.
    """
    from . import files
    return files.read(f, extra_files)


def register_dataclass(cls, *, serialized_type_name=None):
    """Has a dataclass be a nest of its fields, as an argument or a result of exported programs.

    >>> import dataclasses, jtensor as torch
    >>> @dataclasses.dataclass
    ... class Pair:
    ...     first: torch.Tensor
    ...     second: torch.Tensor
    >>> torch.export.register_dataclass(Pair)
    >>> len(torch.utils._pytree.tree_leaves(Pair(torch.ones(1), torch.ones(2))))
    2
    """
    from ..utils import _pytree as pytree
    pytree.register_dataclass(cls, serialized_type_name=serialized_type_name)


draft_export = refusal("torch.export.draft_export", "exports that go on after errors", "torch.export.export", "it stops at an error.")
unflatten = refusal("torch.export.unflatten", "modules of an exported program's parts", "program.module()", "a program is one graph.")
