"""Whether TorchScript is on: not with ``PYTORCH_JIT=0``. Owns: that answer, under the name that libraries ask for."""
import os


class EnabledProxy:
    """A truth, as an object that several rooms hold."""

    def __init__(self):
        self.enabled = os.environ.get("PYTORCH_JIT", "1") not in ("0", "")

    def __bool__(self):
        return self.enabled


_enabled = EnabledProxy()


def disable():
    """Has `torch.jit.script` answer what it is given."""
    _enabled.enabled = False


def enable():
    """Has `torch.jit.script` compile."""
    _enabled.enabled = True
