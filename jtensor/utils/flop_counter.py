"""Counting operations of a program in PyTorch, below its public functions, where here is nothing that could be asked. Owns: its name.

Libraries make a counter and use it only when they are told to; so one can be made, which has counted nothing yet and refuses to begin.
"""
from ..base.errors import missing

__all__ = ["FlopCounterMode"]


class FlopCounterMode:
    """A counter of floating-point operations, which counts none: entering it as a context raises ``NotImplementedError``."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        self.depth, self.display = depth, display

    def __enter__(self):
        raise missing("counts of floating-point operations (torch.utils.flop_counter)",
                      "jax.jit(...).lower(...).cost_analysis() of a JAX function")

    def __exit__(self, *error):
        return None

    def get_total_flops(self):
        """What was counted: 0."""
        return 0

    def get_flop_counts(self):
        """What was counted, by module and operator: nothing."""
        return {"Global": {}}
