"""`torch.profiler`: wall times of regions and of the tape's runs.

Operators are computed together, so that none has a time of its own; ``jax.profiler.trace`` shows what XLA makes of them.
"""
from .profiler import (
    ProfilerAction,
    ProfilerActivity,
    kineto_available,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)
from .recording import record_function

__all__ = ["ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
           "supported_activities", "tensorboard_trace_handler"]
