"""Operators made of Python functions: `custom_op`, and what is registered for one.

Owns: `CustomOpDef` and the functions `register_...`, with PyTorch's errors. May not know: how a call is made.
"""
import contextlib
import inspect

from ..base.errors import missing
from .inferring import infer_schema
from .operators import FAKING, Definition
from .schema import Schema
from .spaces import found, put_in
from .tags import Tag, listed


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes an operator of a function of tensors and numbers, whose body nothing looks into: neither gradients nor transformations.

    ``name``: "library::operator". ``fn``: the function, which must have annotations; without it a decorator is answered. ``mutates_args``:
    the names of the tensors that it writes to. ``device_types``: the devices that it is for, all by default. ``schema``: in place of the
    one that the annotations say. What it answers must not share memory with what it is given (RuntimeError). ValueError for annotations
    that no schema can say.

    The answer is called as the function is; gradients it gets by `register_autograd`, tensors without data by `register_fake`. It is also
    ``torch.ops.library.operator``.

    >>> import numpy as np
    >>> @torch.library.custom_op("docs::sine", mutates_args=())
    ... def sine(x: torch.Tensor) -> torch.Tensor:
    ...     return torch.from_numpy(np.sin(x.numpy()))
    >>> sine.register_autograd(lambda ctx, grad: grad * ctx.saved_tensors[0].cos(),
    ...                        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
    >>> x = torch.zeros(2, requires_grad=True)
    >>> sine(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    >>> torch.ops.docs.sine(torch.zeros(1))
    tensor([0.])
    """
    def made(function):
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        namespace, mark, short = name.partition("::")
        if not mark or not namespace or not short or "::" in short:
            raise ValueError(f"Expected `{name}` to be of the form `namespace::name`")
        return CustomOpDef(namespace, short, text, function, device_types, tags)
    return made if fn is None else made(fn)


class CustomOpDef:
    """An operator that `custom_op` has made of a function."""

    __module__ = "torch._library.custom_ops"

    def __init__(self, namespace, name, schema, fn, device_types=None, tags=None):
        self._namespace, self._name, self._schema, self._init_fn = namespace, name, schema, fn
        read = Schema.read(f"{namespace}::{name}{schema}")
        if any(argument.kwarg_only and argument.type.base == "Tensor" for argument in read.arguments):
            raise NotImplementedError("custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: "
                                      f"{name}{schema}")
        self._definition = Definition(read, self, [Tag.pt2_compliant_tag, *listed(tags)])
        self._opoverload = put_in(self._definition)
        self.register_kernel(device_types)(fn)

    @property
    def _qualname(self):
        return f"{self._namespace}::{self._name}"

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types, fn=None, /):
        """The function for tensors on a device, on several, or with None on all; see `torch.library.register_kernel`."""
        return register_kernel(self, device_types, fn)

    def register_fake(self, fn, /):
        """What answers tensors on the meta device; see `torch.library.register_fake`."""
        self._definition.fake = fn
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        """The formula of the gradient; see `torch.library.register_autograd`."""
        register_autograd(self, backward, setup_context=setup_context)

    def register_vmap(self, func=None):
        """What is done for a batch; see `torch.library.register_vmap`."""
        return register_vmap(self, func)

    def register_autocast(self, device_type, cast_inputs):
        """The type that its arguments get in regions of autocast; see `torch.library.register_autocast`."""
        register_autocast(self, device_type, cast_inputs)

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        """Refuses: an operator has no rules for single classes or modes."""
        return register_torch_dispatch(self, torch_dispatch_class, fn)

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type, enabled=True):
        """Within, the kernel that was registered for a device steps aside for the function that the operator was made of."""
        before = set(self._definition.disabled)
        (self._definition.disabled.discard if enabled else self._definition.disabled.add)(device_type)
        try:
            yield
        finally:
            self._definition.disabled = before


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Has an operator call a function for tensors on a device ("cpu"), on several, or with None on all of them. A decorator without it.

    >>> @torch.library.custom_op("docs::twice", mutates_args=(), device_types="cuda")
    ... def twice(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 2
    >>> @torch.library.register_kernel("docs::twice", "cpu")
    ... def _(x):
    ...     return x + x
    >>> twice(torch.ones(2))
    tensor([2., 2.])
    """
    definition = found(op)

    def register(function):
        for device in ("default",) if device_types is None else (device_types,) if isinstance(device_types, str) else device_types:
            definition.kernels[device] = function
        return function
    return register if func is None else register(func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Has an operator call a function for tensors on the meta device, which says what shape and type its answers have.

    >>> @torch.library.custom_op("docs::halved", mutates_args=())
    ... def halved(x: torch.Tensor) -> torch.Tensor:
    ...     return x[: len(x) // 2].clone()
    >>> @torch.library.register_fake("docs::halved")
    ... def _(x):
    ...     return x.new_empty(len(x) // 2)
    >>> halved(torch.ones(6, device="meta")).shape
    torch.Size([3])
    """
    definition = found(op)

    def register(function):
        definition.fake = function
        return function
    return register if func is None else register(func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Gives an operator the formula of its gradient.

    ``backward(ctx, *grads)`` answers a gradient for each argument by position, None for what is no tensor, a list for a list of tensors.
    ``setup_context(ctx, inputs, output)``, or ``(ctx, inputs, keyword_only_inputs, output)`` where there are such, keeps what it needs in
    ``ctx``. RuntimeError for an operator that writes to its arguments. For an example see `custom_op`.
    """
    definition = found(op)
    schema = definition.schema
    if schema.is_mutable or any(kind.alias for kind in schema.returns) or not schema.returns:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {definition.owner or definition.shown} with "
                           f"schema {schema}. Please create a functional operator and register an autograd formula for that.")
    definition.backward, definition.setup_context = backward, setup_context
    definition.forget_function()


def register_vmap(op, func=None, /, *, lib=None):
    """Gives an operator what is done for a batch inside of `torch.vmap`; without ``func`` a decorator.

    ``func(info, in_dims, *args, **kwargs)`` answers (results, the dimensions in which they are batches), for arguments that are whole
    batches along ``in_dims``, None for those that are none. ``info.batch_size``: how many there are.

    >>> @torch.library.custom_op("docs::summed", mutates_args=())
    ... def summed(x: torch.Tensor) -> torch.Tensor:
    ...     return torch.tensor(x.numpy().sum())
    >>> @torch.library.register_vmap("docs::summed")
    ... def _(info, in_dims, x):
    ...     return x.movedim(in_dims[0], 0).sum(1), 0
    >>> torch.vmap(summed)(torch.ones(3, 2))
    tensor([2., 2., 2.])
    """
    definition = found(op)

    def register(function):
        definition.vmap = function
        definition.forget_function()
        return function
    return register if func is None else register(func)


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Has an operator's floating point arguments cast to a dtype in regions of autocast of that device.

    >>> @torch.library.custom_op("docs::product", mutates_args=())
    ... def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    ...     return x @ y
    >>> torch.library.register_autocast("docs::product", "cpu", torch.bfloat16)
    >>> with torch.autocast("cpu"):
    ...     product(torch.ones(2, 2), torch.ones(2, 2)).dtype
    torch.bfloat16
    """
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    found(op).casts[device_type] = cast_inputs


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    """Refuses: an operator has no rules for single classes or modes."""
    raise missing("rules of an operator for a class or mode (register_torch_dispatch)", "the class's or mode's own __torch_dispatch__")


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """Refuses: an operator of Triton's kernels."""
    raise missing("kernels of Triton", "torch.library.custom_op, whose body may call any library")


def wrap_triton(triton_kernel, /):
    """Refuses: a kernel of Triton's."""
    raise missing("kernels of Triton", "torch.library.custom_op, whose body may call any library")


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """`register_fake` by its older name."""
    return register_fake(qualname, func, lib=lib)


def get_ctx():
    """What a fake function may ask for a size that only the data tells: refused by a RuntimeError, since there are no such sizes here.

    Elsewhere it answers None.
    """
    if not getattr(FAKING, "now", False):
        return None
    caller = inspect.currentframe().f_back
    raise RuntimeError(f"{caller.f_code.co_name} ({caller.f_code.co_filename}:{caller.f_lineno}): You're trying to run this operator with "
                       "meta Tensors (as opposed to FakeTensors), but this operator may return an output Tensor with data-dependent shape. "
                       "Meta Tensors don't support operators with outputs that have data-dependent shapes but FakeTensors do. There are no "
                       "FakeTensors in jtensor.")
