"""Functions for `DistributedDataParallel.register_comm_hook`. Owns: the rooms of that name."""
from . import default_hooks as default_hooks
