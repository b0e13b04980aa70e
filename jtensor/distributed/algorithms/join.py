"""Processes whose numbers of steps differ. Owns: PyTorch's place of those names."""
from ...base import homes
from ...nn.parallel.joining import Join, Joinable, JoinHook, _JoinConfig

homes.settle(__name__, Join, Joinable, JoinHook, _JoinConfig)

__all__ = ["Join", "JoinHook", "Joinable"]
