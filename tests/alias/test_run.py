"""`python -m standin script.py` beside `python script.py`: what a script can see of how it was started is the same."""

import signal
import subprocess
import sys

import pytest

LOOK = """
    import os, sys
    print(sys.argv, repr(sys.path[0]), __name__, __package__, __doc__)
    print(globals().get("__file__"), globals().get("__cached__"), type(__loader__), __spec__ and __spec__.name)
    print(sorted(globals()), sys.modules["__main__"].__dict__ is globals(), __annotations__)
    """


def same(runs, *args, python=(), **options):
    """Python's own answer and the alias's agree in output and status; returns the standard error texts."""
    plain, ours = runs.python(*python, *args, **options), runs.python(*python, "-m", "standin", *args, **options)
    assert ours.stdout == plain.stdout
    assert ours.returncode == plain.returncode
    return plain.stderr, ours.stderr


@pytest.mark.parametrize("path", ["look.py", "./look.py", "sub/../look.py", "sub/look.py", "link.py"])
def test_scripts(runs, path):
    runs.write("look.py", LOOK)
    runs.write("sub/look.py", LOOK)
    (runs.folder / "link.py").symlink_to("sub/look.py")
    same(runs, path, "-m", "--flag", "a b")


def test_script_above(runs):
    runs.write("look.py", LOOK)
    (runs.folder / "sub").mkdir()
    same(runs, "../look.py", cwd=runs.folder / "sub")


def test_modules_folders_commands_and_standard_input(runs):
    runs.write("pack/look.py", LOOK)
    runs.write("pack/__main__.py", LOOK)
    same(runs, "-m", "pack.look", "x")
    same(runs, "-m", "pack", "x")
    same(runs, "pack", "x")
    same(runs, "-c", "import sys\nprint(sys.argv, repr(sys.path[0]), sorted(globals()), __name__)", "-m", "x")
    same(runs, "-", "x", stdin="import sys; print(sys.argv, repr(sys.path[0]), sorted(globals()))")


def test_safe_path(runs):
    runs.write("look.py", "import sys; print(sys.argv, len(sys.path), sys.path[0])")
    same(runs, "look.py", python=["-P"])


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return 1 / 0\nf()",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('x') from error",
        "x = = 1",
        "raise RuntimeError('one\\ntwo')",
        "import sys\nsys.exit(3)",
        "raise SystemExit('text')",
        "raise SystemExit",
        "import sys\nsys.excepthook = lambda kind, value, tb: print('hook', kind, tb.tb_lineno, tb.tb_next)\n1 / 0",
        "import atexit, threading\natexit.register(print, 'exit')\nthreading.Timer(0.1, print, ['timer']).start()\n1 / 0",
        "import no_such_module",
        "import os\nos._exit(7)",
        "raise KeyboardInterrupt",
    ],
)
def test_endings(runs, text):
    runs.write("script.py", text)
    plain, ours = same(runs, "script.py")
    assert ours == plain  # the whole traceback: no line of the runner's


def test_endings_of_modules_and_folders(runs):
    for name in ("pack/__init__.py", "pack/good/__init__.py"):
        runs.write(name, "")
    runs.write("pack/bad/__init__.py", "1 / 0")
    for name in ("pack/bad/__main__.py", "pack/good/__main__.py", "pack/__main__.py"):
        runs.write(name, "def f():\n    from . import nothing_of_the_kind\nf()")
    runs.write("pack/wrong.py", "x = = 1")
    for args in (["-m", "pack.good"], ["-m", "pack.bad"], ["-m", "pack.wrong"], ["pack"], ["."], ["pack/good/"]):
        plain, ours = same(runs, *args)
        assert ours == plain, args


def test_a_folder_that_is_gone(runs):
    path = runs.write("script.py", "import sys; print(sys.argv[1:], sys.path[0], __file__)")
    away = "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); os.execv(sys.argv[1], sys.argv[1:])"
    plain, ours = (runs.python("-c", away, sys.executable, *middle, path, "x") for middle in ([], ["-m", "standin"]))
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr) and plain.stdout


def test_ctrl_c_kills_as_it_would(runs):
    runs.write("script.py", "raise KeyboardInterrupt")
    assert runs.alias("script.py").returncode == -signal.SIGINT


def test_missing_files_and_modules(runs):
    plain, ours = same(runs, "none.py")
    assert ours == plain
    plain, ours = same(runs, "-m", "no.such")
    assert plain.splitlines()[-1].split(": ", 1)[1] == ours.splitlines()[-1].split(": ", 1)[1]


def test_usage(runs):
    for args in ([], ["-z"], ["-m"], ["-c"]):
        found = runs.alias(*args)
        assert found.returncode == 2 and not found.stdout and found.stderr.startswith("usage: python -m standin script.py")
    assert runs.alias("--help").stdout.startswith("usage:") and runs.alias("--help").returncode == 0
    assert runs.alias("--version").stdout == "standin, standing in for torch 2.13.0+jtensor\n"


def test_what_jax_tells_is_not_the_scripts(runs):
    code = "import logging; logging.basicConfig(level=1); print(logging.getLogger('jax._src.xla_bridge').isEnabledFor(logging.INFO))"
    assert runs.alias("-c", code).stdout == "False\n"


def test_new_processes_know_the_alias(runs):
    runs.write(
        "script.py",
        """
        import multiprocessing, torch

        def work(x):
            return torch.__spec__.name, torch.nn.Linear.__module__, type(x).__name__

        if __name__ == "__main__":
            for method in ("fork", "spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(method, pool.map(work, [torch.nn.Linear()])[0], type(pool.apply(torch.tensor)) is torch.Tensor)
        """,
    )
    for args in (["script.py"], ["-m", "script"]):
        found = runs.alias(*args)
        assert found.returncode == 0, found.stderr
        for method, line in zip(("fork", "spawn", "forkserver"), found.stdout.splitlines(), strict=True):
            assert line == f"{method} ('standin', 'torch.nn.modules.linear', 'Linear') True"


def test_the_report_of_a_script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import sys, torch\nprint((torch.ones(2) + 1).tolist(), sys.argv[1:])\nsys.exit(3)\n")
    found = subprocess.run([sys.executable, "-m", "jtensor", "--report", str(path), "--an", "argument"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (3, "[2.0, 2.0] ['--an', 'argument']\n")
    assert found.stderr.startswith("programs: ") and "tolist()" in found.stderr and "script.py:2 in <module>" in found.stderr
