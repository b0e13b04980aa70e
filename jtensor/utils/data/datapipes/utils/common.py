"""Checks of the functions that pipes call, names of files and opened files.

May not know: pipes. The optional package ``dill`` pickles functions that Python's `pickle` cannot; it is imported here, and told to leave
that of others as it is.
"""
import fnmatch
import functools
import inspect
import os
import warnings
from collections.abc import Iterable
from io import IOBase

try:
    import dill
except ImportError:
    dill = None
else:
    dill.extend(use_dill=False)

__all__ = ["StreamWrapper", "get_file_binaries_from_pathnames", "get_file_pathnames_from_root", "match_masks", "validate_input_col",
           "validate_pathname_binary_tuple"]


_Kind = inspect.Parameter


# -- functions --------------------------------------------------------------------------------------------------------

def validate_input_col(fn, input_col):
    """Raises ValueError unless ``fn`` can be called with as many positional arguments as ``input_col`` has columns (one, unless it is a
    list or tuple). What Python knows no signature of passes.

    >>> from jtensor.utils.data.datapipes.utils.common import validate_input_col
    >>> validate_input_col(lambda a, b=1: a + b, [0, 1])
    """
    try:
        parameters = inspect.signature(fn).parameters
    except ValueError:
        return
    given = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    kinds = [(p.kind, p.default is p.empty) for p in parameters.values()]
    positional = [required for kind, required in kinds if kind in (_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD)]
    by_keyword = sum(required for kind, required in kinds if kind is _Kind.KEYWORD_ONLY)
    any_number = any(kind is _Kind.VAR_POSITIONAL for kind, _ in kinds)

    named = fn.func if isinstance(fn, functools.partial) else fn
    takes = f"The function {getattr(named, '__name__', named)} takes"
    if by_keyword:
        raise ValueError(f"{takes} {by_keyword} non-default keyword-only parameters, which is not allowed.")
    if len(parameters) < given and not any_number:
        raise ValueError(f"{takes} {len(parameters)} parameters, but {given} are required.")
    if sum(positional) > given or (len(positional) < given and not any_number):
        raise ValueError(f"{takes} {len(positional)} positional parameters, but {given} are required.")


def _is_local_fn(fn):
    """Whether a function was written inside another, or an object's class was; such ones have no name that a pickle could find."""
    if hasattr(fn, "__code__"):
        return fn.__code__.co_flags & inspect.CO_NESTED
    named = fn if hasattr(fn, "__qualname__") else type(fn)
    return "<locals>" in named.__qualname__


def _check_unpickable_fn(fn):
    """TypeError for what cannot be called; a warning for what workers in other processes could not be sent."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    if isinstance(fn, functools.partial):
        fn = fn.func
    if dill is not None:
        return
    kind = "Local" if _is_local_fn(fn) else "Lambda" if getattr(fn, "__name__", None) == "<lambda>" else None
    if kind is not None:
        warnings.warn(f"{kind} function is not supported by pickle, please use regular python function or functools.partial instead.",
                      stacklevel=2)


def _deprecation_warning(old_class_name, *, deprecation_version, removal_version, old_functional_name="", old_argument_name="",
                         new_class_name="", new_functional_name="", new_argument_name="", deprecate_functional_name_only=False):
    """The warning that a class of pipes, its method or one of its arguments will go."""
    if deprecate_functional_name_only:
        what = f"`.{old_functional_name}()` is"
    elif old_functional_name:
        what = f"`{old_class_name}()` and its functional API `.{old_functional_name}()` are"
    elif old_argument_name:
        what = f"The argument `{old_argument_name}` of `{old_class_name}()` is"
    else:
        what = f"`{old_class_name}()` is"
    text = (f"{what} deprecated since {deprecation_version} and will be removed in {removal_version}.\nSee "
            "https://github.com/pytorch/data/issues/163 for details.")
    if new_class_name or new_functional_name:
        better = [f"`{new_class_name}()`"] * bool(new_class_name) + [f"`.{new_functional_name}()`"] * bool(new_functional_name)
        text += f"\nPlease use {' or '.join(better)} instead."
    elif new_argument_name:
        text += f"\nPlease use `{old_class_name}({new_argument_name}=)` instead."
    warnings.warn(text, FutureWarning, stacklevel=2)


# -- files ------------------------------------------------------------------------------------------------------------

def match_masks(name, masks):
    """Whether the name of a file fits one of the masks (``*.txt``); without masks every name does."""
    if not masks:
        return True
    return any(fnmatch.fnmatch(name, mask) for mask in ([masks] if isinstance(masks, str) else masks))


def get_file_pathnames_from_root(root, masks, recursive=False, abspath=False, non_deterministic=False):
    """The paths of the files in a folder, in the order of their names unless ``non_deterministic``; of a file, its own."""
    def refuse(error):
        warnings.warn(f"{error.filename} : {error.strerror}", stacklevel=2)
        raise error

    if os.path.isfile(root):
        if match_masks(os.path.basename(root), masks):
            yield os.path.abspath(root) if abspath else root
        return
    for path, folders, files in os.walk(root, onerror=refuse):
        if not non_deterministic:
            folders.sort()
            files.sort()
        for name in files:
            if match_masks(name, masks):
                yield os.path.join(os.path.abspath(path) if abspath else path, name)
        if not recursive:
            break


def get_file_binaries_from_pathnames(pathnames, mode, encoding=None):
    """Pairs of a path and the opened file (a `StreamWrapper`). ``mode``: as that of `open`; "b" and "t" are for reading."""
    if mode in ("b", "t"):
        mode = "r" + mode
    for pathname in pathnames if isinstance(pathnames, Iterable) else [pathnames]:
        if not isinstance(pathname, str):
            raise TypeError(f"Expected string type for pathname, but got {type(pathname)}")
        yield pathname, StreamWrapper(open(pathname, mode, encoding=encoding))


def validate_pathname_binary_tuple(data):
    """TypeError unless ``data`` is a pair of a path and an opened file."""
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    name, stream = data
    if not isinstance(name, str):
        raise TypeError(f"pathname within the tuple should have string type pathname, but it is type {type(name)}")
    if not isinstance(stream, (IOBase, StreamWrapper)):
        raise TypeError(f"binary stream within the tuple should have IOBase orits subclasses as type, but it is type {type(stream)}")


class StreamWrapper:
    """An opened file that is closed when nobody holds it any more. It may be part of another (``parent_stream``), which can be told to
    close with the last of its parts (`autoclose`).

    >>> import io
    >>> from jtensor.utils.data.datapipes.utils.common import StreamWrapper
    >>> stream = StreamWrapper(io.StringIO("a"))
    >>> stream.read()
    'a'
    """

    session_streams = {}                # those that are open, where somebody looks for them
    debug_unclosed_streams = False

    def __init__(self, file_obj, parent_stream=None, name=None):
        self.file_obj, self.parent_stream, self.name = file_obj, parent_stream, name
        self.child_counter, self.close_on_last_child, self.closed = 0, False, False
        if parent_stream is not None:
            if not isinstance(parent_stream, StreamWrapper):
                self.parent_stream, self.closed = None, True
                raise RuntimeError(f"Parent stream should be StreamWrapper, {type(parent_stream)} was given")
            parent_stream.child_counter += 1
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v, depth=0):
        """Closes the streams in a nest of lists, tuples and dictionaries."""
        if isinstance(v, StreamWrapper):
            v.close()
        elif depth <= 10 and isinstance(v, (dict, list, tuple)):
            for inner in v.values() if isinstance(v, dict) else v:
                cls.close_streams(inner, depth + 1)

    def __getattr__(self, name):
        return getattr(self.__dict__["file_obj"], name)

    def close(self, *args, **kwargs):
        """Closes the file, and what it is part of if that waits for its last part."""
        if self.closed:
            return
        StreamWrapper.session_streams.pop(self, None)
        parent, self.closed = self.parent_stream, True
        if parent is not None:
            parent.child_counter -= 1
            if not parent.child_counter and parent.close_on_last_child:
                parent.close()
        if hasattr(self.file_obj, "close"):
            self.file_obj.close(*args, **kwargs)

    def autoclose(self):
        """Closes the file as soon as all of its parts are closed."""
        self.close_on_last_child = True
        if not self.child_counter:
            self.close()

    def __dir__(self):
        return [*self.__dict__, *dir(StreamWrapper), "close", *dir(self.file_obj)]

    def __del__(self):
        if not self.__dict__.get("closed", True):
            self.close()

    def __iter__(self):
        yield from self.file_obj

    def __next__(self):
        return next(self.file_obj)

    def __repr__(self):
        return f"StreamWrapper<{self.file_obj!r}>" if self.name is None else f"StreamWrapper<{self.name},{self.file_obj!r}>"

    def __getstate__(self):
        return self.file_obj

    def __setstate__(self, obj):
        self.__init__(obj)
