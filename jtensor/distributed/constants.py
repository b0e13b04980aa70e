"""How long a group of processes would wait for its members. Owns: that number's place."""
from .distributed_c10d import default_pg_timeout

__all__ = ["default_pg_timeout"]
