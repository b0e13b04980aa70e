"""Functions that get another code while they stay the same object, so that whoever imported one before has the new one, too.

Owns: the copy of what such a function did before, the door that is put in front of it, and code that goes in its place. May not know: who
asks at a door (`amp.casting`, `random.batched`), nor what is written in a function's place (`tensor.calling.asking`, `dispatching.doors`).
"""
import functools
import inspect
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


BEHIND = {}                              # {function that has a door: what it did before}
OWN = {}                                 # {function whose code is another for a while (`jtensor.dispatching`): one with its own}


def put_door(function, called, original=None):
    """Has a function answer ``called(args, kwargs)`` from now on; it shows the name and the signature that it had. ``original``: what it
    did before, which others may look for (`BEHIND`).

    >>> def double(x):
    ...     return 2 * x
    >>> before = as_it_is(double)
    >>> put_door(double, lambda args, kwargs: before(*args, **kwargs) + 1)
    >>> double(3), double(x=3), inspect.signature(double)
    (7, 7, <Signature (x)>)
    """
    code, signature = function.__code__, inspect.signature(OWN.get(function, function))
    if original is not None:
        BEHIND[function] = original
    function.__code__ = _door.__code__.replace(co_name=code.co_name, co_qualname=code.co_qualname)
    function.__defaults__, function.__kwdefaults__, function.__signature__ = None, {"_called": called}, signature


def _door(*args, _called=None, **kwargs):
    return _called(args, kwargs)


@functools.cache
def template(source, count, file):
    r"""The code of the function within the one function of ``source``, to be put in the place of one with so many free variables: those are
    named where ``{bound}`` and ``{named}`` stand. Its constants are replaced by what they name (`types.CodeType.replace`).

    >>> code = template("def outer():\n    {bound} = None\n    def inner(x):\n        {named}\n        return x, 'answer'", 0, "<here>")
    >>> types.FunctionType(code.replace(co_consts=tuple([8 if c == "answer" else c for c in code.co_consts])), {})(7)
    (7, 8)
    """
    cells = [f"c{at}" for at in range(count)]
    source = source.format(bound=" = ".join(cells or ["_"]), named="; ".join(cells or ["pass"]))
    outer = compile(source, file, "exec").co_consts[0]
    return next(const for const in outer.co_consts if isinstance(const, types.CodeType))
