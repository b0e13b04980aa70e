"""`torch._logging`: the switches of PyTorch's logs, which are about a compiler that is not here.

Owns: PyTorch's names of logs and its errors. A log that is asked for is warned of, since there is nothing to write into it.
"""
import importlib.util as _util
import warnings as _warnings

__all__ = ["set_logs"]

_LOGS = frozenset("all dynamo aot autograd dynamic inductor distributed c10d ddp fsdp dtensor onnx export".split())
_ARTIFACTS = frozenset("""
    bytecode aot_graphs aot_joint_graph ddp_graphs graph graph_code graph_code_verbose graph_breaks side_effects graph_sizes guards
    recompiles recompiles_verbose trace_source trace_call trace_bytecode output_code kernel_code schedule perf_hints pre_grad_graphs
    post_grad_graphs ir_pre_fusion ir_post_fusion onnx_diagnostics fusion overlap cudagraphs sym_node compiled_autograd
    compiled_autograd_verbose cudagraph_static_inputs benchmarking autotuning incremental graph_region_expansion inductor_metrics
    hierarchical_compile compute_dependencies caching""".split())
_LEVELS = (50, 40, 30, 20, 10, 0)


def _is_module(name):
    try:
        return _util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _asked(name, value):
    """Whether a value of `set_logs` asks for a log. ValueError for one that PyTorch does not take."""
    if value is None:
        return False
    if name in _ARTIFACTS:
        if not isinstance(value, bool):
            raise ValueError(f"Expected bool to enable artifact {name}, received {value}")
        return value
    if name not in _LOGS and not _is_module(name):
        raise ValueError(f"Unrecognized log or artifact name passed to set_logs: {name}")
    if isinstance(value, bool) or value not in _LEVELS:
        raise ValueError(f"Unrecognized log level for log {'torch' if name == 'all' else name}: {value}, valid level values are: "
                         f"{','.join(map(str, _LEVELS))}")
    return True


def set_logs(*, modules=None, **logs):
    """Takes what PyTorch's takes (``dynamo=logging.DEBUG``, ``graph_breaks=True``, ``modules={"inductor": 10}``), and warns that there are
    no such logs: `jtensor.report` says what was compiled and what made recorded operations run.

    >>> import jtensor
    >>> jtensor._logging.set_logs(graph_break=True)
    Traceback (most recent call last):
    TypeError: set_logs() got an unexpected keyword argument 'graph_break'
    """
    for name in logs:
        if name not in _LOGS and name not in _ARTIFACTS:
            raise TypeError(f"set_logs() got an unexpected keyword argument '{name}'")
    asked = [name for name, value in (*logs.items(), *({} if modules is None else modules).items()) if _asked(name, value)]
    if asked:
        _warnings.warn(f"jtensor has none of PyTorch's logs ({', '.join(asked)}); jtensor.report() says what was compiled and why, and "
                       "what made recorded operations run", stacklevel=2)
