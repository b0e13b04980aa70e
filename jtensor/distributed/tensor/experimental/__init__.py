"""What may be asked for around tensors that lie on several devices. Owns: the names of that. There are no such tensors."""
from contextlib import contextmanager

from ....base.absent import function

__all__ = ["context_parallel", "implicit_replication"]

context_parallel = function(__name__, "context_parallel", "sequences over several devices", "attention on one device")


@contextmanager
def implicit_replication():
    """Inside, an ordinary tensor beside one that lies on several devices counts as replicated on all: there is none, so nothing changes."""
    yield
