"""`torchrun`: what its processes find in their environment, and what becomes of them when one fails or somebody gives up."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

from jtensor.base.errors import MissingFeature
from jtensor.distributed import launch, run
from jtensor.distributed.elastic.multiprocessing import SignalException, Std
from jtensor.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure, record
from jtensor.distributed.launcher import LaunchConfig, elastic_launch

DUMP = """
    import json, os, sys
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(f"{folder}/rank{os.environ['RANK']}.json", "w") as file:
        json.dump({"argv": sys.argv[1:], **os.environ}, file)
    """
# What real torchrun says and this one does not.
UNTOLD = {"TORCHELASTIC_USE_AGENT_STORE": "the launcher serves no store", "TORCH_NCCL_ASYNC_ERROR_HANDLING": "there is no NCCL"}
RANDOM = {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_ERROR_FILE", "MASTER_PORT"}


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Writes a script and answers with its path; the environment is as if nobody had launched anything."""
    for name in [name for name in os.environ if name.startswith(("TORCHELASTIC", "PET_")) or name in ("OMP_NUM_THREADS", "LOCAL_RANK")]:
        monkeypatch.delenv(name)

    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return str(path)
    return write


def launched(*args):
    """Runs the launcher in this process, and scripts by plain Python, which starts sooner."""
    *options, path = args
    run.main([*options, "--no-python", sys.executable, path])


def found(folder, rank=0):
    return json.loads((folder / f"rank{rank}.json").read_text())


def told(folder, rank=0):
    """What a launcher has put into the environment, or changed there."""
    others = "argv", "COLUMNS", "LINES"                     # the terminal's size is set by who edits lines
    return {name: value for name, value in found(folder, rank).items() if os.environ.get(name) != value and name not in others}


@pytest.mark.parametrize("options, random", [
    (["--standalone", "--nproc_per_node=2", "--local-addr=127.0.0.1", "--max-restarts=2"], RANDOM),
    (["--nnodes=1", "--role=trainer", "--rdzv-backend=static", "--rdzv-endpoint=127.0.0.1:29618", "--rdzv-conf=timeout=5"],
     {"TORCHELASTIC_ERROR_FILE"}),
])
def test_the_environment_is_torchruns(script, tmp_path, options, random):
    pytest.importorskip("torch")
    path = script(DUMP)
    count = 2 if "--standalone" in options else 1
    theirs = [sys.executable, "-m", "torch.distributed.run", "--log-dir", str(tmp_path / "logs")]       # else it leaves one behind
    subprocess.run([*theirs, *options, path], check=True, capture_output=True, cwd=tmp_path)
    theirs = [told(tmp_path, rank) for rank in range(count)]
    launched(*options, path)
    for rank in range(count):
        mine = told(tmp_path, rank)
        assert set(theirs[rank]) - set(mine) == set(UNTOLD) and set(mine) <= set(theirs[rank])
        assert {name: value for name, value in mine.items() if name not in random} == {
            name: value for name, value in theirs[rank].items() if name not in random | set(UNTOLD)}
        assert mine["TORCHELASTIC_ERROR_FILE"].split("/")[-3:] == theirs[rank]["TORCHELASTIC_ERROR_FILE"].split("/")[-3:]


def test_nothing_temporary_is_left(script, tmp_path):
    launched(script(DUMP))
    assert not os.path.exists(found(tmp_path)["TORCHELASTIC_ERROR_FILE"].partition("/attempt_")[0])


def test_a_script_sees_jtensor_as_torch(script, tmp_path):
    """By the module's name as a user has it; a script, whose arguments look like the launcher's, and a module."""
    script("import os, sys, torch\nos.write(1, f'{torch.__version__} {sys.argv[1:]} {__name__}\\n'.encode())", "look.py")
    expected = "2.13.0+jtensor ['-m', '--nnodes', 'a b'] __main__"
    for ways in (["jtensor", "-m", "torch.distributed.run", "--nproc_per_node=2", "look.py"], ["jtensor.distributed.run", "-m", "look"]):
        done = subprocess.run([sys.executable, "-m", *ways, "-m", "--nnodes", "a b"], cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.getcwd()})
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [expected] * (2 if "look.py" in ways else 1)
        assert ("OMP_NUM_THREADS" in done.stderr) == ("look.py" in ways)


def test_several_nodes_have_ranks_one_after_the_other(script, tmp_path):
    launched("--nnodes=3", "--node-rank=2", "--nproc-per-node=2", "--master-addr=::1", "--master-port=7", script(DUMP))
    env = found(tmp_path, 5)
    assert (env["RANK"], env["LOCAL_RANK"], env["GROUP_RANK"], env["WORLD_SIZE"], env["LOCAL_WORLD_SIZE"]) == ("5", "1", "2", "6", "2")
    assert (env["MASTER_ADDR"], env["MASTER_PORT"], env["GROUP_WORLD_SIZE"]) == ("::1", "7", "3")


def test_threads_are_the_users_if_told(script, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    launched("--nproc-per-node=2", script(DUMP))
    assert found(tmp_path, 1)["OMP_NUM_THREADS"] == "3" and "TORCHELASTIC_USE_AGENT_STORE" not in found(tmp_path, 1)
    assert not caplog.records


FAILS = """
    import json, os, sys, time
    if os.environ["RANK"] == "1":
        told = {"py_callstack": "Traceback:\\n line", "timestamp": "5"}
        with open(os.environ["TORCHELASTIC_ERROR_FILE"], "w") as file:
            json.dump({"message": {"message": "ValueError: boo", "extraInfo": told}}, file)
        sys.exit(3)
    time.sleep(60)
    """


def test_a_failure_ends_the_others_and_is_reported(script, tmp_path, monkeypatch):
    own = tmp_path / "own.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(own))
    before = time.monotonic()
    with pytest.raises(ChildFailedError) as caught:
        launched("--nproc-per-node=2", "--log-dir", str(tmp_path / "logs"), script(FAILS))
    assert time.monotonic() - before < 20
    assert [(rank, failure.exitcode) for rank, failure in caught.value.failures.items()] == [(1, 3), (0, -signal.SIGTERM)]
    rank, first = caught.value.get_first_failure()
    assert (rank, first.timestamp, first.local_rank) == (1, 5, 1)
    others, root = str(caught.value).split("Root Cause (first observed failure):")
    assert "Signal 15 (SIGTERM)" in others and "exitcode  : 3" in root and "Traceback:\n   line" in root and first.error_file in root
    assert json.loads(own.read_text())["message"]["errorCode"] == 3                 # the launcher hands the first failure on


DEAF = """
    import os, signal, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open(f"{sys.argv[0]}.{os.environ['RANK']}", "w").close()
    while not os.path.exists(sys.argv[0] + ".1"):
        time.sleep(0.01)
    sys.exit(1) if os.environ["RANK"] == "0" else time.sleep(60)
    """


def test_who_does_not_end_is_ended(script):
    with pytest.raises(ChildFailedError) as caught:
        launched("--nproc-per-node=2", "--shutdown-timeout=0", script(DEAF))
    assert {rank: failure.exitcode for rank, failure in caught.value.failures.items()} == {0: 1, 1: -signal.SIGKILL}


def test_all_are_started_again(script, tmp_path, caplog):
    fails_once = "if os.environ['TORCHELASTIC_RESTART_COUNT'] == '0': sys.exit(int(os.environ['RANK']))\n"
    launched("--nproc-per-node=2", "--max-restarts=2", "--monitor-interval=0.02", script(textwrap.dedent(DUMP) + fails_once))
    assert [found(tmp_path, rank)["TORCHELASTIC_RESTART_COUNT"] for rank in (0, 1)] == ["1", "1"]
    assert "rank 1 failed (exitcode: 1); starting all processes again, 1 restarts left" in caplog.text


def test_restarts_come_to_an_end(script, tmp_path):
    with pytest.raises(ChildFailedError, match="script.py FAILED"):
        launched("--max-restarts=1", script(textwrap.dedent(DUMP) + "sys.exit(1)"))
    assert found(tmp_path)["TORCHELASTIC_RESTART_COUNT"] == found(tmp_path)["TORCHELASTIC_MAX_RESTARTS"] == "1"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_processes(script, tmp_path, number):
    text = """
    import os, signal, sys, time
    def caught(number, frame):
        os.rename(sys.argv[0] + ".ready", f"{sys.argv[0]}.{number}")
        sys.exit()
    signal.signal(signal.SIGINT, caught)
    signal.signal(signal.SIGTERM, caught)
    open(sys.argv[0] + ".ready", "w").close()
    os.kill(os.getppid(), int(sys.argv[1]))
    time.sleep(60)
    """
    path = script(text)
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(SignalException, match=f"got signal: {int(number)}") as caught:
        run.main(["--no-python", sys.executable, path, str(int(number))])
    assert caught.value.sigval == number and os.path.exists(f"{path}.{int(number)}")
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before


SPEAKS = "import os, sys\nprint('out', os.environ['RANK'])\nprint('err', os.environ['RANK'], file=sys.stderr)"


@pytest.mark.parametrize("options, shown, logs", [
    (["-t", "3", "--local-ranks-filter=0"], ["[default0]:err 0", "[default0]:out 0"], ["0/err 0", "0/out 0", "1/err 1", "1/out 1"]),
    (["-r", "0:1,1:3"], ["err 0"], ["0/out 0", "1/err 1", "1/out 1"]),
    (["--local_ranks_filter=1"], ["err 1", "out 1"], []),
])
def test_streams_go_where_they_should(script, tmp_path, capfd, options, shown, logs):
    launched("--nproc-per-node=2", "--log-dir", str(tmp_path / "logs"), *options, script(SPEAKS))
    said = "".join(capfd.readouterr()).splitlines()
    assert sorted(line for line in said if "OMP_NUM_THREADS" not in line) == shown
    assert sorted(f"{path.parent.name}/{path.read_text().strip()}" for path in (tmp_path / "logs").rglob("*.log")) == logs


def test_the_older_name_hands_on_the_local_rank(script, tmp_path):
    path = script(DUMP)
    with pytest.warns(FutureWarning, match="torch.distributed.launch is deprecated"):
        launch.main(["--nproc-per-node=2", path, "x"])
    assert [found(tmp_path, rank)["argv"] for rank in (0, 1)] == [["--local-rank=0", "x"], ["--local-rank=1", "x"]]
    assert launch.parse_args(["--use-env", path]).use_env
    with pytest.raises(ValueError, match="you must also set the '--use-env' flag"):
        launch.launch(launch.parse_args(["--no-python", path]))


@pytest.mark.parametrize("options, text", [
    (["--nnodes=2", "--rdzv-backend=c10d"], "--node-rank with --master-addr"),
    (["--nnodes=2", "--standalone"], "--node-rank with --master-addr"),
    (["--nnodes=1:2"], "a number of nodes that changes"),
    (["--nnodes=2", "--max-restarts=1"], "restarts on several nodes"),
    (["--rdzv-backend=etcd"], "the rendezvous backend 'etcd'"),
    (["--logs-specs=mine"], "--logs-specs"),
    (["--virtual-local-rank"], "--virtual-local-rank"),
    (["--duplicate-stdout-filters=a,,b,c"], "--duplicate-stdout-filters"),
    (["--numa-binding=node"], "--numa-binding"),
])
def test_what_is_not_there_is_refused(options, text):
    with pytest.raises(MissingFeature, match=text):
        run.main([*options, "script.py"])


@pytest.mark.parametrize("options, error", [
    (["--nproc-per-node=x"], ValueError), (["--nproc-per-node=0"], AssertionError), (["--nnodes=1:2:3"], RuntimeError),
    (["--nnodes=0"], AssertionError), (["--max-restarts=-1"], AssertionError), (["--rdzv-conf=a"], ValueError), (["-r", "4"], ValueError),
    (["--rdzv-conf==1"], ValueError), (["--local-ranks-filter=a"], ValueError), (["--no-python", "-m"], ValueError),
    (["--rdzv-endpoint=host"], ValueError), (["--rdzv-endpoint=host:x"], ValueError), (["--nproc-per-node=xpu"], ValueError),
])
def test_what_makes_no_sense_raises_as_there(options, error, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))                         # PyTorch leaves folders there
    theirs = pytest.importorskip("torch.distributed.run")
    with pytest.raises(error) as mine:
        run.main([*options, "script.py"])
    with pytest.raises(error) as other:
        theirs.main([*options, "script.py"])
    if options[0] != "-r" and options[0] != "--nproc-per-node=0":                  # a pattern of its own; no text there
        assert str(mine.value) == str(other.value)


def test_the_command_is_a_python_with_the_library(monkeypatch):
    def command(*options):
        return list(run.config_from_args(run.parse_args([*options, "a", "-b"]))[1:])
    usual = [sys.executable, ["-u", "-m", "jtensor", "a", "-b"]]
    assert command() == command("--run-path") == command("--run-path", "--no-python") == usual
    assert command("-m") == [sys.executable, ["-u", "-m", "jtensor", "-m", "a", "-b"]] and command("--no-python") == ["a", ["-b"]]
    monkeypatch.setenv("PYTHON_EXEC", "another")
    assert command()[0] == "another"


def test_a_rank_that_no_node_has():
    with pytest.raises(ValueError, match="below the number of nodes, 2: got --node-rank=2"):
        run.main(["--nnodes=2", "--node-rank=2", "script.py"])


def test_options_are_torchruns(monkeypatch):
    theirs = pytest.importorskip("torch.distributed.run").get_args_parser()
    flags = [sorted((tuple(sorted(action.option_strings)), action.dest) for action in parser._actions)
             for parser in (run.get_args_parser(), theirs)]
    assert flags[0] == flags[1]
    monkeypatch.setenv("PET_NPROC_PER_NODE", "4")
    monkeypatch.setenv("PET_STANDALONE", "1")
    args = run.parse_args(["-r", "1", "script.py", "-r", "2"])
    assert (args.nproc_per_node, args.standalone, args.redirects, args.training_script_args) == ("4", True, "1", ["-r", "2"])
    defaults = vars(run.parse_args(["s"]))
    from torch.distributed.run import parse_args
    assert defaults == vars(parse_args(["s"]))


def test_how_many_processes(monkeypatch):
    theirs = pytest.importorskip("torch.distributed.run")
    assert run.determine_local_world_size("cpu") == theirs.determine_local_world_size("cpu")
    monkeypatch.setattr(run, "_gpus", lambda: 3)
    assert [run.determine_local_world_size(text) for text in ("gpu", "auto", "5")] == [3, 3, 5]
    monkeypatch.setattr(run, "_gpus", lambda: 0)
    assert run.determine_local_world_size("auto") == run.determine_local_world_size("cpu")
    with pytest.raises(ValueError, match="Cuda is not available."):
        run.determine_local_world_size("gpu")


def test_launching_from_a_program(script, tmp_path):
    config = LaunchConfig(1, 1, 1, rdzv_backend="c10d", run_id="mine", max_restarts=0)
    assert elastic_launch(config, sys.executable)(script(DUMP), "${local_rank}") == {0: None}
    assert found(tmp_path)["argv"] == ["0"] and found(tmp_path)["TORCHELASTIC_RUN_ID"] == "mine"
    with pytest.raises(MissingFeature, match="torch.multiprocessing.spawn"):
        elastic_launch(config, test_launching_from_a_program)()
    with pytest.raises(FileNotFoundError):
        elastic_launch(config, str(tmp_path / "nowhere"))()
    assert LaunchConfig(1, 1, 1).shutdown_timeout == 30 and config.logs_specs.root_log_dir is None


def test_record_writes_what_was_raised(tmp_path, monkeypatch):
    path = tmp_path / "error.json"

    @record
    def main(error):
        if error:
            raise error
        return 1
    monkeypatch.delenv("TORCHELASTIC_ERROR_FILE", raising=False)
    assert main(None) == 1 and main(SystemExit(0)) is None and main.__name__ == "main"
    with pytest.raises(KeyError):
        main(KeyError("x"))
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))
    with pytest.raises(SystemExit):
        main(SystemExit(2))
    assert not path.exists()
    with pytest.raises(ValueError, match="boo"):
        main(ValueError("boo"))
    theirs = pytest.importorskip("torch.distributed.elastic.multiprocessing.errors")
    mine, other = (kind(0, 7, 1, str(path)) for kind in (ProcessFailure, theirs.ProcessFailure))
    assert (mine.message, mine.timestamp) == (other.message, other.timestamp) and mine.message["message"] == "ValueError: boo"
    path.write_text("{")                                    # half of one
    assert "record" in ProcessFailure(0, 7, 1, str(path)).message


def test_streams_in_words():
    assert Std.from_str("0:3,12:0") == {0: Std.ALL, 12: Std.NONE} and Std.from_str("2") is Std.ERR
