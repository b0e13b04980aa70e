"""What may be asked for around tensors that lie on several devices. Owns: the names of that. There are no such tensors."""
from contextlib import contextmanager

__all__ = ["implicit_replication"]


@contextmanager
def implicit_replication():
    """Inside, an ordinary tensor beside one that lies on several devices counts as replicated on all: there is none, so nothing changes."""
    yield
