"""Gradients averaged over all processes at first and over a few later, whose parameters are to be averaged now and then.

Owns: a hook for `DistributedDataParallel.register_comm_hook`. May not know: how gradients travel, how parameters are averaged.
"""
import logging

from ....futures import Future
from ...world import new_subgroups
from .default_hooks import _averaged

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]

_log = logging.getLogger(__name__)


class PostLocalSGDState:
    """For `post_localSGD_hook`: over ``process_group`` (None: all) in the first ``start_localSGD_iter`` backwards, then over ``subgroup``,
    or with ``post_local_gradient_allreduce=False`` over none.
    """

    __slots__ = ("process_group", "subgroup", "start_localSGD_iter", "post_local_gradient_allreduce", "iter")

    def __init__(self, process_group, subgroup, start_localSGD_iter, post_local_gradient_allreduce=True):
        _log.info("Local SGD will be started after %s iterations", start_localSGD_iter)
        self.process_group, self.subgroup, self.start_localSGD_iter = process_group, subgroup, start_localSGD_iter
        self.post_local_gradient_allreduce, self.iter = post_local_gradient_allreduce, 0

    def maybe_increase_iter(self, bucket):
        """Counts a backward by its last bucket."""
        if bucket.is_last():
            self.iter += 1
        if self.iter == self.start_localSGD_iter:
            _log.info("Start to apply local SGD after %s iterations.", self.iter)


def post_localSGD_hook(state, bucket):
    """The average over the group whose turn it is, by a `PostLocalSGDState`."""
    buffer = bucket.buffer()
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return _averaged(state.process_group, buffer)
    if not state.post_local_gradient_allreduce:
        ready = Future()
        ready.set_result(buffer)
        return ready
    if state.subgroup is None:
        state.subgroup, _ = new_subgroups()
    return _averaged(state.subgroup, buffer)
