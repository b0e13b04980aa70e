"""A job on this machine: `elastic_launch` starts its processes, watches them, and starts all of them again if one has failed.

Owns: what the processes find in their environment, where they meet, restarts, and what of PyTorch's elastic jobs is refused. May not know:
tensors; the command line. The launcher itself serves no store: the process of rank 0 does so where the environment says, which is why
``TORCHELASTIC_USE_AGENT_STORE`` is never set, and launchers on several machines know nothing of each other.
"""
import contextlib
import dataclasses
import logging
import os
import signal
import socket
import string
import sys
import threading
import uuid

from ...base.errors import missing
from ..elastic.multiprocessing.api import DefaultLogsSpecs
from ..elastic.multiprocessing.errors import ChildFailedError
from .workers import Worker, Workers

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]

LIBRARY = __name__.partition(".")[0]
_SIGNALS = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
_SEVERAL = "--node-rank with --master-addr and --master-port on each of them"
_log = logging.getLogger(__name__)


@dataclasses.dataclass
class LaunchConfig:
    """What a job is: how many nodes and processes, where they meet, how often they are started again. Names and defaults are PyTorch's.

    >>> LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2, rdzv_backend="c10d").max_restarts
    3
    """

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: object = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "etcd"
    rdzv_configs: dict = dataclasses.field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    metrics_cfg: dict = dataclasses.field(default_factory=dict)
    local_addr: str | None = None
    event_log_handler: str = "null"
    numa_options: object = None
    signals_to_handle: str = _SIGNALS
    duplicate_stdout_filters: list | None = None
    duplicate_stderr_filters: list | None = None
    virtual_local_rank: bool = False
    shutdown_timeout: int | None = None

    def __post_init__(self):
        if self.logs_specs is None:
            self.logs_specs = DefaultLogsSpecs()
        if self.shutdown_timeout is None:
            self.shutdown_timeout = int(os.environ.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", 30))


class elastic_launch:
    """``elastic_launch(config, command)(*args)`` runs a command in as many processes as the configuration says; see `launch_agent`."""

    def __init__(self, config, entrypoint):
        self._config, self._entrypoint = config, entrypoint

    def __call__(self, *args):
        return launch_agent(self._config, self._entrypoint, list(args))


def launch_agent(config, entrypoint, args):
    """Runs ``entrypoint`` with these arguments, as the configuration says, and waits. ``${local_rank}`` in an argument is replaced.

    Returns:
        a dictionary of the ranks of the processes, with None for each.

    Raises:
        ChildFailedError: one of them has failed, and has been started again as often as allowed.
        SignalException: the launcher got a signal, which the processes have got, too.
        MissingFeature: more nodes than one without ranks of nodes, functions in place of a command, and other parts of elastic jobs.
    """
    _refuse(config, entrypoint)
    run_id, logs = config.run_id or str(uuid.uuid4().int), config.logs_specs
    node, place = _node_rank(config), _meeting_place(config)
    try:
        with _signals_kept(config.signals_to_handle) as signals:
            for attempt in range(config.max_restarts + 1):
                common = _common(config, run_id, node, attempt, *(place or (config.local_addr or "localhost", _free_port())))
                with Workers(config.shutdown_timeout, signals) as workers:
                    _start(workers, config, [entrypoint, *args], common, logs._attempt(run_id, attempt))
                    if workers.watch(config.monitor_interval):
                        return dict.fromkeys(worker.rank for worker in workers.workers)
                if attempt < config.max_restarts:
                    rank, failure = next(iter(workers.failures.items()))
                    _log.warning("rank %d failed (exitcode: %d); starting all processes again, %d restarts left", rank, failure.exitcode,
                                 config.max_restarts - attempt - 1)
    finally:
        logs._forget()
    raise ChildFailedError(_name(entrypoint, args), workers.failures)


def _start(workers, config, command, common, folder):
    """Starts the processes of one attempt."""
    template = string.Template(config.log_line_prefix_template or "[${role_name}${local_rank}]:")
    node = int(common["GROUP_RANK"])
    for local_rank in range(config.nproc_per_node):
        rank = str(node * config.nproc_per_node + local_rank)
        own = os.path.join(folder, str(local_rank))
        os.makedirs(own)
        env = {**os.environ, **common, "RANK": rank, "ROLE_RANK": rank, "LOCAL_RANK": str(local_rank),
               "TORCHELASTIC_ERROR_FILE": os.path.join(own, "error.json")}
        env.pop("TORCHELASTIC_USE_AGENT_STORE", None)       # of a launcher around this one
        prefix = template.safe_substitute(role_name=config.role, rank=rank, local_rank=local_rank)
        told = [part.replace("${local_rank}", str(local_rank)) for part in command]
        workers.add(Worker(told, env, config.logs_specs, own, prefix))


def _common(config, run_id, node, attempt, address, port):
    """What all processes of an attempt find in their environment."""
    world = config.max_nodes * config.nproc_per_node
    found = {"WORLD_SIZE": world, "LOCAL_WORLD_SIZE": config.nproc_per_node, "GROUP_RANK": node, "GROUP_WORLD_SIZE": config.max_nodes,
             "ROLE_NAME": config.role, "ROLE_WORLD_SIZE": world, "MASTER_ADDR": address, "MASTER_PORT": port,
             "TORCHELASTIC_RUN_ID": run_id, "TORCHELASTIC_RESTART_COUNT": attempt, "TORCHELASTIC_MAX_RESTARTS": config.max_restarts,
             "TORCHELASTIC_SIGNALS_TO_HANDLE": config.signals_to_handle}
    if config.nproc_per_node > 1 and "OMP_NUM_THREADS" not in os.environ:
        found["OMP_NUM_THREADS"] = 1
    return {name: str(value) for name, value in found.items()}


def _refuse(config, entrypoint):
    """Raises what there is to be raised about a configuration before anything is started."""
    if config.nproc_per_node < 1:
        raise AssertionError(f"nproc_per_node must be > 0, got {config.nproc_per_node}")
    if not 0 < config.min_nodes <= config.max_nodes:
        raise AssertionError(f"min_nodes must be > 0 and <= max_nodes, got min_nodes={config.min_nodes}, max_nodes={config.max_nodes}")
    if config.max_restarts < 0:
        raise AssertionError("max_restarts must be >= 0")
    if callable(entrypoint):
        raise missing("functions as what a launcher starts", "a script, or torch.multiprocessing.spawn for a function")
    if config.min_nodes != config.max_nodes:
        raise missing(f"a number of nodes that changes (--nnodes={config.min_nodes}:{config.max_nodes})", f"--nnodes=N and {_SEVERAL}")
    if config.rdzv_backend not in ("static", "c10d"):
        raise missing(f"the rendezvous backend {config.rdzv_backend!r}", "static, and c10d on one node")
    if config.max_nodes > 1 and config.rdzv_backend == "c10d":
        raise missing("a c10d rendezvous of several nodes", _SEVERAL)
    if config.max_nodes > 1 and config.max_restarts:
        raise missing("restarts on several nodes (--max-restarts)", "--max-restarts on one node")
    if not isinstance(config.logs_specs, DefaultLogsSpecs):
        raise missing("log files of a program's own (--logs-specs)", "--log-dir with --redirects and --tee")
    asked = {"--duplicate-stdout-filters": config.duplicate_stdout_filters, "--duplicate-stderr-filters": config.duplicate_stderr_filters,
             "--numa-binding": config.numa_options, "--virtual-local-rank": config.virtual_local_rank,
             "--event-log-handler": config.event_log_handler if config.event_log_handler != "null" else None}
    for name, value in asked.items():
        if value:
            raise missing(f"the launcher's {name}", "a launch without it")


def _node_rank(config):
    """The rank of this node, which only a static rendezvous is told."""
    node = int(config.rdzv_configs.get("rank", 0)) if config.rdzv_backend == "static" else 0
    if not 0 <= node < config.max_nodes:
        raise ValueError(f"the rank of a node is at least 0 and below the number of nodes, {config.max_nodes}: got --node-rank={node}")
    return node


def _meeting_place(config):
    """Address and port of a static rendezvous; None where any free port of this machine will do."""
    if config.rdzv_backend != "static":
        return None
    endpoint = config.rdzv_endpoint.strip()
    if not endpoint:
        raise ValueError("Endpoint is missing in endpoint. Try to add --master-addr and --master-port")
    address, separator, port = endpoint.rpartition(":")
    if not separator or endpoint.endswith("]"):
        raise ValueError(f"port is missing in endpoint: {endpoint}. Try to specify --master-port")
    if not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"The port number of the rendezvous endpoint '{endpoint}' must be an integer between 0 and 65536.")
    return address.removeprefix("[").removesuffix("]"), int(port)


def _free_port():
    """A port of this machine that nobody listens at. Somebody else may take it before rank 0 does; nothing can hold it for a process."""
    with socket.socket() as asking:
        asking.bind(("localhost", 0))
        return asking.getsockname()[1]


def _name(entrypoint, args):
    """What a job is called in a report: the script or module, or the command."""
    if args[1:3] == ["-m", LIBRARY]:                        # see `run.config_from_args`
        args = args[3:]
    elif entrypoint != sys.executable:
        return entrypoint
    return next((one for one in args if not one.startswith("-")), "")


@contextlib.contextmanager
def _signals_kept(names):
    """Within it, these signals go into a list. Only the main thread of a process can ask for that; elsewhere nothing is changed."""
    kept, before = [], {}

    def handler(number, frame):
        kept.append(signal.Signals(number))
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name.strip()) for name in names.split(",") if name.strip()]
        before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield kept
    finally:
        for number, old in before.items():
            signal.signal(number, signal.SIG_DFL if old is None else old)
