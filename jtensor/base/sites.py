"""Where the user is: the innermost frame outside this package, cheap enough to ask at every flush; and how a call was written there.

Owns: finding it and writing it down, what is read from Python's bytecode. A site is ``(code object, instruction)``; the line number is
worked out when it is shown.
"""
import dis
import functools
import os
import sys
import warnings

from .bounded import MANY, Bounded

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _Inside(Bounded):
    """{name of a file: whether it is the library's own}."""

    def __missing__(self, name):
        found = self[name] = name.startswith((_HERE, "<jtensor"))
        return found


_inside = _Inside(MANY)


def inside(code):
    """Whether a code object is the library's own."""
    return _inside[code.co_filename]


def user_site(skip=1):
    """The (code, lasti) of the innermost frame that is not the library's, or None; the first ``skip`` frames are known to be."""
    frame = sys._getframe(skip)
    while frame is not None:
        code = frame.f_code
        if not _inside[code.co_filename]:              # by name: a text keeps its hash, a code object does not
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def warn(text, category=UserWarning):
    """Warns, and says that it is the user's line that does it, however deep in the library it is found out."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (_inside[frame.f_code.co_filename] or frame.f_code.co_filename.startswith("<frozen importlib")):
        frame = frame.f_back
    module, registry = frame.f_globals.get("__name__", "<string>"), frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


_said = set()
_always = [False]


def warn_once(text):
    """The same for what PyTorch says a single time in a process, unless it was told to say it each time (`say_always`)."""
    if text not in _said or _always[0]:
        _said.add(text)
        warn(text)


def say_always(told):
    """Whether `warn_once` warns each time it is asked. What is noticed when a kind of call is met first is said then, all the same."""
    _always[0] = told


def says_always():
    """What `say_always` was told."""
    return _always[0]


def within(name):
    """Whether a file of that name is the library's own, or text of it that was compiled."""
    return _inside[name]


def is_own(module):
    """Whether the module of that name is the library's own. A script that is run unchanged knows it by PyTorch's name (`alias`)."""
    return within(getattr(sys.modules.get(module), "__file__", None) or "")


def room(name):
    """Where in the package a file of that name lies, with slashes; None for others."""
    return name[len(_HERE):].replace(os.sep, "/") if name.startswith(_HERE) else None


def by_user(depth):
    """Whether the frame so many above the caller is not the library's."""
    return not _inside[sys._getframe(depth).f_code.co_filename]


def line(site):
    """(file name, line number) of a site."""
    code, lasti = site
    number = code.co_firstlineno
    for at, (start, end, found) in enumerate(code.co_lines()):
        if start <= lasti < end and found is not None:
            return code.co_filename, found
        del at
    return code.co_filename, number


def text(site):
    """``file.py:12 in train`` of a site."""
    if site is None:
        return "(no user line)"
    name, number = line(site)
    return f"{os.path.basename(name)}:{number} in {site[0].co_name}"


@functools.lru_cache(4096)
def written(code, lasti):
    """How the call that an instruction belongs to was written: (how many arguments, the names of those with one, which come last).

    Of ``f(**d)`` nothing is known: (None, ()). What stands before the dot of a method's call does not count.

    >>> def caller():
    ...     return f(1, "b", k=2, last="c")
    >>> at = [i.offset for i in dis.get_instructions(caller) if i.opname.startswith("CALL")][-1]
    >>> written(caller.__code__, at)
    (4, ('k', 'last'))
    """
    before, found, count = None, (), None
    for instruction in dis.get_instructions(code):
        if instruction.offset > lasti:                          # which may point behind the call, among its caches
            break
        name = instruction.opname
        if name == "PRECALL":                                   # Python 3.11 alone
            continue
        # The names are said by an instruction of their own before the call, or since Python 3.13 lie on the stack above the arguments.
        told = before is not None and (before.opname, name) in (("KW_NAMES", "CALL"), ("LOAD_CONST", "CALL_KW"))
        found, count = code.co_consts[before.arg] if told else (), instruction.arg if name in ("CALL", "CALL_KW") else None
        before = instruction
    return count, found
