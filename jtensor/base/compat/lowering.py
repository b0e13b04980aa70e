"""From a jaxpr to an MLIR module, the short way: a thread keeps its context, and what equations have been lowered to in it.

May not know: XLA's options, devices but by name.
"""
import functools
import inspect
import io
import threading
from itertools import count

from .inside import ir, mlir, sharding_impls

_LOCAL = threading.local()
_CONTEXT_USES = 512         # a context keeps every type, attribute and location it ever made
_THREADS = [True]           # whether MLIR may use JAX's threads, which a child of fork has not got
_LEFT = []


def begin_anew():
    """In a child of fork: contexts that work in the thread that they are used in. Those that there are stay, since they have threads."""
    _LEFT.append(_LOCAL.__dict__.copy())
    _LOCAL.__dict__.clear()
    _THREADS[0] = False


def bytecode(module):
    """A module, or the text of one, as bytes, which another process can compile."""
    if isinstance(module, str):
        return module.encode()
    found = io.BytesIO()
    module.operation.write_bytecode(file=found)
    return found.getvalue()


def _context():
    """(MLIR context of this thread, what equations have been lowered to in it: JAX's cache, of one module otherwise)."""
    used = getattr(_LOCAL, "used", _CONTEXT_USES)
    if used >= _CONTEXT_USES:
        _LOCAL.context, _LOCAL.equations, used = _new_context(), {}, 0
    _LOCAL.used = used + 1
    return _LOCAL.context, _LOCAL.equations


def _new_context():
    # As `make_ir_context`, which for the sake of one function imports the classes of a dialect that nothing in JAX's Python writes: 18 ms.
    try:
        from jaxlib.mlir._mlir_libs._mlirHlo import register_mhlo_dialect
        context = mlir.JaxIrContext()
        context.append_dialect_registry(mlir.upstream_dialects)
        context.load_all_available_dialects()
        if _THREADS[0]:
            context.set_thread_pool(mlir.global_thread_pool)
        else:
            context.enable_multithreading(False)
        dialects = mlir.dialects
        for register in (dialects.sdy.register_dialect, dialects.mpmd.register_dialect, register_mhlo_dialect,
                         dialects.chlo.register_dialect, dialects.hlo.register_dialect):
            register(context)
        return context
    except (ImportError, AttributeError):
        return mlir.make_ir_context()


def lowered_module(jaxpr, aliases, device, name):
    """(MLIR module, objects to keep alive with the program, whether it calls back into Python)."""
    # Constants stay in the program: the executor lifts those that vary.
    context, equations = _context()
    known = len(equations)
    module = mlir.ModuleContext(
        platforms=(getattr(device.client, "_raw_platform", device.client.platform),), backend=device.client,
        axis_context=sharding_impls.ShardingContext(1, None, None), keepalives=[], channel_iterator=count(2), host_callbacks=[],
        lowering_parameters=mlir.LoweringParameters(hoist_constants_as_args=False), context=context, lowering_cache=equations)
    try:
        with module.context, ir.Location.unknown(module.context):
            attributes = module.module.operation.attributes
            attributes["sym_name"] = ir.StringAttr.get(name)
            attributes["mhlo.num_replicas"] = attributes["mhlo.num_partitions"] = mlir.i32_attr(1)
            types = {"out_avals": jaxpr.out_avals} if _wants_results() else {}
            mlir.lower_jaxpr_to_fun(module, name, jaxpr, [], num_const_args=0, main_function=True, in_avals=jaxpr.in_avals,
                                     input_output_aliases=aliases, **types)
    finally:
        for key in list(equations)[known:]:
            if not _of_no_module(equations[key]):
                del equations[key]
    return module.module, module.keepalives, bool(module.host_callbacks)


@functools.cache
def _wants_results():
    """Whether this JAX is told the types of a program's results, too (since 0.11)."""
    return "out_avals" in inspect.signature(mlir.lower_jaxpr_to_fun).parameters


def _of_no_module(entry):
    """Whether what an equation was lowered to can be copied into other modules: it calls nothing and has no programs inside."""
    def plain(op):
        return op.name == "func.return" or (
            op.name.startswith(("stablehlo.", "chlo.")) and op.name != "stablehlo.custom_call" and not len(op.regions))
    return entry.inline and not entry.const_args and all(plain(op.operation) for op in entry.func.entry_block.operations)
