"""Contexts of ``with`` as classes of TorchScript.

Owns: these programs. May not know: how they are compiled.
"""
from typing import Any

import jtensor as torch


class no_grad:
    """What turns gradients off."""

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        torch.set_grad_enabled(self.prev)
