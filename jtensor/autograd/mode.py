"""Grad modes: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`, as context managers and decorators.

The flags live beside the tape of each thread (`trace.tape.LOCAL`), since recording asks for them at every operation.
"""
import functools
import inspect
import warnings

from ..trace.tape import LOCAL


def switch(enabled):
    """Switches recording on or off, and answers what was: (recording, said to be on). In inference mode it is only said to be on."""
    before = LOCAL.grad_enabled, LOCAL.says_enabled
    LOCAL.grad_enabled, LOCAL.says_enabled = enabled and not LOCAL.inference, enabled and LOCAL.inference
    return before


def _set_grad_enabled(enabled, /):
    """``torch._C._set_grad_enabled``. Once there are modes that are told of functions, the classes below switch by it (`overridable`)."""
    if not isinstance(enabled, bool):
        raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(enabled).__name__}")
    switch(enabled)


_set_grad_enabled.__module__ = "torch._C"


class _Mode:
    """A context manager that is a decorator too, for functions, generator functions and coroutines."""

    __module__ = "torch.autograd.grad_mode"

    def clone(self):
        return type(self)()

    def __call__(self, function):
        if inspect.isclass(function):
            warnings.warn("Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
                          "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
                          "and nothing else.", FutureWarning, stacklevel=2)
            cls = function
            function = lambda *args, **kwargs: cls(*args, **kwargs)
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def decorated(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)
        return decorated

    def _wrap_generator(self, function):
        @functools.wraps(function)
        def decorated(*args, **kwargs):
            generator = function(*args, **kwargs)
            sent, failed = None, None
            while True:
                try:
                    with self.clone():
                        item = generator.send(sent) if failed is None else generator.throw(failed)
                except StopIteration as stop:
                    return stop.value
                try:
                    sent, failed = (yield item), None
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:          # whatever the consumer throws goes to the generator
                    sent, failed = None, error
        return decorated


class _Bare(_Mode):
    """A mode that decorates a function without being called first, too."""

    def __new__(cls, function=None):
        self = object.__new__(cls)
        return self if function is None else self(function)

    def __init__(self, function=None):
        self.previous = False


class no_grad(_Bare):
    """Operations inside record no gradients.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __enter__(self):
        self.previous = LOCAL.grad_enabled, LOCAL.says_enabled
        LOCAL.grad_enabled = LOCAL.says_enabled = False

    def __exit__(self, *exc):
        LOCAL.grad_enabled, LOCAL.says_enabled = self.previous


class enable_grad(_Bare):
    """Operations inside record gradients, also within `no_grad`.

    >>> with torch.no_grad():
    ...     with torch.enable_grad():
    ...         torch.is_grad_enabled()
    True
    """

    def __enter__(self):
        self.previous = switch(True)

    def __exit__(self, *exc):
        LOCAL.grad_enabled, LOCAL.says_enabled = self.previous


class set_grad_enabled(_Mode):
    """Switches gradient recording on or off at once; as a context manager it restores the mode at the end.

    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    def __init__(self, mode):
        self.previous, self.mode = (LOCAL.grad_enabled, LOCAL.says_enabled), mode
        _set_grad_enabled(mode)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self):
        return type(self)(self.mode)

    def __call__(self, function):
        LOCAL.grad_enabled, LOCAL.says_enabled = self.previous
        return super().__call__(function)

    def __enter__(self):
        switch(self.mode)

    def __exit__(self, *exc):
        LOCAL.grad_enabled, LOCAL.says_enabled = self.previous


class set_multithreading_enabled(_Mode):
    """Whether backward may use several threads, from now on or within it. This engine walks on the thread that asks, whatever is set.

    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     torch.ones(1, requires_grad=True).sum().backward()
    """

    asked = True

    def __init__(self, mode):
        self.previous, self.mode = set_multithreading_enabled.asked, mode
        set_multithreading_enabled.asked = bool(mode)

    def clone(self):
        return type(self)(self.mode)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        set_multithreading_enabled.asked = self.previous


def is_multithreading_enabled():
    """What `set_multithreading_enabled` was told last: True unless it was told otherwise."""
    return set_multithreading_enabled.asked


class inference_mode(_Mode):
    """Like `no_grad`, and tensors made inside are inference tensors: no version counter, never part of a graph.

    >>> with torch.inference_mode():
    ...     torch.ones(1).is_inference()
    True
    """

    def __new__(cls, mode=True):
        self = object.__new__(cls)
        if not isinstance(mode, bool):                                 # a function to decorate
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode=True):
        self.mode = bool(mode)

    def clone(self):
        return type(self)(self.mode)

    def __enter__(self):
        self.previous = LOCAL.grad_enabled, LOCAL.inference, LOCAL.says_enabled
        LOCAL.grad_enabled, LOCAL.inference, LOCAL.says_enabled = not self.mode, self.mode, False

    def __exit__(self, *exc):
        LOCAL.grad_enabled, LOCAL.inference, LOCAL.says_enabled = self.previous


def is_grad_enabled():
    """Whether operations record gradients now."""
    return LOCAL.grad_enabled or LOCAL.says_enabled


def is_inference_mode_enabled():
    """Whether inference mode is on."""
    return LOCAL.inference


for _mode in (no_grad, enable_grad, set_grad_enabled, inference_mode):
    _mode.__module__ = _Mode.__module__
