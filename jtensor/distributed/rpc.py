"""Calls of functions of other processes: not there. Owns: the question whether they are, and the names of that."""
from ..base.absent import function, kind

_ABOUT = "calls of other processes' functions (torch.distributed.rpc)", "send, recv and the collectives of torch.distributed"
_KINDS = ("BackendType", "PyRRef", "RRef", "RpcAgent", "RpcBackendOptions", "TensorPipeAgent", "TensorPipeRpcBackendOptions", "WorkerInfo")
_FUNCTIONS = ("get_rpc_timeout", "get_worker_info", "init_rpc", "remote", "rpc_async", "rpc_sync", "shutdown")

globals().update({name: kind(__name__, name, *_ABOUT) for name in _KINDS})
globals().update({name: function(__name__, name, *_ABOUT) for name in _FUNCTIONS})

__all__ = [*_KINDS, *_FUNCTIONS, "is_available"]


def is_available():
    """Whether functions of other processes can be called: no."""
    return False
