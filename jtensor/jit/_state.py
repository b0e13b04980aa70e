"""Whether TorchScript is on: no, as with ``PYTORCH_JIT=0``. Owns: that answer, under the name that libraries ask for."""
from ..base.errors import missing


class EnabledProxy:
    """False, as an object that several rooms hold."""

    def __init__(self):
        self.enabled = False

    def __bool__(self):
        return self.enabled


_enabled = EnabledProxy()


def disable():
    """Switches TorchScript off, as it is."""


def enable():
    """Raises ``NotImplementedError``."""
    raise missing("TorchScript (torch.jit._state.enable)", "the same code without torch.jit: jtensor records and compiles what runs")
