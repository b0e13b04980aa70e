"""`torch.profiler`: times of operators, of the graph's nodes and of regions.

While a profile records, operators run one by one; without one they are computed together, as ``profile(fused=True)`` shows it, and
``jax.profiler.trace`` shows what XLA makes of them. Rooms: `profiler` (what users call), `scheduling`, `legacy` (the profile without a
schedule), `recording` (the recorder), `watching` (which functions are events), `telling` (what they tell of a call), `arguments` (what of
their arguments), `events` (what is recorded), `tables` and `files` (how it is shown).
"""
from .events import DeviceType
from .profiler import ExecutionTraceObserver, profile
from .profiler import _KinetoProfile as _KinetoProfile
from .recording import record_function
from .scheduling import ProfilerAction, ProfilerActivity, kineto_available, schedule, supported_activities, tensorboard_trace_handler

__all__ = ["DeviceType", "ExecutionTraceObserver", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function",
           "schedule", "supported_activities", "tensorboard_trace_handler"]
