"""`torch.cuda._memory_viz`: pictures of what PyTorch's allocator has done. Here the memory is XLA's, so that there is nothing to draw."""
from ..base.errors import missing

__all__ = ["profile_plot", "segment_plot", "trace_plot"]


def _refusal(name):
    def refuse(*args, **kwargs):
        raise missing(f"pictures of the allocator's memory (torch.cuda._memory_viz.{name})", "jax.profiler.save_device_memory_profile")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuses: memory is XLA's here."
    return refuse


profile_plot, segment_plot, trace_plot = map(_refusal, __all__)
