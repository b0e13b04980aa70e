"""Everything that depends on how JAX is built inside; only `base.compat.inside` imports its private modules.

Owns: the short way from a flat function to a running program (trace, lower, compile, call, serialise), the long, public way
that gives the same answers where the short one is not there, and a few questions about the installation. May not know:
tensors, the tape, files.

The short way exists because JAX's public one serves trees, shardings and transformations that a tape does not have:

    lowering     a new MLIR context costs 2 ms, a small kernel's own lowering 0.5: here a thread keeps its context
    calling      `jit`'s signature check costs 0.25 us an input; an executor that knows its avals needs none
    loading      a pickle of JAX's bookkeeping, twice the time of the machine code in it

Nothing of JAX's global configuration is read for longer than a call or written at all. (A process that fork has made is another matter:
JAX cannot work there, and is given what it takes, `forked`.)

>>> import jax, numpy as np
>>> with x64():
...     program = build(trace(lambda a: [a + 1], [jax.ShapeDtypeStruct((2,), np.int64)]))
>>> program.run([np.array([1, 2])])
[Array([2, 3], dtype=int64)]
"""
from .arrays import (
    LITTLE,
    another,
    copied,
    cpu_apart,
    default_device,
    empty,
    fetched,
    filled,
    is_out_of_memory,
    is_seen,
    looked_at,
    own,
    padded,
    put,
    sent,
)
from .forked import NO_ACCELERATOR, is_forked, of_backend, settle, wait_for_threads
from .inside import backend_started, let_go, no_fork_warning, short_way, x64
from .jaxprs import Writer, is_tracing, number_like, parts_of_scan, scan_of_one_more, trace
from .programs import Program, after_fork, build, configuration, has_option, load

__all__ = ["LITTLE", "NO_ACCELERATOR", "Program", "Writer", "after_fork", "another", "backend_started", "build", "configuration",
           "copied", "cpu_apart", "default_device", "empty", "fetched", "filled", "has_option", "is_forked", "is_out_of_memory",
           "is_seen", "is_tracing", "let_go", "load", "looked_at", "no_fork_warning", "number_like", "of_backend", "own", "padded",
           "parts_of_scan", "put", "scan_of_one_more", "sent", "settle", "short_way", "trace", "wait_for_threads", "x64"]
