"""Where the user is: the innermost frame outside this package, cheap enough to ask at every flush.

Owns: finding it and writing it down. A site is ``(code object, instruction)``; the line number is worked out when it is shown.
"""
import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_inside = {}


def inside(code):
    """Whether a code object is the library's own."""
    return _is_inside(code.co_filename)


def _is_inside(name):
    found = _inside.get(name)
    if found is None:
        if len(_inside) >= 1 << 16:
            _inside.clear()
        found = _inside[name] = name.startswith((_HERE, "<jtensor"))
    return found


def user_site(skip=1):
    """The (code, lasti) of the innermost frame that is not the library's, or None; the first ``skip`` frames are known to be."""
    frame = sys._getframe(skip)
    while frame is not None:
        code = frame.f_code
        inside = _inside.get(code.co_filename)         # by name: a text keeps its hash, a code object does not
        if inside is None:
            inside = _is_inside(code.co_filename)
        if not inside:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


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
