"""Processes that multiprocessing starts anew (spawn, forkserver) run the user's script again: they need the alias too.

Owns: that hand-over. May not know: tensors. A forked process has the alias anyway. A new one unpickles its "preparation
data" before it imports anything of the user's, so an object is put in front of that data whose unpickling installs the
alias. Programs that a script starts by itself (`subprocess`) are the user's affair and are left alone.
"""

import os
import sys


class _Prepare:
    """Unpickled in a new process as a call of `exec` on `code`."""

    def __init__(self, code):
        self.code = code

    def __reduce__(self):
        return exec, (self.code,)


def follow(target, name):
    """Have processes started by multiprocessing from here on see `name` as `target`."""
    from multiprocessing import set_forkserver_preload, spawn

    ask = spawn.get_preparation_data

    def get_preparation_data(process_name):
        return {f"{name} means {target}": _Prepare(code(target, name)), **ask(process_name)}

    spawn.get_preparation_data = get_preparation_data
    # The server itself would import the script to share it with its children, before the data above reaches anyone.
    set_forkserver_preload([])


def code(target, name):
    """What a new process runs first. The import path is that of this process, so that jtensor is found as it was here."""
    room = __name__.rpartition(".")[0]
    top = os.path.abspath(__file__)
    for _ in __name__.split("."):
        top = os.path.dirname(top)
    path = [*sys.path] if top in sys.path else [*sys.path, top]
    return f"import sys; sys.path[:] = {path!r}\nfrom {room}.finder import install; install({target!r}, {name!r})"
