"""Everything that depends on how JAX is built inside; the only room that may import `jax._src`.

Owns: the short way from a flat function to a running program (trace, lower, compile, call, serialise), the long, public way
that gives the same answers where the short one is not there, and a few questions about the installation. May not know:
tensors, the tape, files.

The short way exists because JAX's public one serves trees, shardings and transformations that a tape does not have:

    lowering     a new MLIR context costs 2 ms, a small kernel's own lowering 0.5: here a thread keeps its context
    calling      `jit`'s signature check costs 0.25 us an input; an executor that knows its avals needs none
    loading      a pickle of JAX's bookkeeping, twice the time of the machine code in it

Nothing of JAX's global configuration is read for longer than a call or written at all.

>>> import jax, numpy as np
>>> with x64():
...     program = build(trace(lambda a: [a + 1], [jax.ShapeDtypeStruct((2,), np.int64)]))
>>> program.run([np.array([1, 2])])
[Array([2, 3], dtype=int64)]
"""
import functools
import json
import os
import pickle
import threading
import time
from itertools import count

import jax
import numpy as np

try:
    from jax._src import compiler as _compiler
    from jax._src import core as _core
    from jax._src import linear_util as _linear_util
    from jax._src import sharding_impls as _shardings
    from jax._src import source_info_util as _source_info
    from jax._src.interpreters import mlir as _mlir
    from jax._src.interpreters import partial_eval as _partial_eval
    from jax._src.lib import _jax
    from jax._src.lib import xla_client as _xc
    from jaxlib.mlir import ir as _ir
    _SHORT = os.environ.get("JTENSOR_PUBLIC_JAX") != "1" and all(hasattr(*entry) for entry in (
        (_xc, "array_result_handler"), (_xc, "batched_device_put"), (_xc, "DeviceList"), (_mlir, "make_ir_context"),
        (_mlir, "lower_jaxpr_to_fun"), (_partial_eval, "trace_to_jaxpr_dynamic"), (_linear_util, "DebugInfo"), (_linear_util, "wrap_init"),
        (_core, "Var"), (_core, "new_jaxpr_eqn"), (_core, "current_jaxpr_eqn_context"), (_source_info, "new_source_info"),
        (_compiler, "get_compile_options"), (_core, "ShapedArray"), (_shardings, "ShardingContext"), (jax.enable_x64, "swap_local"),
        (jax.enable_x64, "set_local"), (_jax, "collect_garbage")))
except ImportError:                         # another JAX: the public way serves, slower
    _SHORT = False

x64 = functools.partial(jax.enable_x64, True)
"""The scope under which programs are traced and lowered, so that 64-bit types are real."""


def short_way():
    """Whether programs are built and called by JAX's inner entry points rather than the public ones."""
    return _SHORT


# ---- arrays ----------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=4096)
def _aval(shape, dtype):
    return _core.ShapedArray(shape, dtype)


@functools.cache
def _sharding(device):
    return jax.sharding.SingleDeviceSharding(device)


@functools.cache
def default_device():
    """The device where programs run unless told otherwise: the first of JAX's default backend, which this starts."""
    return jax.local_devices()[0]


def cpu_apart(queue):
    """A CPU device of its own, whose programs wait for nobody else's: in a queue of theirs, or in the thread that calls them.

    None where only the public way is there, which knows no devices but those that JAX made itself.

    >>> cpu_apart(queue=False) in jax.devices("cpu")
    False
    """
    if not _SHORT:
        return None
    try:
        return _xc.make_cpu_client(asynchronous=queue, num_devices=1).local_devices()[0]
    except (AttributeError, TypeError, RuntimeError):           # another jaxlib
        return None


def put(array, device=None):
    """A `jax.Array` of a NumPy array's elements and type (64-bit types stay), 2.5 us.

    The NumPy array may be shared rather than copied: the caller must not write to it any more.

    >>> put(np.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    if not short_way():
        with x64():
            return jax.device_put(array, device)
    target = device or default_device()
    if array.itemsize < 8:
        return _xc.batched_device_put(_aval(array.shape, array.dtype), _sharding(target), [array], [target], device is not None)
    before = jax.enable_x64.swap_local(True)         # else the elements would be cut to 32 bits; `with x64()` is the same in Python
    try:
        return _xc.batched_device_put(_aval(array.shape, array.dtype), _sharding(target), [array], [target], device is not None)
    finally:
        jax.enable_x64.set_local(before)


def let_go():
    """Frees the Python objects that XLA has done with, some a run; else they stay until Python's collector runs, which may be never.

    >>> let_go()
    """
    if _SHORT:                              # `jit` does it by itself
        _jax.collect_garbage()


def _admit(arrays, specs, device, committed):
    """What a program was given, made what it can be called with: NumPy arrays and Python scalars are copied to the device."""
    target = device if committed else None
    for array in arrays:
        if isinstance(array, jax.core.Tracer):
            raise TypeError("a compiled program needs concrete arrays; a JAX tracer runs the operation's own function")
    return [array if isinstance(array, jax.Array) else put(np.array(array, dtype, order="C").reshape(shape), target)
            for array, (shape, dtype) in zip(arrays, specs, strict=True)]


def is_out_of_memory(error):
    """Whether an exception of a program's run says that the device has no room.

    >>> is_out_of_memory(ValueError("no"))
    False
    """
    return isinstance(error, jax.errors.JaxRuntimeError) and str(error).startswith(("RESOURCE_EXHAUSTED", "Out of memory"))


# ---- programs --------------------------------------------------------------------------------------------------------

class Program:
    """A compiled program: ``run(list of arrays) -> list of jax.Array``.

    Attributes: ``inputs`` and ``outputs`` (a (shape, numpy dtype) each), ``donated`` (positions whose buffers a run takes over),
    ``device``, ``seconds`` (what tracing, lowering and compiling, or loading, took, by name), ``portable`` (whether `dump` can),
    ``slow_to_begin`` (whether whoever made it says that its first run makes what later ones use).
    ``run`` trusts its caller: arrays of the given shapes and types, on the device; NumPy arrays and Python scalars are let in, slower.
    """

    __slots__ = ("run", "inputs", "outputs", "donated", "device", "seconds", "portable", "slow_to_begin", "_executable", "_committed",
                 "__weakref__")

    def dump(self):
        """The program as bytes for `load` on the same machine and versions."""
        if not self.portable:
            raise ValueError("a program that calls back into Python cannot be stored")
        meta = {"in": [_text(s) for s in self.inputs], "out": [_text(s) for s in self.outputs], "donated": self.donated,
                "slow": self.slow_to_begin}
        if isinstance(self._executable, jax.stages.Compiled):
            from jax.experimental import serialize_executable
            meta["way"], body = "public", pickle.dumps(serialize_executable.serialize(self._executable))
        else:
            meta["way"], body = "short", self.device.client.serialize_executable(self._executable)
        head = json.dumps(meta).encode()
        return len(head).to_bytes(4, "little") + head + body


def _text(spec):
    return [list(spec[0]), spec[1].name]


@functools.cache
def _dtype(name):
    return jax.numpy.dtype(name)


def trace(function, avals):
    """The jaxpr of a flat function: arrays in, a list or tuple of arrays out. A jaxpr is answered as it is."""
    if hasattr(function, "eqns"):
        return function
    if not short_way():
        return jax.make_jaxpr(function)(*avals)
    # By way of `jit`, as `make_jaxpr` goes, it takes 0.2 ms more.
    flat = _linear_util.wrap_init(function, debug_info=_linear_util.DebugInfo("program", "program", None, None))
    jaxpr, _, constants = _partial_eval.trace_to_jaxpr_dynamic(flat, [_aval(a.shape, np.dtype(a.dtype)) for a in avals])
    return _core.ClosedJaxpr(jaxpr, constants)


@functools.lru_cache(maxsize=1024)
def _traced(function, avals):
    return trace(lambda *arrays: [function(*arrays)], avals)


class Writer:
    """A jaxpr written down equation by equation, where `trace` would work out anew what is known. For the short way alone.

    Values are what it answers, NumPy scalars and arrays; ``zero`` and ``inputs`` those to begin with. Call it under one scope (`x64`).
    """

    def __init__(self, avals):
        self._variables = [_core.Var(_aval(a.shape, np.dtype(a.dtype))) for a in avals]
        self.zero, *self.inputs = self._variables
        self._equations, self._constants, self._context = [], {}, _core.current_jaxpr_eqn_context()
        self._source = _source_info.new_source_info()

    def bind(self, primitive, params, arguments, avals):
        """A primitive's results, which have these types."""
        results = [_core.Var(a) for a in avals]
        self._equations.append(_core.new_jaxpr_eqn([self._atom(x) for x in arguments], results, primitive, params, _core.no_effects,
                                                   self._source, self._context))
        return results

    def call(self, function, *arguments):
        """The result of a function of arrays, which is traced once for arguments of the same types."""
        atoms = [self._atom(x) for x in arguments]
        closed = _traced(function, tuple([_aval(a.aval.shape, a.aval.dtype) for a in atoms]))
        names = dict(zip(closed.jaxpr.invars, atoms)) | dict(zip(closed.jaxpr.constvars, map(self._atom, closed.consts)))

        def read(atom):
            return atom if isinstance(atom, _core.Literal) else names[atom]
        for e in closed.jaxpr.eqns:
            names.update(zip(e.outvars, self.bind(e.primitive, e.params, [read(v) for v in e.invars], [v.aval for v in e.outvars])))
        result, = closed.jaxpr.outvars
        return read(result)

    def done(self, outputs):
        """The jaxpr that gives these values."""
        outputs = [self._atom(x) for x in outputs]
        variables, values = [v for v, _ in self._constants.values()], [x for _, x in self._constants.values()]
        names = _linear_util.DebugInfo("program", "program", None, None)
        return _core.ClosedJaxpr(_core.Jaxpr(variables, self._variables, outputs, self._equations, _core.no_effects, names), values)

    def _atom(self, x):
        if isinstance(x, (_core.Var, _core.Literal)):
            return x
        aval = jax.typeof(x)
        if not aval.shape:
            return _core.Literal(x, aval)
        return self._constants.setdefault(id(x), (_core.Var(aval), x))[0]


def build(jaxpr, donate=(), options=None, device=None, name="program", apart=lambda job: job()):
    """Compile a jaxpr. Call it under the same scope (`x64`) as `trace`.

    ``donate``: positions of inputs whose buffers the program may take over, or pairs of an input's and an output's; what does not match
    is left alone.
    ``options``: XLA's compiler options of this program; "xla_backend_extra_options" is a tuple of names, or of "name=value". ``apart(job)``
    runs XLA's part of the work, which needs no scope, and answers its result. Raises what XLA raises.
    """
    committed, device = device is not None, device or default_device()
    inputs = tuple((a.shape, np.dtype(a.dtype)) for a in jaxpr.in_avals)
    outputs = tuple((a.shape, np.dtype(a.dtype)) for a in jaxpr.out_avals)
    aliases = _aliases(inputs, outputs, donate)
    if short_way() and not jaxpr.effects:
        begin = time.perf_counter()
        module, kept, calls_back = _lower(jaxpr, aliases, device, name)
        if not calls_back:
            lowered = time.perf_counter()
            settings = _options(device, tuple(sorted((options or {}).items())))
            executable = apart(lambda: device.client.compile_and_load(module, executable_devices=_device_list(device),
                                                                      compile_options=settings))
            donated = tuple(i for i, o in enumerate(aliases) if o is not None)
            program = _program(executable, inputs, outputs, donated, device, committed, kept)
            program.seconds = {"lower": lowered - begin, "compile": time.perf_counter() - lowered}
            return program
    return _build_public(jaxpr, inputs, outputs, aliases, options, device, committed, apart)


def _aliases(inputs, outputs, donate):
    """For each input the output that takes over its buffer, or None: the one named, else outputs of the same shape and type, in order."""
    free = {}
    for position, spec in enumerate(outputs):
        free.setdefault(spec, []).append(position)
    found = [None] * len(inputs)
    for position in donate:
        if type(position) is tuple:
            position, output = position
            if inputs[position] == outputs[output]:
                found[position] = output
        elif free.get(inputs[position]):
            found[position] = free[inputs[position]].pop(0)
    return found


# ---- the short way ---------------------------------------------------------------------------------------------------

_LOCAL = threading.local()
_CONTEXT_USES = 512         # a context keeps every type, attribute and location it ever made


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
        context = _mlir.JaxIrContext()
        context.append_dialect_registry(_mlir.upstream_dialects)
        context.load_all_available_dialects()
        context.set_thread_pool(_mlir.global_thread_pool)
        dialects = _mlir.dialects
        for register in (dialects.sdy.register_dialect, dialects.mpmd.register_dialect, register_mhlo_dialect,
                         dialects.chlo.register_dialect, dialects.hlo.register_dialect):
            register(context)
        return context
    except (ImportError, AttributeError):
        return _mlir.make_ir_context()


def _lower(jaxpr, aliases, device, name):
    """(MLIR module, objects to keep alive with the program, whether it calls back into Python)."""
    # Constants stay in the program: the executor lifts those that vary.
    context, equations = _context()
    known = len(equations)
    module = _mlir.ModuleContext(
        platforms=(getattr(device.client, "_raw_platform", device.client.platform),), backend=device.client,
        axis_context=_shardings.ShardingContext(1, None, None), keepalives=[], channel_iterator=count(2), host_callbacks=[],
        lowering_parameters=_mlir.LoweringParameters(hoist_constants_as_args=False), context=context, lowering_cache=equations)
    try:
        with module.context, _ir.Location.unknown(module.context):
            attributes = module.module.operation.attributes
            attributes["sym_name"] = _ir.StringAttr.get(name)
            attributes["mhlo.num_replicas"] = attributes["mhlo.num_partitions"] = _mlir.i32_attr(1)
            _mlir.lower_jaxpr_to_fun(module, name, jaxpr, [], num_const_args=0, main_function=True, in_avals=jaxpr.in_avals,
                                     input_output_aliases=aliases)
    finally:
        for key in list(equations)[known:]:
            if not _of_no_module(equations[key]):
                del equations[key]
    return module.module, module.keepalives, bool(module.host_callbacks)


def _of_no_module(entry):
    """Whether what an equation was lowered to can be copied into other modules: it calls nothing and has no programs inside."""
    def plain(op):
        return op.name == "func.return" or (
            op.name.startswith(("stablehlo.", "chlo.")) and op.name != "stablehlo.custom_call" and not len(op.regions))
    return entry.inline and not entry.const_args and all(plain(op.operation) for op in entry.func.entry_block.operations)


@functools.cache
def _device_list(device):
    return _xc.DeviceList((device,))


@functools.lru_cache(maxsize=256)
def _options(device, options):
    options = dict(options)
    extra = options.pop(_EXTRA, ())
    found = _compiler.get_compile_options(1, 1, device_assignment=np.array([[device]]), env_options_overrides=options,
                                          detailed_logging=False, backend=device.client)
    if extra:                   # a map, for which JAX has no setter: written as its message is, which adds it to the one before
        named = (name.partition("=") for name in extra)
        entries = [_field(_EXTRA_NUMBER, _field(1, name.encode()) + _field(2, value.encode())) for name, _, value in named]
        found = found.ParseFromString(found.SerializeAsString() + b"".join(_field(3, _field(3, entry)) for entry in entries))
    return found


_EXTRA, _EXTRA_NUMBER = "xla_backend_extra_options", 500        # in xla.proto: CompileOptions 3, of it 3 (DebugOptions), of it 500


def _field(number, payload):
    """A protocol buffer's field of bytes."""
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _varint(n):
    return bytes([n & 127 | 128]) + _varint(n >> 7) if n > 127 else bytes([n])


def _program(executable, inputs, outputs, donated, device, committed, kept=()):
    execute, sharding = executable.execute_sharded, _sharding(device)
    handlers = [_xc.array_result_handler(_aval(*spec), sharding, committed=committed, _skip_checks=True) for spec in outputs]

    def run(arrays):
        try:
            results = execute(arrays)
        except TypeError:           # something among them is not a jax.Array
            results = execute(_admit(arrays, inputs, device, committed))
        return results.consume_with_handlers(handlers)

    run.kept = kept
    self = Program.__new__(Program)
    self.run, self.inputs, self.outputs, self.donated, self.device = run, inputs, outputs, donated, device
    self.portable, self._executable, self._committed, self.seconds, self.slow_to_begin = not kept, executable, committed, {}, False
    return self


# ---- the public way --------------------------------------------------------------------------------------------------

def _build_public(jaxpr, inputs, outputs, aliases, options, device, committed, apart):
    donated = tuple(i for i, o in enumerate(aliases) if o is not None)
    begin = time.perf_counter()
    avals = [jax.ShapeDtypeStruct(*spec) for spec in inputs]
    from jax.extend.core import jaxpr_as_fun
    with jax.default_device(device):
        jitted = jax.jit(jaxpr_as_fun(jaxpr), keep_unused=True, donate_argnums=donated)
        lowered = jitted.lower(*avals)
        middle = time.perf_counter()
        settings = {name: value for name, value in (options or {}).items() if name != _EXTRA}       # they save time, no more
        compiled = apart(lambda: lowered.compile(compiler_options=settings or None))
    program = _program_public(compiled, inputs, outputs, donated, device, committed)
    program.seconds = {"lower": middle - begin, "compile": time.perf_counter() - middle}
    program.portable = not jaxpr.effects and "callback" not in lowered.as_text()
    return program


def _program_public(compiled, inputs, outputs, donated, device, committed):
    def run(arrays):
        with x64():
            return list(compiled(*_admit(arrays, inputs, device, committed)))

    self = Program.__new__(Program)
    self.run, self.inputs, self.outputs, self.donated, self.device = run, inputs, outputs, donated, device
    self.portable, self._executable, self._committed, self.seconds, self.slow_to_begin = True, compiled, committed, {}, False
    return self


# ---- loading ---------------------------------------------------------------------------------------------------------

def load(data, device=None):
    """The program of `Program.dump`'s bytes. They are machine code: load only what this user wrote."""
    begin = time.perf_counter()
    committed, device = device is not None, device or default_device()
    size = int.from_bytes(data[:4], "little")
    meta, body = json.loads(bytes(data[4:4 + size])), bytes(data[4 + size:])
    inputs, outputs = (tuple((tuple(shape), _dtype(name)) for shape, name in meta[side]) for side in ("in", "out"))
    donated = tuple(meta["donated"])
    if b"lapack_" in body:                  # JAX looks for LAPACK when it lowers a call of it, and these have been lowered elsewhere
        from jaxlib.lapack import prepare_lapack_call
        prepare_lapack_call("gesdd", np.dtype(np.float32))
    if meta["way"] == "public":
        from jax.experimental import serialize_executable
        compiled = serialize_executable.deserialize_and_load(*pickle.loads(body), backend=device.client, execution_devices=[device])
        program = _program_public(compiled, inputs, outputs, donated, device, committed)
    else:
        executable = device.client.deserialize_executable(body, executable_devices=_device_list(device))
        program = _program(executable, inputs, outputs, donated, device, committed)
    program.slow_to_begin = meta["slow"]
    program.seconds = {"load": time.perf_counter() - begin}
    return program


# ---- questions about the installation --------------------------------------------------------------------------------

_CONFIGURED = ("jax_default_matmul_precision", "jax_threefry_partitionable", "jax_default_prng_impl", "jax_numpy_rank_promotion",
               "jax_exec_time_optimization_effort", "jax_optimization_level", "jax_use_shardy_partitioner")


def configuration(device=None):
    """What beside the program decides the code made of it: versions, device, JAX's settings that reach the compiler. Texts."""
    device = device or default_device()
    client = device.client
    settings = [f"{name}={getattr(jax.config, name, None)}" for name in _CONFIGURED]
    return [f"jax {jax.__version__}", f"jaxlib {jax.lib.__version__}", f"{client.platform} {client.platform_version}",
            f"device {device.device_kind} {device.id}", f"short={short_way()}", *settings]


def backend_started():
    """Whether JAX has started a backend, after which its threads are what they are.

    >>> isinstance(backend_started(), bool)
    True
    """
    from jax._src import xla_bridge
    return xla_bridge.backends_are_initialized()
