"""Functions as their source has them: the tree, the names that they see, places for errors.

Owns: reading the source, what a name stands for in Python, how an error shows a place. May not know: types, values of programs.
"""
import ast
import builtins
import inspect
import textwrap

from ...base.errors import MissingFeature
from ..frontend import NotSupportedError, UnsupportedNodeError  # noqa: F401 - what is raised with places
from . import spans


class Source:
    """A function's text. ``node``: its definition; ``names``: what it sees from outside; ``function``: itself."""

    def __init__(self, function, node=None, lines=None, first=1, file="<string>", names=None, indent=0):
        self.function, self.node, self.lines, self.first, self.file, self.names = function, node, lines, first, file, names or {}
        self.indent = indent                                      # of the lines, which the tree does not know

    @property
    def name(self):
        return self.node.name

    def lookup(self, name):
        """What a name stands for outside of the function. KeyError where it is none."""
        if name in self.names:
            return self.names[name]
        function = self.function
        code = getattr(function, "__code__", None)
        if code is not None and name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise KeyError(name) from None
        for space in (getattr(function, "__globals__", {}), vars(builtins)):
            if name in space:
                return space[name]
        raise KeyError(name)

    def evaluated(self, node):
        """The object that an expression of an annotation stands for."""
        space = _Names(self)
        text = node if isinstance(node, str) else ast.unparse(node)
        return eval(text, {"__builtins__": {}}, space)

    def place(self, node):
        """Where a part of it stands, for errors."""
        return Place(self, node)


class _Names(dict):
    def __init__(self, source):
        super().__init__()
        self.source = source

    def __missing__(self, name):
        return self.source.lookup(name)


class Place:
    """A part of a source; as text what PyTorch shows of it. ``node``: of Python's."""

    __slots__ = ("source", "node")

    def __init__(self, source, node):
        self.source, self.node = source, node

    def whole(self):
        """The call whose function this is; itself, if it is none."""
        for one in ast.walk(self.source.node):
            if isinstance(one, ast.Call) and one.func is self.node:
                return Place(self.source, one)
        return self

    def __str__(self):
        source, node = self.source, self.node
        if source.lines is None or not hasattr(node, "lineno"):
            return "\n"
        (low, start), (high, end) = spans.of(node)
        low, high, start, end = low - 1, high - 1, start + source.indent, end + source.indent
        shown = [f'  File "{source.file}", line {source.first + low}']
        for at in range(max(0, low - 2), min(len(source.lines), high + 3)):
            line = source.lines[at]
            if at > high and not line.strip() and at == len(source.lines) - 1:
                break
            shown.append(line)
            if low <= at <= high:
                left = start if at == low else len(line) - len(line.lstrip())
                right = end if at == high else len(line)
                shown.append(" " * left + "~" * max(1, right - left) + (" <--- HERE" if at == high else ""))
        return "\n".join(shown) + "\n"


def error(message, place, kind=RuntimeError):
    """The exception of something that is wrong at a place."""
    return kind(f"\n{message}:\n{place}")


def unsupported(what, place, kind=UnsupportedNodeError):
    """The exception of something that the language does not have."""
    return kind(f"{what}:\n{place}")


def at_start(node, count=1):
    """The first letters of a node, as a place for errors."""
    made = ast.Pass()
    made.lineno = made.end_lineno = node.lineno
    made.col_offset, made.end_col_offset = node.col_offset, node.col_offset + max(1, count)
    return made


def absent(what, place=None):
    """The `MissingFeature` of something that PyTorch compiles, and this does not."""
    known = place is not None and hasattr(place.node, "lineno") and place.source.lines is not None
    at = f" (line {place.source.first + place.node.lineno - 1} of {place.source.file})" if known else ""
    return MissingFeature(f"TorchScript of {what}{at} is not supported by jtensor. Use instead: the same in words that torch.jit.script "
                          "has here, torch.jit.trace, or the function itself, which runs as it is.")


def read(function, name=None):
    """The `Source` of a function."""
    function = inspect.unwrap(function) if not hasattr(function, "__script_source__") else function
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function)
    except (OSError, TypeError) as problem:
        raise OSError(f"Can't get source for {function}. TorchScript requires source access in order to carry out compilation, make sure "
                      "original .py files are available.") from problem
    whole_text = "".join(lines)
    text = textwrap.dedent(whole_text)
    whole = ast.parse(text, type_comments=True) if _has_comments(text) else ast.parse(text)
    if len(whole.body) != 1 or not isinstance(whole.body[0], ast.FunctionDef):
        raise RuntimeError(f"Expected a single top-level function: {file}:{first}")
    node = whole.body[0]
    if name:
        node.name = name
    indent = len(lines[0]) - len(lines[0].lstrip()) if text != whole_text else 0
    return Source(function, node, whole_text.splitlines(), first, file, indent=indent)


def _has_comments(text):
    if "# type:" not in text:
        return False
    try:
        ast.parse(text, type_comments=True)
    except SyntaxError:
        return False
    return True
