"""Compiled programs: a flat function and the specs of its inputs become the fastest callable there is.

Owns: `Executable`, compiling, the compiler options that are safe. May not know: the tape, operators,
where executables are kept (`trace/cache/store.py`). Everything that depends on JAX's insides is in `base/compat`.

>>> import jax, numpy as np
>>> add = compile_program(lambda a, b: [a + b], [jax.ShapeDtypeStruct((3,), np.int64)] * 2)
>>> add.run([np.arange(3), np.arange(3)])
[Array([0, 2, 4], dtype=int64)]
"""
import contextlib
import functools
import math
import threading
import time

import numpy as np

from ...base import background, compat, forking, malloc  # noqa: F401 - `forking` is told of forks from now on
from ...base.background import Worker
from ..cache import first_product
from ..cache.ahead import PRODUCTS
from .barriers import in_windows
from .boxes import EMITTERS
from .kinds import DIV, ELEMENTWISE, ELEMENTWISE_MOVES, EXTREME, KINDS, MOVES, OTHER, PRODUCT, SQRT, SUM, TRANSCENDENTAL

_EXTRA = "xla_backend_extra_options"
_TUNED = "xla_gpu_autotune_level"
CONSISTENT = "xla_cpu_enable_platform_dependent_math"
_BRIEF = {EMITTERS: False, "xla_cpu_parallel_codegen_split_count": 1, _EXTRA: (
    "xla_cpu_disable_loop_unrolling", "xla_cpu_disable_slp_vectorizer", "xla_cpu_optimize_for_size")}
# What is asked of XLA for a program, beside what it does by default ("all"); measured on programs of 2 to 200 operators.
_EFFORTS = {"cpu": {
    # One operator's program, compiled often and seldom hot: without the fusion emitters it compiles in half the time. A pointwise one is
    # compiled swiftly: rows of a few elements, as of a small picture, are not vectorised where they are unrolled.
    "kernel": {EMITTERS: False},
    # A program that adds nothing up: loops not unrolled, all code in one module. It compiles in less than half of the time and runs
    # as fast.
    "swift": {EMITTERS: False, "xla_cpu_parallel_codegen_split_count": 1, _EXTRA: (
        "xla_cpu_disable_loop_unrolling", "xla_cpu_disable_slp_vectorizer")},
    # A tape of which nobody knows whether it will come again: nor vectorised either. It compiles in a quarter to a half of the time and
    # runs at worst six times slower, where it is all arithmetic on large arrays.
    "brief": _BRIEF,
    # The same on arrays so small that loops over them hardly take time: LLVM optimizes nothing. It compiles in a third of a brief one's
    # time, and whole training steps ran two to four times slower.
    "rough": {**_BRIEF, "xla_backend_optimization_level": 0},
}}
_ALWAYS = {
    # Loops that go through arrays element by element, or turn them, take half as long without the emitter that works tile by tile.
    # And products of matrices are to add up in one order, whatever their sizes and the processor: it costs nothing (`padded`).
    "cpu": {_EXTRA: ("xla_cpu_disable_tiled_emitter",), CONSISTENT: False},
    # What is chosen by taking the time may be another algorithm in another program, with other last bits; and it takes seconds for each
    # product. Without it XLA takes the first, which for products of matrices is a good one (`_always`).
    "gpu": {_TUNED: 0, "xla_gpu_enable_triton_gemm": False},
}
# Functions that the two emitters compute with other last bits (of 90 tried, in float32, float64, bfloat16 and complex): a program
# with one of them keeps the default emitters, so that its bits do not depend on the effort.
_TELLING = {"tan", "atan", "cbrt", "erf"}
_TELLING_COMPLEX = {"rsqrt", "cumprod"}
# What has the same bits where nothing is optimized (of about 110 operations tried in seven types, and 2,400 shapes of matrix products).
# Many others XLA writes out as products and sums where no fence can stand, and only what optimizes contracts these: a program with one of
# them is not compiled roughly.
_ROUGHLY = MOVES - {"complex", "conj"} | frozenset("""add sub add_any mul div neg abs sign max min sqrt integer_pow square eq ne lt le
    gt ge and or xor not is_finite clamp floor ceil round convert_element_type bitcast_convert_type iota reduce_sum reduce_max reduce_min
    reduce_and reduce_or argmax argmin scatter-add scatter_add shift_left shift_right_arithmetic shift_right_logical dot_general""".split())
_ROUGHLY_NARROW = frozenset("exp exp2 log sin cos erf erfc logistic expm1 pow atan2".split())         # in float32 and narrower types
_BFLOAT16 = np.dtype("bfloat16")
_POINTWISE = ELEMENTWISE | ELEMENTWISE_MOVES | frozenset("""broadcast_in_dim reshape squeeze expand_dims iota bitcast_convert_type
    shift_left shift_right_arithmetic shift_right_logical jit""".split())
_LEAST = 8          # of any side of a matrix product: with fewer than four, XLA writes loops of its own

compiled = {"programs": 0, "trace": 0.0, "lower": 0.0, "compile": 0.0}
"""Since the start: how many programs were compiled, and the seconds that each part took."""


def efforts(device=None):
    """The efforts that differ from "all" on a device."""
    return _possible_efforts((device or compat.default_device()).platform)


@functools.cache
def _possible_efforts(platform):
    chosen = _EFFORTS.get(platform, {})
    return chosen if not chosen or compat.has_option(EMITTERS) else {effort: _without_emitters(chosen[effort]) for effort in chosen}


def _without_emitters(options):
    return {name: value for name, value in options.items() if name != EMITTERS}


def options_of(effort, jaxpr, device=None):
    """XLA's options for a program that is compiled with this effort; its bits are those of any other."""
    known = efforts(device)
    options = known.get(effort, {})
    if known and effort == "kernel":
        if all(eqn.primitive.name in _POINTWISE for eqn in _equations(jaxpr)):
            options = known["swift"]
        if _in_parts(jaxpr):
            options = _without_emitters(options)
    if options and any(_windowed(eqn) or _in_loops(eqn) or effort == "swift" and _adds_up(eqn) for eqn in _equations(jaxpr)):
        return {}
    if effort == "rough" and not all(_same_if_rough(eqn) for eqn in _equations(jaxpr)):
        return {}
    if options and any(_tells(eqn) for eqn in _equations(jaxpr)):
        options = _without_emitters(options)
    return options


def _always(jaxpr, device):
    """What is asked of XLA for every program. On a GPU the first algorithm for a convolution is ten times as slow as the best one
    (H200, JAX 0.11), so for these the time is taken."""
    platform, left_out = (device or compat.default_device()).platform, None
    found = _ALWAYS.get(platform, {})
    if CONSISTENT in found and not is_asked_for_consistency():
        left_out = CONSISTENT
    elif _TUNED in found and any(eqn.primitive.name == "conv_general_dilated" for eqn in _equations(jaxpr)):
        left_out = _TUNED
    return {name: value for name, value in found.items() if name != left_out}


def _in_pieces(jaxpr):
    """What has XLA take the memory for a program's intermediate values in pieces that the C allocator keeps (`malloc.LARGEST`) rather than
    at once, which the system gives and takes back at each run. XLA does not serialise such a program. It warns of each value that is larger
    by itself; it widens some of narrow types. What may take very much is better given back: every thread of XLA's that runs programs would
    keep as much."""
    sizes = [v.aval.size * max(v.aval.dtype.itemsize, 4) for eqn in _equations(jaxpr) for v in eqn.outvars if hasattr(v.aval, "size")]
    wanted = malloc.LARGEST < sum(sizes) < _VERY_MUCH and max(sizes) <= malloc.LARGEST
    return {_CONSTRAINT: malloc.LARGEST} if wanted and compat.has_option(_CONSTRAINT) else {}


def gains_by_pieces(program, largest, total):
    """Whether a program for the CPU that is there takes more at once than is kept. ``largest``, ``total``: bytes of its largest value and
    of all that its operations give; inside of them they need more, but not that much."""
    return (program.device or compat.default_device()).platform == "cpu" and largest <= malloc.LARGEST < _INSIDE * total \
        and malloc.LARGEST < program.temporary() < _VERY_MUCH and compat.has_option(_CONSTRAINT)


_INSIDE = 16
PIECES = "pieces"           # an effort: all of it, and memory in pieces
_CONSTRAINT = "xla_multiheap_size_constraint_per_heap"
_VERY_MUCH = (16 << 30) // malloc.ARENAS       # bytes of all values there are: those of a time are a tenth of them and less


@functools.cache
def is_asked_for_consistency():
    """Whether XLA's libraries for the CPU are asked for sums whose order does not depend on the processor, which not every XLA can be."""
    return compat.has_option(CONSISTENT)


def _settings(*chosen):
    """XLA's options for a program, put together of these."""
    settings, extra = {}, []
    for options in chosen:
        settings |= options
        extra += options.get(_EXTRA, ())
    return settings | ({_EXTRA: tuple(dict.fromkeys(extra))} if extra else {})


def _of_rows(jaxpr, options, device):
    """What is asked besides of an XLA that has the emitters alone. A row of three to eight elements it unrolls, and computes some of them
    in vectors, with other last bits (`exp`, `log`, `rsqrt`, ...) than those of the same numbers in one long row. Where it may not unroll
    it takes sums apart in another order; so where there are any, it is asked for small code instead, which is vectorised less."""
    if options or not efforts(device) or compat.has_option(EMITTERS):
        return {}
    if not any(map(_adds_up, _equations(jaxpr))):
        return {_EXTRA: ("xla_cpu_disable_loop_unrolling",)}
    kinds, rows = 0, False
    for eqn in _equations(jaxpr):
        kinds |= KINDS.get(eqn.primitive.name, 0)
        rows = rows or any(2 < v.aval.shape[-1] <= _ROW < math.prod(v.aval.shape) for v in eqn.outvars if v.aval.shape)
    return {_EXTRA: ("xla_cpu_optimize_for_size",)} if rows and kinds & (DIV | SQRT | TRANSCENDENTAL) else {}


_ROW = 8            # elements of a row that is unrolled


def possible(wanted, jaxpr, device=None):
    """The first of these efforts that would not tell in a program's bits, "all" if each would."""
    return next((effort for effort in wanted if options_of(effort, jaxpr, device)), "all")


def _tells(eqn):
    name = eqn.primitive.name
    return name in _TELLING or name in _TELLING_COMPLEX and eqn.outvars[0].aval.dtype.kind == "c"


def _windowed(eqn):
    # Programs of tapes have none of these: `fences` has such sums made axis by axis.
    if eqn.primitive.name not in ("reduce_sum", "reduce_prod"):
        return False
    aval = eqn.invars[0].aval
    return in_windows(eqn.primitive.name, aval.shape, aval.dtype, eqn.params["axes"])


def _in_loops(eqn):
    # XLA has a library for convolutions in float32 and narrower. Of wider ones, of groups that few features come of, of few places, and
    # of one whose operands it swaps, since the kernel is larger than the picture, it makes loops of its own, and of one by a single
    # element, place by place, a matrix product that its other library does not get to see. (Of 2,000 tried, 27 told an effort, each of
    # them one of these.)
    if eqn.primitive.name != "conv_general_dilated":
        return False
    (left, right), (out,), params = (v.aval for v in eqn.invars), (v.aval for v in eqn.outvars), eqn.params
    sides = params["dimension_numbers"]
    picture, kernel = (math.prod(aval.shape[axis] for axis in spec[2:]) for aval, spec in ((left, sides.lhs_spec), (right, sides.rhs_spec)))
    features = out.shape[sides.out_spec[1]]
    product = kernel == 1 and {*params["window_strides"], *params["lhs_dilation"], 1} == {1} and not any(map(any, params["padding"]))
    return (left.dtype.itemsize > 4 or params["batch_group_count"] > 1 or params["feature_group_count"] > 1 and features < _LEAST
            or out.size < _LEAST * features or kernel > picture or product)


def _same_if_rough(eqn):
    name, types = eqn.primitive.name, {np.dtype(v.aval.dtype) for v in (*eqn.invars, *eqn.outvars)}
    if name == "jit":                                               # what it calls is looked at, too
        return True
    if any(dtype.kind == "c" or dtype.kind == "V" and (dtype != _BFLOAT16 or not compat.has_option(EMITTERS)) for dtype in types):
        return False        # the emitters' code hands bfloat16 numbers on as float32 then, and a subnormal one comes back as zero
    if name == "dot_general":
        return types == {np.dtype(np.float32)} and min(_sides(eqn)) >= _LEAST
    return name in _ROUGHLY or name in _ROUGHLY_NARROW and all(dtype.itemsize <= 4 for dtype in types)


def _sides(eqn):
    """How many rows and columns a matrix product has, and over how many elements each of its elements sums."""
    (left, _), (batch, _) = eqn.params["dimension_numbers"]
    first = eqn.invars[0].aval
    free = eqn.outvars[0].aval.shape[len(batch):]
    rows = first.ndim - len(left) - len(batch)
    return math.prod(free[:rows]), math.prod(free[rows:]), math.prod(first.shape[axis] for axis in left)


def _adds_up(eqn):
    # The vectorizer takes a sum apart in another order where it cannot unroll the loop; and without the emitters a reduction is slower.
    name = eqn.primitive.name
    if name == "dot_general":
        return 1 in _sides(eqn)[:2]
    return name == "conv_general_dilated" or bool(KINDS.get(name, 0) & (SUM | PRODUCT | EXTREME | OTHER))


def _in_parts(jaxpr):
    # XLA makes several loops of what would be computed more than once, and lets one write over what it reads from another. Code that is
    # not from the fusion emitters asks in every loop whether it does, and if so goes element by element: up to ten times as slow.
    names = [eqn.primitive.name for eqn in _equations(jaxpr)]
    costly = any(name == "rem" or KINDS.get(name, 0) & (DIV | SQRT | TRANSCENDENTAL) for name in names)
    return costly and len(names) > _ONE_LOOP and any(math.prod(v.aval.shape) >= _LARGE for v in jaxpr.jaxpr.outvars)


_ONE_LOOP, _LARGE = 8, 1 << 15      # equations that one loop can hold; elements over which loops take their time


def _slow_to_begin(jaxpr):
    # "products" or "sums", which have runtimes and machine code that are made when they first run, or "". What goes on until a condition is
    # met, or calls a library, is not to be run on numbers that nobody has chosen.
    names = {eqn.primitive.name for eqn in _equations(jaxpr)}
    if not names.isdisjoint(_WITHOUT_END):
        return ""
    return PRODUCTS if "dot_general" in names or "conv_general_dilated" in names else "sums" if "reduce_sum" in names else ""


_WITHOUT_END = {"while", "ffi_call", "custom_call", "cholesky", "lu", "lu_pivots_to_permutation", "eig", "eigh", "svd", "qr", "geqrf",
                "geqp3", "householder_product", "ormqr", "schur", "hessenberg", "tridiagonal", "tridiagonal_solve", "triangular_solve"}


def _equations(jaxpr):
    for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        yield eqn
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(inner, "eqns"):
                    yield from _equations(inner)


Executable = compat.Program


def compile_program(function, avals, *, donate=(), options=None, effort="all", x64=True, device=None, name="program"):
    """Compile a pure function of flat arrays.

    ``function``: positional arrays to a list or tuple of arrays, or a closed jaxpr. ``avals``: `jax.ShapeDtypeStruct`s (anything
    with ``shape`` and ``dtype``). ``donate``: positions of inputs whose buffers may be taken over; `Executable.donated` says which
    are. ``options``: XLA's compiler options of this program alone; ``effort``: "all", "kernel", "swift", "brief" or "rough"
    (`options_of`), or `PIECES`.
    ``x64``: trace with real 64-bit types. ``device``: a JAX device; results are then committed to it. ``name``: of the program in profiles.

    Answers an `Executable`: ``.run(list)`` gives a list of `jax.Array`s. Inputs are trusted to have the given shapes and types;
    NumPy arrays and Python scalars are converted. Raises what tracing raises, and XLA's error where it cannot compile.
    """
    begin = time.perf_counter()
    with compat.x64() if x64 else contextlib.nullcontext():
        jaxpr = compat.trace(function, avals)
        traced = time.perf_counter() - begin
        chosen = options_of(effort, jaxpr, device)
        pieces = _in_pieces(jaxpr) if effort == PIECES else {}
        settings = _settings(_always(jaxpr, device), pieces, chosen, _of_rows(jaxpr, chosen, device), options or {})
        slow = _slow_to_begin(jaxpr)
        if slow == PRODUCTS and device is None:
            first_product.begin()               # while XLA compiles
        executable = compat.build(jaxpr, donate, settings, device, name, _apart)
    executable.slow_to_begin = slow
    if pieces:
        executable.portable = False             # XLA does not serialise it
    elif any(eqn.primitive.name in _SORTING for eqn in _equations(jaxpr)):
        executable.dump_early()
    executable.seconds["trace"] = traced
    compiled["programs"] += 1
    for part, seconds in executable.seconds.items():
        compiled[part] += seconds
    return executable


_SORTING = frozenset(("sort", "top_k", "approx_top_k"))
_HELPER = Worker("helper")


def _apart(job):
    # Ctrl-C that arrives while the main thread is inside XLA's compiler is heard only when that is done, and then the process
    # crashes at its end (so it does with plain `jax.jit`, 0.10.2). So the main thread waits for another one, which no signal reaches.
    if threading.current_thread() is not threading.main_thread() or _HELPER.closed():
        with background.outside():
            return job()
    return _HELPER.submit(job, name="compile").result(help=False)
