"""Functions that get another code while they stay the same object, so that whoever imported one before has the new one, too.

Owns: the copy of what such a function did before. May not know: what is put in front of it (`tensor.asking`, `amp.casting`).
"""
import types


def as_it_is(function):
    """Another function that does what this one does now, whatever code that is given later.

    >>> def double(x):
    ...     return 2 * x
    >>> before = as_it_is(double)
    >>> double.__code__ = (lambda x: "something else").__code__
    >>> double(3), before(3)
    ('something else', 6)
    """
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__, copy.__qualname__, copy.__doc__ = function.__kwdefaults__, function.__qualname__, function.__doc__
    copy.__dict__.update(function.__dict__)
    return copy
