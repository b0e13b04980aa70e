"""The exceptions PyTorch has beside Python's own, and jtensor's honest refusal.

Owns: the tree below and the text of a refusal. May not know: tensors.

    FatalError                   PyTorch's, for handlers that name it
    RuntimeError
    ├── OutOfMemoryError         the device has no room for a program's buffers
    ├── AcceleratorError         PyTorch's, for handlers that name it
    └── NotImplementedError
        └── MissingFeature       jtensor does not have it (yet); names the nearest thing that works
"""


class _Sent:
    """Pickled by way of a function: these classes bear names that need not be found where the pickle is read."""

    __slots__ = ()

    def __reduce__(self):
        name = type(self).__name__
        return (_raised, (name, self.args)) if globals().get(name) is type(self) else super().__reduce__()


def _raised(name, args):
    return globals()[name](*args)


class OutOfMemoryError(_Sent, RuntimeError):
    """The device ran out of memory; every tensor is as it was before the operation."""

    __module__ = "torch"


class AcceleratorError(_Sent, RuntimeError):
    """An error of the accelerator itself. Nothing here raises it: XLA's errors come as they are."""

    __module__ = "torch"


class FatalError(_Sent, Exception):
    """What PyTorch's C++ raises where it cannot go on. Nothing here raises it."""

    __module__ = "torch"


class MissingFeature(_Sent, NotImplementedError):
    """A feature of PyTorch that jtensor does not have; the message names the nearest thing that works."""

    __module__ = "jtensor"


def missing(what, instead=None):
    """The exception for a feature that is not there: ``raise missing("sparse layouts", "dense tensors")``."""
    return MissingFeature(f"jtensor does not have {what}" + (f"; what works: {instead}" if instead else ""))


def pybind_refusal(name, forms, args, kwargs=None, kind="function"):
    """PyTorch's exception for a call of one of its C++ functions that goes by none of its forms; `args` with the object itself."""
    invoked = ", ".join(map(repr, args))
    if kwargs:
        invoked += f"{'; ' * bool(args)}kwargs: " + ", ".join(f"{key}={value!r}" for key, value in kwargs.items())
    forms = "\n".join(f"    {number}. {form}" for number, form in enumerate(forms, 1))
    return TypeError(f"{name}(): incompatible {kind} arguments. The following argument types are supported:\n{forms}\n\n"
                     f"Invoked with: {invoked}")


def real_only(function):
    """PyTorch's exception for a function whose gradient it has for real results alone, where a complex one would need a gradient."""
    return RuntimeError(f"{function} does not support automatic differentiation for outputs with complex dtype.")


def refusal(name, what, instead, why):
    """A function of that name that raises `missing` whatever it is given. ``why``: its docstring, after "Refuses: "."""
    def refuse(*args, **kwargs):
        raise missing(f"{what} ({name})", instead)
    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Refuses: {why}"
    return refuse


class _LinAlgError(_Sent, RuntimeError):
    """A matrix that a linear algebra function cannot work with: singular, not positive-definite, not converging."""

    __module__ = "torch._C"


LinAlgError = _LinAlgError
