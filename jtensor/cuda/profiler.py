"""`torch.cuda.profiler`: CUDA's own profiler, which is not reached from here. Owns: the refusals of that."""
import contextlib

from ..base.errors import missing
from ._asked import wanted

__all__ = ["profile", "start", "stop"]


def start():
    """AssertionError without a GPU, as in PyTorch; ``NotImplementedError`` with one."""
    wanted()
    raise missing("CUDA's profiler (torch.cuda.profiler)", "torch.profiler.profile, or jax.profiler.trace")


stop = start


@contextlib.contextmanager
def profile():
    """A context that begins with `start`."""
    start()
    yield
