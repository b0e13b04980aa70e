"""Selective checkpointing: which operators' results a checkpointed function keeps for its second run, and which it computes again.

Owns: the policies and the two modes, one around each run. May not know: how a function is run again (`checkpoint`).
"""
import enum
from collections import defaultdict

import jtensor

from ..base.errors import missing
from ..library.spaces import OpOverload, OpOverloadPacket
from ..tensor.core import Tensor
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map

__all__ = ["CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"]

_MUTATED = "Tensor cached during selective activation checkpoint has been mutated"
_DIFFERENT = ("This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that changed "
              "between forward and backward.")
_FORM = ("Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, change it to "
         "`torch.ops.aten.mm.default`.")
_TWICE = ("Trying to backward an extra time. You are only allowed to backward once on any region computed under selective activation "
          "checkpoint.")


class CheckpointPolicy(enum.Enum):
    """What selective checkpointing does with an operation's result."""

    __module__ = "torch.utils.checkpoint"

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVED = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_OFFLOADED = (CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD)


class SelectiveCheckpointContext:
    """What a policy of selective checkpointing is told beside the operation."""

    __module__ = "torch.utils.checkpoint"

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute, self.op_output = is_recompute, op_output


class _Kept:
    """A result, and the version that it had."""

    def __init__(self, x):
        self.x = x._detached() if isinstance(x, Tensor) else x
        self.version = x._version if isinstance(x, Tensor) else None

    def value(self, may_change):
        if self.version is not None and not may_change and self.x._version != self.version:
            raise RuntimeError(_MUTATED)
        return self.x


def _is_saved(policy, context, func, args, kwargs):
    """Whether a policy has a result kept; it may answer a bool."""
    decided = policy(context, func, *args, **kwargs)
    if isinstance(decided, bool):
        return decided
    if decided in _OFFLOADED:
        raise missing("results that are sent to the host meanwhile", "CheckpointPolicy.MUST_SAVE")
    return decided in _SAVED


class _Keeping(TorchDispatchMode):
    """Around the first run. ``results``: {operator: what is kept of each of its calls}."""

    def __init__(self, policy, results):
        super().__init__()
        self.policy, self.results = policy, results

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        if func is not jtensor.ops.aten.detach.default:
            context = SelectiveCheckpointContext(is_recompute=False, op_output=made)
            kept = tree_map(_Kept, made) if _is_saved(self.policy, context, func, args, kwargs) else None
            self.results[func].append([kept, False])
        return made


class _Giving(TorchDispatchMode):
    """Around the second, which calls the same operators as often and in the same order."""

    def __init__(self, results, may_change):
        super().__init__()
        self.results, self.may_change, self.calls = results, may_change, {}

    def __enter__(self):
        self.calls = {}
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is jtensor.ops.aten.detach.default:
            return func(*args, **(kwargs or {}))
        if func not in self.results:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. {_DIFFERENT}")
        at = self.calls[func] = self.calls.get(func, -1) + 1
        if at >= len(self.results[func]):
            raise RuntimeError(f"{func} invocation index {at} encountered during backward but not found in storage. {_DIFFERENT}")
        entry = self.results[func][at]
        kept, given = entry
        if given:
            raise RuntimeError(_TWICE)
        if kept is None:
            return func(*args, **(kwargs or {}))
        entry[:] = None, True
        return tree_map(lambda one: one.value(self.may_change), kept)


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """The contexts of a checkpointed function's two runs, of which the second gets results that the first has kept.

    ``policy_fn_or_list``: a list of operators whose results are kept, such as ``torch.ops.aten.mm.default``, or a function
    ``(context, operator, *args, **kwargs)`` that answers a `CheckpointPolicy`, or whether to keep one. To be given to `checkpoint` as
    ``context_fn``, with `functools.partial`; ``allow_cache_entry_mutation``: nobody looks whether a kept result was written to.

    >>> import functools
    >>> import jtensor as torch
    >>> keep = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(lambda x: (x @ x).exp(), x, use_reentrant=False, context_fn=keep).sum().backward()
    >>> x.grad[0, 0]
    tensor(29.5562)
    """
    if isinstance(policy_fn_or_list, list):
        for operator in policy_fn_or_list:
            if not isinstance(operator, OpOverload):
                raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {operator} of type {type(operator)}. "
                                 + _FORM * isinstance(operator, OpOverloadPacket))

        def policy(context, operator, *args, **kwargs):
            return operator in policy_fn_or_list
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    results = defaultdict(list)
    return _Keeping(policy, results), _Giving(results, allow_cache_entry_mutation)
