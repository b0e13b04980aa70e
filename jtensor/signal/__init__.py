"""`torch.signal`: windows, here (`windows`) and under their names at top level (`top_level`). Written in terms of public operations."""
from . import windows

__all__ = ["windows"]
