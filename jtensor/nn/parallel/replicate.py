"""Copies of a module on several devices, for libraries that make them: not there, but for PyTorch's errors about CPUs."""
import jtensor

from ...base.errors import missing

__all__ = ["replicate"]


def replicate(network, devices, detach=False):
    """Raises ``NotImplementedError``; of devices and modules on a CPU ``ValueError`` and AssertionError, as in PyTorch."""
    for device in devices:
        if not isinstance(device, int) and jtensor.device(device).type == "cpu":
            raise ValueError(f"Expected a non cpu device, but got: {jtensor.device(device)}")
    if any(one.device.type == "cpu" for one in (*network.parameters(), *network.buffers())):
        raise AssertionError("Broadcast function not implemented for CPU tensors")
    raise missing("copies of a module on several devices (nn.parallel.replicate)", "the module itself")
