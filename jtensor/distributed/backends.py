"""The libraries by which processes talk: their names, and which of them are there.

Owns: that. May not know: groups, processes.
"""
from ..base.errors import missing


class Backend(str):
    """The name of a library by which processes talk, in small letters. "gloo" is there, as a library of our own."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish but got {type(name)}")
        return name.lower()                 # a plain text, as there


class BackendConfig:
    """Which backend a group has for which kind of device."""

    def __init__(self, backend):
        if ":" in backend:
            self.device_backend_map = {device: Backend(name) for device, name in (part.split(":") for part in backend.split(","))}
        else:
            self.device_backend_map = {"cpu": Backend.GLOO} if backend == Backend.UNDEFINED else dict.fromkeys(("cpu", "cuda"), backend)

    def get_device_backend_map(self):
        """The backends by the devices' types."""
        return self.device_backend_map

    def __repr__(self):
        return ",".join(f"{device}:{backend}" for device, backend in self.device_backend_map.items())


def is_available():
    """Whether several processes can compute together: yes."""
    return True


def is_gloo_available():
    """Whether Gloo is there: yes, as a library of our own."""
    return True


def is_nccl_available():
    """Whether NCCL is there: no. What lies on a GPU goes by the host's memory."""
    return False


def is_mpi_available():
    """Whether MPI is there: no."""
    return False


def is_ucc_available():
    """Whether UCC is there: no."""
    return False


def is_xccl_available():
    """Whether XCCL is there: no."""
    return False


def is_backend_available(backend):
    """Whether a library by which processes talk is there: "gloo" is."""
    return backend.lower() == Backend.GLOO


def checked(backend):
    """The backend of a name, of which there is only one. RuntimeError in PyTorch's words for others that PyTorch has."""
    backend = Backend(backend)
    for name in set(BackendConfig(backend).device_backend_map.values()):
        if name in (Backend.NCCL, Backend.MPI, Backend.UCC, Backend.XCCL):
            raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in")
        if name != Backend.GLOO:
            if name == Backend.FAKE:
                raise missing("the backend 'fake'", "the backend 'gloo' in one process")
            raise AssertionError(f"Unknown backend type {name}")
    return backend


def get_default_backend_for_device(device):
    """The backend for tensors on a device, or on its type: "gloo" for all."""
    return Backend.GLOO
