"""Custom functions: what a user subclasses (`Function`), the ``ctx`` that is also the ``grad_fn``, and `once_differentiable`.

A ``ctx`` belongs to the user, who may give it attributes of any name; so it is not the node that the engine walks, but the face that
the node shows (`Node.face`). The node holds the face, the face knows the node weakly: a graph dies with its last tensor, without the
garbage collector. How outputs become part of the graph is written in `tensor.custom`, which installs itself here.
May not know: the Tensor class.
"""
import functools
import warnings
from collections import OrderedDict

from ..utils.hooks import RemovableHandle
from .graph import Node

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]


class FunctionCtx:
    """What ``forward`` and ``backward`` of a custom function get as ``ctx``."""

    __module__ = "torch.autograd.function"
    to_save = dirty_tensors = non_differentiable = saved_for_forward = None
    forwards = False                # whether ``jvp`` runs now
    materialize_grads = True
    clear_saved_tensors_on_access = False

    def save_for_backward(self, *tensors):
        """Keeps tensors for ``backward``, which finds them, their versions checked, in ``ctx.saved_tensors``. None may stand among them."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keeps tensors for ``jvp``."""
        for tensor in tensors:
            if tensor is not None and not hasattr(tensor, "_storage"):
                raise AssertionError("save_for_forward expects all arguments to be tensors; you should save non-tensors as "
                                     "attributes on ctx.")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Declares that ``forward`` has changed these inputs in place; they must be returned."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs):
        warnings.warn("mark_shared_storage is deprecated. Tensors with shared storages are automatically tracked. Note that calls "
                      "to `set_()` "
                      "are not tracked", FutureWarning, stacklevel=2)

    def mark_non_differentiable(self, *args):
        """Declares outputs that have no gradient; ``backward`` still gets a gradient of zeros for each."""
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        """Whether ``backward`` gets zeros (True) or None for gradients that do not exist."""
        self.materialize_grads = value


class _HookMixin:
    """How a ctx keeps hooks of its own."""

    __module__ = "torch.autograd.function"

    @staticmethod
    def _register_hook(backward_hooks, hook):
        if backward_hooks is None:
            backward_hooks = OrderedDict()
        handle = RemovableHandle(backward_hooks)
        backward_hooks[handle.id] = hook
        return backward_hooks, handle


class BackwardCFunction(FunctionCtx, _HookMixin, Node):
    """The ctx of a custom function, which users meet again as ``grad_fn``. The fields of `Node` in it are free for the user."""

    __module__ = "torch.autograd.function"
    needs_input_grad = ()
    _node = None                    # weak reference to the node
    _edges = ()                     # the node's edges, for when only the face is left
    _saved = ()                     # entries of saved tensors; None once they are freed
    _notes = None

    def apply(self, *args):
        """Runs the user's ``backward`` (or ``vjp``) on gradients of the outputs."""
        return self._get_user_fn()(self, *args)

    def _get_user_fn(self):
        backward, vjp = self._forward_cls.backward, self._forward_cls.vjp
        if backward is not Function.backward and vjp is not Function.vjp:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                               "implement one of "
                               "them.")
        return vjp if vjp is not Function.vjp else backward

    def name(self):
        return type(self).__name__

    @property
    def _engine_node(self):
        node = self._node() if self._node is not None else None
        if node is None:
            raise RuntimeError(f"the graph that {self.name()} was part of has been freed")
        return node

    @property
    def next_functions(self):
        return tuple((None, 0) if e is None else (e[0].face, e[1]) for e in self._edges)

    @property
    def metadata(self):
        if self._notes is None:
            self._notes = {}
        return self._notes

    def register_hook(self, fn):
        return self._engine_node.register_hook(fn)

    def register_prehook(self, fn):
        return self._engine_node.register_prehook(fn)

    def _sequence_nr(self):
        return self._engine_node._sequence_nr()

    @property
    def _input_metadata(self):
        return self._engine_node._input_metadata

    def __call__(self, *grads):
        return self._engine_node(*grads)

    def __repr__(self):
        return object.__repr__(self)


class FunctionMeta(type):
    """Gives each function class the class of its contexts: ``MyFn`` -> ``MyFnBackward``."""

    __module__ = "torch.autograd.function"

    def __init__(cls, name, bases, attrs):
        made = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": "torch.autograd.function"})
        cls._backward_cls = made
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, _HookMixin, metaclass=FunctionMeta):
    """Base class of custom functions: static methods ``forward(ctx, ...)`` and ``backward(ctx, *grads)``, called by ``apply``.

    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x ** 3
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         x, = ctx.saved_tensors
    ...         return 3 * x ** 2 * grad
    >>> x = torch.tensor([2.], requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor([12.])
    """

    __module__ = "torch.autograd.function"
    generate_vmap_rule = False

    def __init__(self, *args, **kwargs):
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke "
                      f"them on "
                      "the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
                      DeprecationWarning, stacklevel=2)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
                           "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")

    @staticmethod
    def forward(*args, **kwargs):
        """The computation: ``forward(ctx, *args)``, or ``forward(*args)`` beside a `setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Where it is overridden: fills ``ctx`` after ``forward``, which then gets no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the inputs, one for each, from those of the outputs; None for an input without."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with "
                                  "backward mode AD.")

    vjp = None                      # the same function as `backward` until a subclass overrides one of the two

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Forward-mode derivatives."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info, in_dims, *args):
        """The batched form."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
                                  "generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs ``forward`` and, if an input requires grad, puts the function into the graph."""
        return cls._apply(cls, args, kwargs)


def _no_vjp(ctx, *grad_outputs):
    return Function.backward(ctx, *grad_outputs)


Function.vjp = staticmethod(_no_vjp)


class InplaceFunction(Function):
    """A `Function` with a flag that says whether it works in place."""

    __module__ = "torch.autograd.function"

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


class Error(Node):
    """The node of a gradient that cannot be differentiated again: running it raises."""

    __slots__ = ("message", "outputs")

    def __init__(self, edges, message, outputs):
        Node.__init__(self, edges)
        self.message, self.outputs = message, outputs

    def apply(self, grads):
        raise RuntimeError(self.message)


def once_differentiable(fn):
    """Decorator of ``backward``: it runs without recording, and differentiating its results raises."""
    from .mode import no_grad

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        from ..trace.tape import LOCAL
        recording = LOCAL.grad_enabled
        with no_grad():
            outputs = fn(ctx, *args)
        if not recording or not any(hasattr(a, "_storage") and a.requires_grad for a in args):
            return outputs
        several = isinstance(outputs, tuple)
        return _fail_later(outputs if several else (outputs,), several)
    return wrapper


def _fail_later(outputs, several):
    from .graph import accumulator
    leaves = [None if out is None else out.detach().requires_grad_() for out in outputs]
    node = Error(tuple(None if leaf is None else accumulator(leaf) for leaf in leaves),
                 "trying to differentiate twice a function that was marked with @once_differentiable", len(outputs))
    made = []
    for nr, leaf in enumerate(leaves):
        if leaf is not None:
            leaf = leaf.detach()
            leaf._edge, leaf._requires_grad = (node, nr), True
        made.append(leaf)
    return tuple(made) if several else made[0]
