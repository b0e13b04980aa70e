"""`python -m jtensor script.py args...`: an unmodified PyTorch script, run as python itself would run it.

Owns: the command line, and what a script can see of how it was started (`sys.argv`, `sys.path[0]`, `__main__`, tracebacks,
exit status). May not know: tensors.
"""

import importlib
import io
import logging
import os
import pkgutil
import runpy
import sys
import types
from importlib.machinery import BuiltinImporter, SourceFileLoader

from . import metadata, missing
from .finder import install

USAGE = """\
usage: python -m {target} script.py [args ...]    run a PyTorch script; `import {name}` in it means {target}
       python -m {target} -m module [args ...]    run a module, as `python -m` does
       python -m {target} -c code [args ...]      run a command, as `python -c` does
       python -m {target} - [args ...]            run what standard input holds
       python -m {target} --report ...            the same, and write in the end what {target} has done (to standard error)
       python -m {target} --version | --help
"""


def main(argv=None, target=None, name="torch"):
    """Run what `argv` (by default `sys.argv`, without its first element) asks for, with `name` meaning `target`."""
    argv = sys.argv[1:] if argv is None else list(argv)
    target = target or __name__.partition(".")[0]
    usage = USAGE.format(target=target, name=name)
    reports = argv[:1] == ["--report"]
    if reports:
        del argv[0]
    first = argv[0] if argv else None
    if first in ("-h", "--help"):
        print(usage, end="")
        return
    if first in ("-V", "--version"):
        print(f"{target}, standing in for {name} {metadata.VERSION}")
        return
    if first is None or (first in ("-m", "-c") and len(argv) < 2) or (first.startswith("-") and first not in ("-m", "-c", "-")):
        print(usage, end="", file=sys.stderr)
        sys.exit(2)
    names = install(target, name).names
    logging.getLogger("jax").setLevel(logging.WARNING)     # a script that asks for everybody's news has not asked for JAX's
    try:
        if first == "-m":
            run_module(argv[1], argv[2:])
        elif first == "-c":
            run_code(compile(argv[1], "<string>", "exec", dont_inherit=True), ["-c", *argv[2:]])
        elif first == "-":
            run_code(compile(sys.stdin.read(), "<stdin>", "exec", dont_inherit=True), argv, __file__="<stdin>", __cached__=None)
        else:
            run_script(argv)
    except SystemExit:
        raise
    except BaseException as error:
        _show_as_python_would(error, names)
        raise
    finally:
        if reports:
            print(importlib.import_module(target).report(), file=sys.stderr)


def run_script(argv):
    """Run the file, or the folder or zip archive with a `__main__.py`, that `argv[0]` names."""
    path = argv[0]
    if not os.path.isabs(path):                # as python does it: absolute, but not normalised, except for "."
        path = os.getcwd() if path == "." else os.path.join(os.getcwd(), path)
    if pkgutil.get_importer(path) is not None:
        _set_path(path)
        sys.argv[:] = argv
        _fresh_main()
        runpy._run_module_as_main("__main__", alter_argv=False)
        return
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        sys.exit(2)
    code = compile(source, path, "exec", dont_inherit=True)
    folder = os.path.dirname(os.path.realpath(path))
    run_code(code, argv, folder, __file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))


def run_module(module, args):
    """Run a module by its name; what `python -m` calls does the work, so that it is found and named in the same way."""
    _set_path(os.getcwd())
    sys.argv[:] = ["-m", *args]
    _fresh_main()
    runpy._run_module_as_main(module)


def run_code(code, argv, folder="", **attributes):
    """Run `code` as the module `__main__` with these module attributes."""
    _set_path(folder)
    sys.argv[:] = argv
    exec(code, vars(_fresh_main(**attributes)))


def _fresh_main(**attributes):
    """A new `__main__`, which holds nothing of this runner's."""
    module = types.ModuleType("__main__")
    vars(module).update({"__builtins__": sys.modules["builtins"], "__annotations__": {}, "__loader__": BuiltinImporter, **attributes})
    sys.modules["__main__"] = module
    if "__mp_main__" in sys.modules:                        # what `multiprocessing` calls it, whose children send what is defined there
        sys.modules["__mp_main__"] = module
    return module


def _set_path(folder):
    """Put the folder where python itself would look first; `python -P` says that there is none."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _show_as_python_would(error, names):
    """Have the traceback of an uncaught error begin and end in the user's code.

    The error itself goes on to the interpreter, which prints it through `sys.excepthook`, waits for threads and sets the
    exit status (death by SIGINT after Ctrl-C) as for any script. Only the frames of this room are left out on the way.
    """
    shown = _trimmed(error.__traceback__)
    hook = sys.excepthook
    if isinstance(error, AttributeError):
        note = missing.instance_note(names, error)
        if note is not None:
            error.add_note(note)

    def excepthook(kind, value, _):
        sys.excepthook = hook
        value.__traceback__ = shown
        hook(kind, value, shown)

    sys.excepthook = excepthook


def _trimmed(traceback):
    """The traceback without the frames, at its two ends, of this room and of those beside it."""
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    here = os.path.dirname(os.path.abspath(__file__))

    def ours(entry):
        return os.path.dirname(entry.tb_frame.f_code.co_filename) == here

    while frames and ours(frames[0]):
        del frames[0]
    while frames and ours(frames[-1]):
        del frames[-1]
    shown = None
    for entry in reversed(frames):
        shown = types.TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown
