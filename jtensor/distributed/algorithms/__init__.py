"""What is done with groups of processes. Owns: the rooms of that name: hooks for gradients, and `Join`."""
from . import join as join
