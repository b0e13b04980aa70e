"""`torch.distributed.run`, by its other name `torchrun`: runs a script in several processes of this machine.

    python -m jtensor -m torch.distributed.run --nproc-per-node=2 script.py args ...
    python -m jtensor.distributed.run --nproc-per-node=2 script.py args ...

The processes run the script as ``python -m jtensor script.py args ...`` does, so that `import torch` in it means jtensor. Several machines
take part with ``--nnodes=N --node-rank=K --master-addr=HOST --master-port=PORT`` on each, with as many processes everywhere.

Owns: the command line. May not know: tensors; processes. Imports its neighbours only, since it is also run as `torch.distributed.run`,
where the library's inner rooms have no name.
"""
import argparse
import logging
import os
import subprocess
import sys
import uuid

from .elastic.multiprocessing.api import DefaultLogsSpecs, Std
from .elastic.multiprocessing.errors import record
from .launcher.api import LIBRARY, LaunchConfig, elastic_launch

__all__ = ["config_from_args", "determine_local_world_size", "get_args_parser", "main", "parse_args", "parse_min_max_nnodes", "run"]

_log = logging.getLogger(__name__)
_STARTING, _BINDINGS = ["spawn", "fork", "forkserver"], ["node", "socket", "exclusive", "core-complex"]
_LISTED = {"type": lambda text: [part.replace("\0", ",") for part in text.replace(",,", "\0").split(",")], "default": []}
# Option, default (False: a flag) or keywords, what it says.
_OPTIONS = [
    ("--nnodes", "1:1", "number of nodes, N or N:N"),
    ("--nproc-per-node", "1", "processes of this node: a number, cpu, gpu or auto"),
    ("--rdzv-backend", "static", "how nodes find each other: static, or c10d for a single node"),
    ("--rdzv-endpoint", "", "HOST:PORT where a static rendezvous is"),
    ("--rdzv-id", "none", "the name of the job"),
    ("--rdzv-conf", "", "KEY=VALUE,... (accepted)"),
    ("--standalone", False, "one node, whose processes meet at a free port"),
    ("--max-restarts", {"type": int, "default": 0}, "how often all processes are started again after a failure"),
    ("--monitor-interval", {"type": float, "default": 0.1}, "seconds between looks at the processes"),
    ("--start-method", {"default": "spawn", "choices": _STARTING}, "how functions would be started (accepted)"),
    ("--event-log-handler", "null", "not there"),
    ("--role", "default", "the name of the processes' role"),
    ("-m --module", False, "run a module, as `python -m` does"),
    ("--no-python", False, "run a command that is no Python script"),
    ("--run-path", False, "run the script as runpy.run_path does, which here is as any other"),
    ("--log-dir", None, "the folder of log files"),
    ("-r --redirects", "0", "streams that go to log files: 1 output, 2 errors, 3 both; 0:1,1:3 for each local rank"),
    ("-t --tee", "0", "streams that go to log files and to the console, as above"),
    ("--local-ranks-filter", "", "local ranks that are seen on the console: 0,1"),
    ("--duplicate-stdout-filters", _LISTED, "not there"),
    ("--duplicate-stderr-filters", _LISTED, "not there"),
    ("--node-rank", {"type": int, "default": 0}, "the rank of this node, for a static rendezvous"),
    ("--master-addr", "127.0.0.1", "the address of the node of rank 0, for a static rendezvous"),
    ("--master-port", {"type": int}, "its port: 29500 for several nodes, a free one for a single node"),
    ("--local-addr", None, "the address of this node"),
    ("--logs-specs", None, "not there"),
    ("--numa-binding", {"choices": _BINDINGS}, "not there"),
    ("--signals-to-handle", "SIGTERM,SIGINT,SIGHUP,SIGQUIT", "signals to the launcher that the processes get, too"),
    ("--shutdown-timeout", {"type": int}, "seconds after which processes that should end are killed"),
    ("--virtual-local-rank", False, "not there"),
]


def get_args_parser():
    """The parser of the command line. Defaults are asked of the environment first: ``PET_NPROC_PER_NODE`` and so on.

    >>> get_args_parser().parse_args(["--nproc_per_node", "2", "train.py", "--lr", "1"]).training_script_args
    ['--lr', '1']
    """
    parser = argparse.ArgumentParser(description="Runs a script in several processes.")
    for names, given, says in _OPTIONS:
        names = names.split()
        name = names[-1].removeprefix("--").replace("-", "_")
        keywords = dict(given) if isinstance(given, dict) else {"default": given}
        told = os.environ.get(f"PET_{name.upper()}")
        if given is False:
            keywords = {"action": "store_true", "default": bool(int(told or 0))}
        elif told is not None:
            keywords["default"] = told
        parser.add_argument(*dict.fromkeys([*names, f"--{name}"]), help=says, **keywords)
    parser.add_argument("training_script", help="the script, module or command")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args):
    """The command line as a namespace; of this process, if it is None."""
    return get_args_parser().parse_args(args)


def parse_min_max_nnodes(nnodes):
    """The least and the greatest number of nodes of a text. RuntimeError if it is neither ``"N"`` nor ``"N:M"``.

    >>> parse_min_max_nnodes("2"), parse_min_max_nnodes("1:4")
    ((2, 2), (1, 4))
    """
    ends = nnodes.split(":")
    if len(ends) > 2:
        raise RuntimeError(f'nnodes={nnodes} is not in "MIN:MAX" format')
    return int(ends[0]), int(ends[-1])


def determine_local_world_size(nproc_per_node):
    """How many processes ``"2"``, ``"cpu"``, ``"gpu"`` or ``"auto"`` means here. ValueError for other texts, and where there is no GPU."""
    try:
        return int(nproc_per_node)
    except ValueError:
        pass
    if nproc_per_node == "xpu":
        raise ValueError("Xpu is not available.")
    if nproc_per_node not in ("cpu", "gpu", "auto"):
        raise ValueError(f"Unsupported nproc_per_node value: {nproc_per_node}")
    gpus = 0 if nproc_per_node == "cpu" else _gpus()
    if nproc_per_node == "gpu" and not gpus:
        raise ValueError("Cuda is not available.")
    return gpus or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())


def _gpus():
    """How many GPUs there are. Another process is asked: the one that asks takes hold of their memory, which is the workers'."""
    code = f"import {LIBRARY}; print({LIBRARY}.cuda.device_count())"
    return int(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1])


def config_from_args(args):
    """What is to be launched: a `LaunchConfig`, the command and its arguments. ValueError for options that contradict each other."""
    least, most = parse_min_max_nnodes(args.nnodes)
    count = determine_local_world_size(args.nproc_per_node)
    if count > 1 and "OMP_NUM_THREADS" not in os.environ:
        _log.warning("OMP_NUM_THREADS is not set: each of the %d processes gets OMP_NUM_THREADS=1, lest they crowd the machine. Set it to "
                     "what suits the script best.", count)
    conf = _rendezvous_conf(args.rdzv_conf)
    endpoint = args.rdzv_endpoint
    if args.rdzv_backend == "static":
        conf["rank"] = args.node_rank
        host = f"[{args.master_addr}]" if ":" in args.master_addr.strip("[]") and args.master_addr[0] != "[" else args.master_addr
        endpoint = endpoint or f"{host}:{29500 if args.master_port is None else args.master_port}"
    # One with its own way of writing is refused by the launcher.
    logs = args.logs_specs or DefaultLogsSpecs(args.log_dir, Std.from_str(args.redirects), Std.from_str(args.tee),
                                               _ranks(args.local_ranks_filter))
    config = LaunchConfig(
        least, most, count, logs_specs=logs, run_id=args.rdzv_id, role=args.role, rdzv_endpoint=endpoint, rdzv_backend=args.rdzv_backend,
        rdzv_configs=conf, max_restarts=args.max_restarts, monitor_interval=args.monitor_interval, start_method=args.start_method,
        log_line_prefix_template=os.environ.get("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"), local_addr=args.local_addr,
        event_log_handler=args.event_log_handler, numa_options=args.numa_binding, signals_to_handle=args.signals_to_handle,
        duplicate_stdout_filters=args.duplicate_stdout_filters, duplicate_stderr_filters=args.duplicate_stderr_filters,
        virtual_local_rank=args.virtual_local_rank, shutdown_timeout=args.shutdown_timeout)
    command, *before = _command(args)
    legacy = [] if getattr(args, "use_env", True) else ["--local-rank=${local_rank}"]       # see `launch.py`
    return config, command, [*before, *legacy, *args.training_script_args]


def _command(args):
    """What runs the script. A script is given to the library, which stands in for PyTorch in it."""
    if args.no_python and not args.run_path:
        if args.module:
            raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
        return [args.training_script]
    python = [os.environ.get("PYTHON_EXEC", sys.executable), "-u", "-m", LIBRARY]
    return [*python, "-m", args.training_script] if args.module and not args.run_path else [*python, args.training_script]


def _rendezvous_conf(text):
    found = {}
    for pair in text.strip().split(",") if text.strip() else []:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not key:
            raise ValueError("The rendezvous configuration string must be in format <key1>=<value1>,...,<keyN>=<valueN>.")
        if not value:
            raise ValueError(f"The rendezvous configuration option '{key}' must have a value specified.")
        found[key] = value
    return found


def _ranks(text):
    if not text:
        return None
    try:
        return {int(rank) for rank in text.split(",")}
    except ValueError as error:
        raise ValueError("--local_ranks_filter must be a comma-separated list of integers e.g. --local_ranks_filter=0,1,2") from error


def run(args):
    """Runs what the namespace says, and waits for it; see `launcher.api.launch_agent` for what it raises."""
    untold = args.rdzv_backend == "static" and not args.rdzv_endpoint and args.master_port is None
    if args.standalone or (untold and parse_min_max_nnodes(args.nnodes)[1] == 1):
        args.rdzv_backend, args.rdzv_endpoint, args.rdzv_id = "c10d", "localhost:0", str(uuid.uuid4())
    config, command, arguments = config_from_args(args)
    elastic_launch(config, command)(*arguments)


@record
def main(args=None):
    """Runs what the command line says."""
    run(parse_args(args))


if __name__ == "__main__":
    main()
