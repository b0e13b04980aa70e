"""``torch._C._profiler``: what programs give a profile as ``experimental_config``, and types that PyTorch has here."""
from ..profiler.events import RecordScope  # noqa: F401
from ..profiler.scheduling import ProfilerActivity  # noqa: F401


class _ExperimentalConfig:
    """Settings of a profile: ``capture_overload_names`` (events tell the forms of operators) and ``trace_only`` (there are no `events`,
    the file of the trace alone). The others say how kernels of a GPU, which are not recorded here, are measured, and change nothing."""

    __module__ = "torch._C._profiler"

    def __init__(self, profiler_metrics=(), profiler_measure_per_kernel=False, verbose=False, performance_events=(),
                 enable_cuda_sync_events=False, adjust_profiler_step=False, disable_external_correlation=False, profile_all_threads=False,
                 capture_overload_names=False, record_python_gc_info=False, expose_kineto_event_metadata=False, custom_profiler_config="",
                 adjust_timestamps=False, trace_only=False):
        if profile_all_threads:
            from ..base.errors import missing
            raise missing("profiles of all threads (profile_all_threads)", "a profile in each of them, one after the other")
        self.capture_overload_names, self.trace_only = capture_overload_names, trace_only
        self.custom_profiler_config = custom_profiler_config
