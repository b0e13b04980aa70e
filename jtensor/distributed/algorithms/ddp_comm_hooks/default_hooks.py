"""The averages of gradients that need no numbers of their own: as they are, or in a narrower type on their way.

Owns: hooks for `DistributedDataParallel.register_comm_hook`. May not know: how gradients travel.
"""
from ....base import dtypes
from ...collectives import all_reduce
from ...world import _group

__all__ = ["allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook", "fp16_compress_wrapper"]


def allreduce_hook(process_group, bucket):
    """The average over ``process_group`` (None: over all), as without a hook."""
    return _averaged(process_group, bucket.buffer())


def _averaged(process_group, buffer, into=None):
    group = _group(process_group)
    buffer = buffer.div(group.size())
    work = all_reduce(buffer, group=group, async_op=True)
    return work.get_future().then(lambda done: done.value()[0] if into is None else done.value()[0].to(into))


def _compressed(process_group, bucket, dtype):
    buffer = bucket.buffer()
    return _averaged(process_group, buffer.to(dtype), buffer.dtype)


def fp16_compress_hook(process_group, bucket):
    """The average, sent as float16."""
    return _compressed(process_group, bucket, dtypes.float16)


def bf16_compress_hook(process_group, bucket):
    """The average, sent as bfloat16."""
    return _compressed(process_group, bucket, dtypes.bfloat16)


def _wrapper(hook, dtype):
    def wrapped(state, bucket):
        was = bucket.buffer().dtype
        bucket.set_buffer(bucket.buffer().to(dtype))
        return hook(state, bucket).then(lambda done: (lambda t: t[0] if isinstance(t, list | tuple) else t)(done.value()).to(was))
    return wrapped


def fp16_compress_wrapper(hook):
    """A hook that does what ``hook`` does, with float16 on the way."""
    return _wrapper(hook, dtypes.float16)


def bf16_compress_wrapper(hook):
    """A hook that does what ``hook`` does, with bfloat16 on the way."""
    return _wrapper(hook, dtypes.bfloat16)
