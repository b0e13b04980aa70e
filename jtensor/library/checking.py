"""`opcheck`: whether an operator keeps what its schema, its fake function and its gradient promise.

Owns: the tests and their report. May not know: how operators are called.
"""
import importlib

from ..tensor.core import Tensor
from .spaces import found

TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static", "test_aot_dispatch_dynamic")
ORDINARY = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """What `opcheck` has found wrong."""

    __module__ = "torch.testing._internal.optests.generate_tests"


class MetadataMismatchError(Exception):
    """A fake function's answer is not what the kernel's is."""

    __module__ = "torch._subclasses.fake_utils"


def opcheck(op, args, kwargs=None, *, test_utils=ORDINARY, raise_exception=True, atol=None, rtol=None):
    """Checks an operator with sample arguments; answers {test: "SUCCESS" or the error}. It does not check the gradient's numbers.

    ``test_schema``: it writes to what the schema says, and to nothing else. ``test_autograd_registration``: what it answers has a history
    where an argument requires a gradient. ``test_faketensor``: the fake function says shapes and types as they are.
    ``test_aot_dispatch_...``: a program of the operator and its gradient answers the same when it runs as a whole (`torch.compile`) as step
    by step, within ``atol`` and ``rtol``. OpCheckError for what fails, unless ``raise_exception=False``. ValueError for a test of another
    name.

    >>> @torch.library.custom_op("docs::grown", mutates_args=())
    ... def grown(x: torch.Tensor) -> torch.Tensor:
    ...     return x + 1
    >>> _ = grown.register_fake(lambda x: torch.empty_like(x))
    >>> set(torch.library.opcheck(grown, (torch.ones(2),)).values())
    {'SUCCESS'}
    """
    names = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(names) <= set(TESTS):
        raise ValueError(f"opcheck(op, ..., test_utils={names}), expected test_utils to be subset of {TESTS} but it was not")
    definition, report = found(op), {}
    for name in names:
        try:
            _CHECKS[name](definition, *_copied(args, kwargs or {}), atol, rtol)
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)") from error
            report[name] = error
        else:
            report[name] = "SUCCESS"
    return report


def _copied(args, kwargs):
    """The arguments with tensors of their own."""
    def copy(value):
        if isinstance(value, (list, tuple)):
            return [copy(one) for one in value]
        return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value
    return [copy(value) for value in args], {name: copy(value) for name, value in kwargs.items()}


def _tensors(values):
    found_here = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found_here += _tensors(value)
        elif isinstance(value, Tensor):
            found_here.append(value)
    return found_here


def _schema(definition, args, kwargs, atol, rtol):
    torch = importlib.import_module("jtensor")
    given, named = definition.schema.bound(args, kwargs)
    values = dict(zip([a.name for a in definition.schema.arguments if not a.kwarg_only], given, strict=True), **named)
    before = {name: [t.detach().clone() for t in _tensors([value])] for name, value in values.items()}
    definition(given, named)
    for argument in definition.schema.arguments:
        now = _tensors([values[argument.name]])
        if not argument.is_write and any(not torch.equal(a.nan_to_num(), b.detach().nan_to_num()) or not torch.equal(a.isnan(), b.isnan())
                                         for a, b in zip(before[argument.name], now, strict=True)):
            raise RuntimeError(f"Argument {argument.name} is not defined as mutable but was mutated")


def _registration(definition, args, kwargs, atol, rtol):
    known = definition.owner or definition.backward or definition.implicit
    if known or not any(t.requires_grad for t in _tensors([*args, *kwargs.values()])):
        return
    raise AssertionError(f"{definition.shown}: an argument requires a gradient, and the operator has no formula for it. Please use "
                         "torch.library.register_autograd")


def _fake(definition, args, kwargs, atol, rtol):
    def without_data(value):
        if isinstance(value, list):
            return [without_data(one) for one in value]
        return value.to("meta") if isinstance(value, Tensor) else value
    torch = importlib.import_module("jtensor")
    with torch.no_grad():
        fake = definition([without_data(v) for v in args], {name: without_data(v) for name, v in kwargs.items()})
        real = definition(args, kwargs)
    begun = f"When comparing the output of {definition.shown} on FakeTensor and concrete Tensors, found mismatched tensor metadata: "
    real, fake = _tensors([real]), _tensors([fake])
    if len(real) != len(fake):
        raise MetadataMismatchError(f"{begun}{len(real)} and {len(fake)} tensors")
    for a, b in zip(real, fake, strict=True):
        if a.shape != b.shape:
            raise MetadataMismatchError(f"{begun}Shapes {a.shape} and {b.shape} are not equal!")
        if a.dtype != b.dtype:
            raise MetadataMismatchError(f"{begun}Dtypes {a.dtype} and {b.dtype} are not equal!")
        if a.stride() != b.stride():
            raise MetadataMismatchError(f"{begun}Stride mismatch! Strides are {a.stride()} and {b.stride()}")


def _whole(definition, args, kwargs, atol, rtol):
    torch = importlib.import_module("jtensor")

    def program(args, kwargs):
        answers = _tensors([definition(args, kwargs)])
        leaves = [t for t in _tensors([*args, *kwargs.values()]) if t.requires_grad]
        heads = [t for t in answers if t.requires_grad]
        grads = torch.autograd.grad([t.sum() if not t.is_complex() else t.abs().sum() for t in heads], leaves, allow_unused=True) \
            if heads and leaves else ()
        return [t.detach() for t in answers] + [g for g in grads if g is not None]
    with torch.no_grad():
        definition(*_copied(args, kwargs))                  # what it raises, it raises here
    whole = torch.compile(program)(*_copied(args, kwargs))
    with torch.eager():
        steps = program(*_copied(args, kwargs))
    for a, b in zip(whole, steps, strict=True):
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)


_CHECKS = dict(zip(TESTS, (_schema, _registration, _fake, _whole, _whole), strict=True))
