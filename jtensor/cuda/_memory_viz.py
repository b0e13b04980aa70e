"""`torch.cuda._memory_viz`: pictures of what PyTorch's allocator has done. Here the memory is XLA's, so that there is nothing to draw."""
from ..base.errors import refusal

__all__ = ["profile_plot", "segment_plot", "trace_plot"]

profile_plot, segment_plot, trace_plot = [
    refusal(f"torch.cuda._memory_viz.{name}", "pictures of the allocator's memory", "jax.profiler.save_device_memory_profile(path)",
            "memory is XLA's here.")
    for name in __all__]
