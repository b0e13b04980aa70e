"""Activation checkpointing: what a function saves for backward is thrown away and computed again when a gradient asks for it.

Two ways, PyTorch's: ``use_reentrant=False`` replaces saved tensors by promises through `saved_tensors_hooks`; ``use_reentrant=True`` runs a
backward inside the backward. Owns both, and the random state they restore. May not know: how nodes save.
"""
import contextlib
import warnings
import weakref

from ..autograd import saved
from ..autograd.engine import current_task
from ..autograd.function import Function
from ..autograd.graph import AccumulateGrad
from ..base import sites
from ..tensor import history
from ..tensor.core import Tensor
from ..tensor.shown import SavedTensor as SavedTensor
from ..trace.tape import LOCAL
from ._graph_exec_group import UNPACKED, GraphExecGroup, asker
from ._python_dispatch import TorchDispatchMode as TorchDispatchMode
from ._pytree import tree_map as tree_map
from ._selective import CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts

__all__ = ["CheckpointError", "CheckpointFunction", "CheckpointPolicy", "GraphExecGroup", "SelectiveCheckpointContext",
           "check_backward_validity", "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable",
           "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states"]

EXPLICIT = ("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint "
            "without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the "
            "current default "
            "behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two variants.")
NOT_WITH_GRAD = ("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
                 ".backward(). "
                 "To resolve this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` "
                 "argument.")
TIP = """

Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""
NO_LOGS = "\n\njtensor keeps no logs of the operators that ran; what differs is named above."
_early_stop, _debug = [None], [None]


class CheckpointError(RuntimeError):
    """The second computation was not like the first."""

    __module__ = "torch.utils.checkpoint"


def noop_context_fn():
    """The contexts of `checkpoint` where none are given."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def get_device_states(*args):
    """(numbers of the GPUs on which there are tensors among the arguments, the states of their generators)."""
    import jtensor as torch
    indices = sorted({t.get_device() for t in args if isinstance(t, torch.Tensor) and t.is_cuda})
    return indices, [torch.cuda.get_rng_state(index) for index in indices]


def set_device_states(devices, states, *, device_type=None):
    """Sets the generators of GPUs to states that `get_device_states` gave."""
    import jtensor as torch
    for index, state in zip(devices, states, strict=False):
        torch.cuda.set_rng_state(state, index)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Whether the second computation ends as soon as it has made the last tensor that is needed."""
    previous, _early_stop[0] = _early_stop[0], enable
    try:
        yield
    finally:
        _early_stop[0] = previous


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Whether `checkpoint` is told to ``debug``: a `CheckpointError` then says that there are no logs of operators to look into."""
    previous, _debug[0] = _debug[0], enabled
    try:
        yield
    finally:
        _debug[0] = previous


class _Surroundings:
    """The regions of `autocast` that the function ran in, and the random generators as they were then."""

    def __init__(self, keep):
        import jtensor as torch
        self.states, self.regions = _states() if keep else None, torch.amp.autocast_mode.as_now()

    @contextlib.contextmanager
    def again(self):
        with self.regions():
            if self.states is None:
                yield
                return
            present = _states()
            _resume(self.states)
            try:
                yield
            finally:
                _resume(present)


def _states():
    """The states of the CPU's generator and of all accelerators'."""
    import jtensor as torch
    return torch.get_rng_state(), torch.cuda.get_rng_state_all()


def _resume(states):
    import jtensor as torch
    torch.set_rng_state(states[0])
    torch.cuda.set_rng_state_all(states[1])


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, early_stop=True,
               **kwargs):
    """``function(*args, **kwargs)``, whose intermediate results are computed again in backward instead of being kept.

    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(lambda x: (x * x).exp(), x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([  5.4366, 218.3926])
    """
    if use_reentrant is None:
        warnings.warn(EXPLICIT, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs and use_reentrant:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if use_reentrant:
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    stop = early_stop if _early_stop[0] is None else _early_stop[0]
    debug = debug if _debug[0] is None else _debug[0]
    return _Frame(function, args, kwargs, context_fn, preserve, determinism_check, stop, debug).run(args)


# -- promises ---------------------------------------------------------------------------------------------------------


class _Promise:
    """Stands in a node for a tensor that can be computed again."""

    def __init__(self, frame, number):
        self.frame, self.number = frame, number


class _StopRecomputationError(Exception):
    """All that is needed has been computed. A context's ``__exit__`` sees it, so it has PyTorch's name."""

    __module__ = "torch.utils.checkpoint"


def _metadata(t):
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


def _saved_input(tensor):
    """(a saved entry, the edge of the history) of an argument: hooks around the call pack it as they pack what a node saves."""
    return history.save(0, [tensor], ()), history.edge_of(tensor) if tensor.requires_grad else None


def _input_again(entry, edge):
    """An argument for the second computation, checked as what a node has saved is."""
    counter, version = saved.counter_of(entry)
    if counter is None:
        found = entry.unpack()
        return found if edge is None else history.led_by(found._detached(), edge)
    if entry[0]._edge is None and edge is not None and not isinstance(edge[0], AccumulateGrad):
        raise RuntimeError(saved.DETACHED)
    if counter.version != version:
        raise saved.modified(counter, version, entry[0]._spec, saved.edge_now(entry[0]), None)
    return entry[0]


class _Frame:
    """One checkpointed call: how to run it again, what it saved, and what of that is there now."""

    def __init__(self, function, args, kwargs, context_fn, preserve, check, stop, debug):
        self.function, self.kwargs, self.check, self.stop = function, kwargs, check, stop
        self.debug, self.contexts = debug, context_fn()
        self.surroundings = _Surroundings(preserve)
        self.promises, self.metadata, self.found = [], [], {}
        self.complete, self.cut_short = False, False     # whether the first run is over; whether a second has gone further before
        self.inputs = [(at, *_saved_input(t)) for at, t in enumerate(args) if isinstance(t, Tensor)] if LOCAL.grad_enabled else ()
        self.args = [None if isinstance(t, Tensor) else t for t in args]

    def run(self, args):
        if not LOCAL.grad_enabled:                       # nothing is saved, and PyTorch leaves the contexts alone
            return self.function(*args, **self.kwargs)
        with saved.saved_tensors_hooks(self._pack, self._unpack), self.contexts[0]:
            found = self.function(*args, **self.kwargs)
        self.complete = True
        return found

    def _pack(self, tensor):
        promise = _Promise(self, len(self.promises))
        self.promises.append(weakref.ref(promise))
        self.metadata.append(_metadata(tensor))
        return promise

    def _unpack(self, promise):
        group, task = asker()
        who = task if group is None else group
        found = self.found.get(who, {})
        tensor = found.get(promise.number)
        if group is not None and isinstance(tensor, int) and tensor != task:
            raise CheckpointError(UNPACKED)
        if tensor is None or isinstance(tensor, int):
            found = self._again()
            if who is not None:                          # of backward passes the present one alone: the others are most likely over
                self.found = {key: old for key, old in self.found.items() if not isinstance(key, int)} | {who: found}
            tensor = found[promise.number]
        found[promise.number] = task                     # which has taken it
        return tensor

    def _again(self):
        """Runs the function a second time: what it saves, by numbers."""
        import jtensor as torch
        args = list(self.args)
        for at, entry, edge in self.inputs:
            args[at] = _input_again(entry, edge)
        kept, counter = {}, [0]

        def keep(tensor):
            at = counter[0]
            counter[0] += 1
            self.cut_short |= at >= len(self.promises) and not self.complete
            if at < len(self.promises) and self.promises[at]() is not None:
                kept[at] = tensor._detached() if tensor.requires_grad else tensor
            if at < len(self.promises) and self.check == "default" and _metadata(tensor) != self.metadata[at]:
                different.append((at, _metadata(tensor)))
            if self.stop and counter[0] == len(self.promises):
                raise _StopRecomputationError
            return tensor._detached()
        different = []
        with contextlib.suppress(_StopRecomputationError), torch.enable_grad(), self.surroundings.again(), \
                saved.saved_tensors_hooks(keep, lambda t: t), self.contexts[1]:
            self.function(*args, **self.kwargs)
        advice = NO_LOGS if self.debug else TIP
        if counter[0] > len(self.promises) and not self.cut_short:
            raise CheckpointError("torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                                  f"forward pass.{advice}")
        if counter[0] < len(self.promises) and not self.cut_short:
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                                  f"recomputation.\nNumber of tensors saved during forward: {len(self.promises)}\nNumber of tensors "
                                  f"saved during "
                                  f"recomputation: {counter[0]}.{advice}")
        if different:
            lines = [f"tensor at position {at}:\nsaved metadata: {self.metadata[at]}\nrecomputed metadata: {found}"
                     for at, found in different]
            raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                                  "during the forward pass.\n" + "\n".join(lines) + "\n." + advice)
        return kept


# -- a backward inside the backward -----------------------------------------------------------------------------------


def detach_variable(inputs):
    """The inputs as leaves of a graph of their own."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    found = []
    for t in inputs:
        if hasattr(t, "_storage"):
            required, t = t.requires_grad, t.detach()
            t.requires_grad = required
        found.append(t)
    return tuple(found)


def check_backward_validity(inputs):
    """Warns where no input requires grad."""
    if not any(hasattr(t, "_storage") and t.requires_grad for t in inputs):
        sites.warn("None of the inputs have requires_grad=True. Gradients will be None")


class CheckpointFunction(Function):
    """``use_reentrant=True``: forward without recording, backward by a second, recorded run."""

    __module__ = "torch.utils.checkpoint"

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        import jtensor as torch
        check_backward_validity(args)
        ctx.run_function, ctx.surroundings, ctx.args = run_function, _Surroundings(preserve_rng_state), list(args)
        ctx.places = [at for at, a in enumerate(args) if isinstance(a, torch.Tensor)]
        for at in ctx.places:
            ctx.args[at] = None
        ctx.save_for_backward(*[args[at] for at in ctx.places])
        return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        import jtensor as torch
        if current_task() is not None and current_task().needed is not None:
            raise RuntimeError(NOT_WITH_GRAD)
        args = list(ctx.args)
        for at, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[at] = t
        args = detach_variable(tuple(args))
        with ctx.surroundings.again(), torch.enable_grad():
            outputs = ctx.run_function(*args)
        outputs = (outputs,) if isinstance(outputs, torch.Tensor) else outputs
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, torch.Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a.grad if isinstance(a, torch.Tensor) else None for a in args])


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """A chain of functions, cut into segments that are checkpointed each, but for the last.

    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> chain = [torch.exp, torch.sin, torch.exp]
    >>> torch.utils.checkpoint.checkpoint_sequential(chain, 2, x, use_reentrant=False).shape
    torch.Size([2])
    """
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In "
                      "version 2.9 we "
                      "will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you need "
                      "to preserve "
                      "the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences "
                      "between the two variants.", stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments
    if not size:
        raise ValueError("range() arg 3 must not be zero")         # PyTorch's, of fewer functions than segments

    def part(start, stop):
        def run(x):
            for function in functions[start:stop]:
                x = function(x)
            return x
        return run
    last = size * (segments - 1)
    for start in range(0, last, size):
        input = checkpoint(part(start, start + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return part(last, len(functions))(input)
