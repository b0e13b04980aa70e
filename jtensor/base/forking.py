"""What happens around `os.fork`, which `multiprocessing` calls: everything is at rest, the child begins anew.

Python's side of it is `background`'s, XLA's is `base.compat.forked`'s. May not know: the tape. What the parent has recorded and not
run, the child has, too, and runs it where it looks at it.
"""
import os

from . import background, compat


def _before():
    background.hold()
    compat.settle()
    compat.wait_for_threads()


def _after():
    background.begin_anew()
    compat.after_fork()


if hasattr(os, "register_at_fork"):
    compat.no_fork_warning()
    os.register_at_fork(before=_before, after_in_parent=background.go_on, after_in_child=_after)
