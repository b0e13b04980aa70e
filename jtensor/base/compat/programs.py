"""Programs: compiled from a jaxpr, called, stored and loaded again, the short way or the public one.

Owns: XLA's options and what else decides the machine code (`configuration`). May not know: tensors, the tape, files.
"""
import functools
import json
import pickle
import time
import weakref

import jax
import numpy as np

from . import compiler_client, forked
from .arrays import admitted, aval_of, default_device, put, sharding_of
from .inside import KNOWN, compiler, short_way, x64, xla_client
from .lowering import lowered_module


class Program:
    """A compiled program: ``run(list of arrays) -> list of jax.Array``.

    Attributes: ``inputs`` and ``outputs`` (a (shape, numpy dtype) each), ``donated`` (positions whose buffers a run takes over),
    ``device``, ``seconds`` (what tracing, lowering and compiling, or loading, took, by name), ``portable`` (whether `dump` can),
    ``slow_to_begin`` (says who made it: what its first run makes that later ones use, or ""), ``instead`` (an equal one that `dump`
    takes, where XLA does not serialise this one).
    ``run`` trusts its caller: arrays of the given shapes and types, on the device; NumPy arrays and Python scalars are let in, slower.
    ``run_kept(arrays, kept)`` is the same, and what comes of it is in the list ``kept`` from the moment it is there: an exception that a
    signal's handler raises behind it cannot lose what has been written over its inputs. ``taken(kept)`` gives it once more.
    """

    __slots__ = ("run", "run_kept", "taken", "inputs", "outputs", "donated", "device", "seconds", "portable", "slow_to_begin",
                 "_executable", "_committed", "_body", "instead", "__weakref__")

    def dump(self):
        """The program as bytes for `load` on the same machine and versions."""
        if self.instead is not None:
            return self.instead.dump()
        if not self.portable:
            raise ValueError("a program that calls back into Python cannot be stored")
        meta = {"in": [_text(s) for s in self.inputs], "out": [_text(s) for s in self.outputs], "donated": self.donated,
                "slow": self.slow_to_begin}
        if isinstance(self._executable, jax.stages.Compiled):
            from jax.experimental import serialize_executable
            meta["way"], body = "public", pickle.dumps(serialize_executable.serialize(self._executable))
        else:
            meta["way"], body = "short", self._body or self._executable.client.serialize_executable(self._executable)
        head = json.dumps(meta).encode()
        return len(head).to_bytes(4, "little") + head + body

    def dump_early(self):
        """Makes the bytes that `dump` answers before the program runs: XLA does not serialise one that has sorted something."""
        if self.portable and not isinstance(self._executable, jax.stages.Compiled) and not self._body:
            self._body = self._executable.client.serialize_executable(self._executable)

    def temporary(self):
        """Bytes that it takes for its intermediate values; 0 where XLA does not say."""
        try:
            found = self._executable
            found = found.memory_analysis() if isinstance(found, jax.stages.Compiled) else found.get_compiled_memory_stats()
            return found.temp_size_in_bytes
        except (AttributeError, jax.errors.JaxRuntimeError):
            return 0


def _text(spec):
    return [list(spec[0]), spec[1].name]


@functools.cache
def _dtype(name):
    return jax.numpy.dtype(name)


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
        module, kept, calls_back = lowered_module(jaxpr, aliases, device, name)
        if not calls_back:
            lowered = time.perf_counter()
            settings = _options(device, tuple(sorted((options or {}).items())))
            executable, body = apart(lambda: _compiled(module, settings, device))
            donated = tuple(i for i, o in enumerate(aliases) if o is not None)
            program = _program(executable, inputs, outputs, donated, device, committed, kept, body)
            program.seconds = {"lower": lowered - begin, "compile": time.perf_counter() - lowered}
            return program
    return _build_public(jaxpr, inputs, outputs, aliases, options, device, committed, apart)


def _compiled(module, settings, device):
    if forked.is_forked():
        return compiler_client.compiled(module, settings, _device_list(device))
    return device.client.compile_and_load(module, executable_devices=_device_list(device), compile_options=settings), None


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

@forked.of_backend
def _device_list(device):
    return xla_client.DeviceList((device,))


@functools.cache
def has_option(name):
    """Whether this XLA has a compiler option of that name; later ones have fewer.

    >>> has_option("xla_backend_optimization_level"), has_option("xla_cpu_never_heard_of")
    (True, False)
    """
    if name in _OF_THE_KNOWN and jax.__version_info__[:2] == KNOWN:
        return True
    # Who sets an option to what is no value of it is told so, or that there is no such option, before anything is compiled.
    device = default_device()
    try:
        if short_way():
            _compiled(_NOTHING, _options(device, ((name, "no value"),)), device)
        else:
            jax.jit(lambda: None).lower().compile(compiler_options={name: "no value"})
    except jax.errors.JaxRuntimeError as error:
        return "No such compile option" not in str(error)
    return True


# Of these the JAX that `inside.KNOWN` names need not be asked: that takes 10 ms.
_OF_THE_KNOWN = {"xla_cpu_use_fusion_emitters", "xla_cpu_enable_platform_dependent_math", "xla_multiheap_size_constraint_per_heap"}
_NOTHING = "module @nothing {func.func public @main() {return}}"


@functools.lru_cache(maxsize=256)
def _options(device, options):
    options = dict(options)
    extra = options.pop(_EXTRA, ())
    found = compiler.get_compile_options(1, 1, device_assignment=np.array([[device]]), env_options_overrides=options,
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


@functools.cache
def _unchecked():
    """What tells JAX not to check what a result is: since 0.11 it never does. Its text alone tells, which takes 15 ms,
    since the function is not written in Python."""
    told = jax.__version_info__[:2] == KNOWN or "_skip_checks" in (xla_client.array_result_handler.__doc__ or "")
    return {"_skip_checks": True} if told else {}


def _program(executable, inputs, outputs, donated, device, committed, kept=(), body=None):
    # ``body``: what it was loaded from. XLA does not write it again: what it then writes lacks the functions.
    execute, sharding = executable.execute_sharded, sharding_of(device)
    handlers = [xla_client.array_result_handler(aval_of(*spec), sharding, committed=committed, **_unchecked()) for spec in outputs]

    def run(arrays):
        try:
            results = execute(arrays)
        except TypeError:           # something among them is not a jax.Array
            results = execute(admitted(arrays, inputs, device, committed))
        return results.consume_with_handlers(handlers)

    # A handler runs between two of Python's instructions; `extend` of a `map` is one, in which XLA is called and its answer put away.
    def run_kept(arrays, kept):
        try:
            kept.extend(map(execute, (arrays,)))
        except TypeError:
            kept.extend(map(execute, (admitted(arrays, inputs, device, committed),)))
        return taken(kept)

    def taken(kept):
        if len(kept) == 1:
            kept.extend(map(kept[0].consume_with_handlers, (handlers,)))
        return kept[1]

    if forked.is_forked():
        by_itself, by_itself_kept, where = run, run_kept, device if committed else None

        def run(arrays):
            return by_itself(forked.taken_over(arrays, where, put))

        def run_kept(arrays, kept):
            return by_itself_kept(forked.taken_over(arrays, where, put), kept)

    run.kept = kept
    self = Program.__new__(Program)
    self.run, self.inputs, self.outputs, self.donated, self.device = run, inputs, outputs, donated, device
    self.run_kept, self.taken = run_kept, taken
    self.portable, self._executable, self._committed, self.seconds, self.slow_to_begin = not kept, executable, committed, {}, ""
    self._body, self.instead = body, None
    _KNOWN.add(self)
    return self


_KNOWN = weakref.WeakSet()


def _revived(program):
    """Makes a program of the parent's one of this process, which fork has made."""
    again = load(program.dump(), program.device if program._committed else None)
    program.run, program.run_kept, program.taken = again.run, again.run_kept, again.taken
    program._executable, program._body = again._executable, again._body


def after_fork():
    """What a child of fork has to do before it computes.

    >>> after_fork()                    # where fork has made the process; here it would lose its threads       # doctest: +SKIP
    """
    forked.start_anew(list(_KNOWN), _revived)


# ---- the public way --------------------------------------------------------------------------------------------------

def _build_public(jaxpr, inputs, outputs, aliases, options, device, committed, apart):
    forked.refuse()
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
            return list(compiled(*admitted(arrays, inputs, device, committed)))

    def run_kept(arrays, kept):
        kept.append(run(arrays))                # all but as soon as it is there
        return kept[0]

    self = Program.__new__(Program)
    self.run, self.inputs, self.outputs, self.donated, self.device = run, inputs, outputs, donated, device
    self.run_kept, self.taken = run_kept, lambda kept: kept[0]
    self.portable, self._executable, self._committed, self.seconds, self.slow_to_begin = True, compiled, committed, {}, ""
    self.instead = None
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
        program = _program(executable, inputs, outputs, donated, device, committed, body=body)
    program.slow_to_begin = meta["slow"]
    program.seconds = {"load": time.perf_counter() - begin}
    return program


_CONFIGURED = ("jax_default_matmul_precision", "jax_threefry_partitionable", "jax_default_prng_impl", "jax_numpy_rank_promotion",
               "jax_exec_time_optimization_effort", "jax_optimization_level", "jax_use_shardy_partitioner")


def configuration(device=None):
    """What beside the program decides the code made of it: versions, device, JAX's settings that reach the compiler. Texts."""
    device = device or default_device()
    client = device.client
    settings = [f"{name}={getattr(jax.config, name, None)}" for name in _CONFIGURED]
    return [f"jax {jax.__version__}", f"jaxlib {jax.lib.__version__}", f"{client.platform} {client.platform_version}",
            f"device {device.device_kind} {device.id}", f"short={short_way()}", *settings]
