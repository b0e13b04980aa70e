"""Which backward passes count as one for checkpoints. Owns: `GraphExecGroup`, and what says as whose part a checkpoint is asked."""
import threading

from ..autograd.engine import current_task

UNPACKED = ("torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. Performing two backward calls "
            "that overlap (i.e. require the same saved activation in order to compute gradients) is not allowed while under the "
            "torch.utils.checkpoint.GraphExecGroup context. If you are calling ctx.saved_tensors in backward, make sure to do so only "
            "once. Otherwise please open an issue with details on your use case.")


class _Entered(threading.local):
    group = None


_ENTERED = _Entered()


class GraphExecGroup:
    """A context in which a checkpointed function is computed again once at most, however many backward passes there are.

    These may not need the same saved tensor twice (``CheckpointError``), not even with ``retain_graph=True``. Groups are not nested:
    ``RuntimeError``. Checkpoints with ``use_reentrant=True`` do not heed it.

    >>> x = torch.ones(2, requires_grad=True)
    >>> a, b = torch.utils.checkpoint.checkpoint(lambda x: (x.sin(), x.exp()), x, use_reentrant=False)
    >>> with torch.utils.checkpoint.GraphExecGroup():
    ...     a.sum().backward()
    ...     b.sum().backward()
    >>> x.grad
    tensor([3.2586, 3.2586])
    """

    __module__ = "torch.utils.checkpoint"

    def __enter__(self):
        if _ENTERED.group is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {_ENTERED.group}")
        _ENTERED.group = self
        return self

    def __exit__(self, *exc):
        _ENTERED.group = None

    @classmethod
    def _get_current_group(cls):
        return _ENTERED.group


def asker():
    """As whose part a saved tensor is asked for now: (the group or None, the number of the backward or None outside of one)."""
    task = current_task()
    return _ENTERED.group, None if task is None else task.number
