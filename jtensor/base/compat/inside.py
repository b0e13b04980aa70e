"""JAX's inner names; the only room that imports `jax._src`, and knows whether all is there that the short way takes.

Where something is missing the public way serves; what cannot be imported is None. May not know: what the names are used for.
"""
import functools

import jax

from .. import switches

ADMITTED = 0, 12
"""The last JAX that the tests have passed with, which `pyproject.toml` asks for. A later one's XLA rewrites other things, so that numbers
would depend on where tapes are cut."""

KNOWN = 0, 10
"""The JAX of which some answers are known without asking, which takes time at each start; of any other they are asked for."""

if jax.__version_info__[:2] > ADMITTED:
    major, minor = ADMITTED
    raise ImportError(f"jtensor runs on JAX up to {major}.{minor}, and this is {jax.__version__}: "
                      f"pip install 'jax<{major}.{minor + 1}' 'jaxlib<{major}.{minor + 1}'")

try:
    from jax._src import compiler, core, linear_util, sharding_impls, source_info_util, xla_bridge
    from jax._src.interpreters import mlir, partial_eval
    from jax._src.lib import _jax, xla_client
    from jaxlib.mlir import ir
    SHORT = not switches.is_on("JTENSOR_PUBLIC_JAX", False) and all(hasattr(*entry) for entry in (
        (xla_client, "array_result_handler"), (xla_client, "batched_device_put"), (xla_client, "DeviceList"), (mlir, "make_ir_context"),
        (mlir, "lower_jaxpr_to_fun"), (partial_eval, "trace_to_jaxpr_dynamic"), (linear_util, "DebugInfo"), (linear_util, "wrap_init"),
        (core, "Var"), (core, "new_jaxpr_eqn"), (core, "current_jaxpr_eqn_context"), (source_info_util, "new_source_info"),
        (compiler, "get_compile_options"), (compiler, "backend_compile_and_load"),
        (compiler, "_cache_write"), (core, "ShapedArray"), (sharding_impls, "ShardingContext"), (jax.enable_x64, "swap_local"),
        (jax.enable_x64, "set_local"), (_jax, "collect_garbage"), (xla_bridge, "_backends"), (xla_bridge, "_clear_backends"),
        (xla_bridge, "make_cpu_client"), (xla_bridge, "_at_fork_handler_installed"), (_jax.ArrayImpl, "_replace_with")))
except ImportError:                         # another JAX: the public way serves, slower
    compiler = core = linear_util = sharding_impls = source_info_util = mlir = partial_eval = _jax = xla_client = ir = None
    SHORT = False

try:
    from jax._src import flattree  # what a `scan` is told of its arguments by (since 0.11)
except ImportError:
    flattree = None

x64 = functools.partial(jax.enable_x64, True)
"""The scope under which programs are traced and lowered, so that 64-bit types are real."""


def short_way():
    """Whether programs are built and called by JAX's inner entry points rather than the public ones."""
    return SHORT


def let_go():
    """Frees the Python objects that XLA has done with, some a run; else they stay until Python's collector runs, which may be never.

    >>> let_go()
    """
    if SHORT:                              # `jit` does it by itself
        _jax.collect_garbage()


def backend_started():
    """Whether JAX has started a backend, after which its threads are what they are.

    >>> isinstance(backend_started(), bool)
    True
    """
    from jax._src import xla_bridge
    return xla_bridge.backends_are_initialized()


def backends():
    """The clients that JAX has started, by platform."""
    from jax._src import xla_bridge
    return dict(xla_bridge._backends)


def change_backend():
    """A new client of the CPU takes the place of all that JAX has started, and is answered."""
    client = xla_bridge.make_cpu_client()
    xla_bridge._clear_backends()
    for cached in (xla_bridge.get_backend, xla_bridge.local_devices, xla_bridge.process_count):
        cached.cache_clear()
    xla_bridge._backends["cpu"] = xla_bridge._default_backend = client
    return client


def compile_by(function):
    """JAX's own programs, too, are compiled by ``function(module, options, devices)``, and lowered in one thread; none is kept on disk."""
    def compile_and_load(backend, module, executable_devices, options, host_callbacks):
        if host_callbacks:
            raise RuntimeError("a process that was forked compiles no program that calls back into Python")
        return function(module, options, executable_devices)

    def context():
        made = in_threads()
        made.enable_multithreading(False)
        return made

    in_threads, mlir.make_ir_context = mlir.make_ir_context, context
    compiler.backend_compile_and_load, compiler._cache_write = compile_and_load, lambda *cached: None


def no_fork_warning():
    """JAX warns of every fork that it deadlocks. What is computed here does not (`forked`): JAX's own words are left out.

    >>> no_fork_warning()
    """
    if SHORT:
        xla_bridge._at_fork_handler_installed = True
