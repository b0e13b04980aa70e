"""The Tensor: a storage, a geometry over it, and autograd's fields. A thin facade; its methods are installed from the registry.

Owns: identity, metadata, `.data`, `requires_grad`, `detach`. What operators do to tensors is in `dispatch`, the histories of views in
`views`; `.grad`, hooks, indexing, conversion and printing have rooms of their own.
"""

from ..autograd.graph import accumulator
from ..base.below import Layer
from ..storage import VersionCounter
from ..storage.lifted import LIFTED_MEMORY
from ..trace.lifted import transforming
from ..trace.tape import LOCAL

INSIDE_TRANSFORM = ("You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a "
                    "function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
                    "transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being transformed "
                    "instead.")
LAYOUTS = {}            # {class of sparse tensors: its `jtensor.sparse.answering.Layout`}, empty until there is one
NOT_LEAF_FLAG = ("you can only change requires_grad flags of leaf variables.")
ONLY_FLOATS = "only Tensors of floating point dtype can require gradients"


class View:
    """What a view knows of its origin: the base tensor, how it came to be, and the version its history was made at.

    ``creation``: "default", "no_grad", "inference", "multi" (one of several outputs) or "custom" (of a custom Function).
    ``differentiable`` is
    False for `detach()`, whose result shares memory but no history. ``replay(base)`` makes the view anew where it is no mere geometry of
    the base (conjugates, complex numbers as real ones), else None.
    """

    __slots__ = ("base", "creation", "version", "differentiable", "replay")

    def __init__(self, base, creation, version, differentiable, replay=None):
        self.base, self.creation, self.version, self.differentiable, self.replay = base, creation, version, differentiable, replay


class Auto:
    """Autograd's rarer fields: the gradient and its type (`gradient`), hooks, what `retain_grad` asked for, the accumulator of a leaf.

    ``reshaped``: whether `.data` has been set to a tensor of another shape.
    """

    __slots__ = ("grad", "grad_type", "hooks", "post_hooks", "retains", "accumulator", "inference", "reshaped", "__weakref__")

    def __init__(self):
        self.grad = self.grad_type = self.hooks = self.post_hooks = self.accumulator = None
        self.retains = self.inference = self.reshaped = False


class TensorMeta(type):
    """`torch._C._TensorMeta` by name: PyTorch's metaclass of tensors, which needs none here. (One would slow `isinstance` down.)"""

    __module__ = "torch"


class Tensor:
    """An array with PyTorch's semantics. Made by `torch.tensor` and friends, or by operators.

    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = (
        "_storage",
        "_spec",
        "_offset",
        "_cached",
        "_counter",
        "_requires_grad",
        "_edge",
        "_info",
        "_auto",
        "__dict__",
        "__weakref__",
    )
    __module__ = "torch"
    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __new__(cls, *args, **kwargs):
        if cls is Tensor or not hasattr(cls, "_from_legacy"):
            from .creating.likes import legacy_constructor
            return legacy_constructor(cls, args, kwargs)
        return object.__new__(cls)

    def __init__(self, *args, **kwargs):
        pass

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        from .calling import overriding
        own = vars(cls)
        if "__torch_dispatch__" in own and "__torch_function__" not in own and getattr(
                cls.__torch_function__, "__func__", None) is Tensor.__torch_function__.__func__:
            cls.__torch_function__ = overriding.disabled          # asked below, as in PyTorch, and not above
        if cls.__torch_function__ is not overriding.disabled:
            overriding.install()

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """What a public function asks a subclass that one of its arguments is of: here, its results as ones of the subclass.

        ``func``: the function, method or property's ``__get__``; ``types``: the classes that are asked; ``args``, ``kwargs``: the call's.
        A subclass that overrides it answers in place of ``func``, with NotImplemented if it cannot.

        >>> class Loud(torch.Tensor):
        ...     @classmethod
        ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return super().__torch_function__(func, types, args, kwargs)
        >>> total = torch.ones(2).as_subclass(Loud).sum()
        sum
        >>> type(total).__name__
        'Loud'
        """
        from .calling.overriding import default
        return default(cls, func, types, args, kwargs)

    @staticmethod
    def _make_subclass(cls, data, require_grad=False, **options):
        """A leaf of a subclass on the memory of ``data``, without its history."""
        from .creating.likes import make_subclass
        return make_subclass(cls, data, require_grad, **options)

    @staticmethod
    def _make_wrapper_subclass(cls, size, *more, **options):
        """A tensor without memory of its own, all of whose operations the class's ``__torch_dispatch__`` does."""
        Layer.wanted()
        return Layer.wrapper(cls, size, *more, **options)

    # -- metadata -----------------------------------------------------------------------------------------------------

    @property
    def shape(self):
        return self._spec.size

    @property
    def dtype(self):
        return self._spec.dtype

    @property
    def device(self):
        return self._spec.device

    @property
    def ndim(self):
        return self._spec.ndim

    @property
    def itemsize(self):
        return self._spec.dtype.itemsize

    @property
    def nbytes(self):
        return self._spec.numel * self._spec.dtype.itemsize

    @property
    def is_cuda(self):
        return self._spec.device.type == "cuda"

    @property
    def is_cpu(self):
        return self._spec.device.type == "cpu"

    @property
    def is_meta(self):
        return self._spec.device.type == "meta"

    is_sparse, is_quantized, is_mkldnn, is_nested, is_sparse_csr, is_xpu, is_mps, is_vulkan, is_xla, is_ipu, is_maia, is_mtia = [
        property(lambda self: False) for _ in range(12)]
    _cdata = property(lambda self: id(self))                    # by which libraries tell tensors apart

    @property
    def _version(self):
        if self._inference_tensor() is True:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._counter.version

    @property
    def _backward_hooks(self):
        """The hooks of this tensor by their handles' numbers, or None."""
        if self._edge is None:
            return None if self._auto is None else self._auto.hooks
        hooks = self._edge[0].tensor_hooks
        return None if hooks is None else hooks.get(self._edge[1])

    @_backward_hooks.setter
    def _backward_hooks(self, hooks):
        from .hooks import set_hooks
        set_hooks(self, hooks)

    @_backward_hooks.deleter
    def _backward_hooks(self):
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def _base(self):
        return self._info.base if self._info is not None and self._info.base is not None else None

    def _is_view(self):
        return self._info is not None and self._info.base is not None

    def _inference_tensor(self):
        return self._auto is not None and self._auto.inference

    # -- gradient bookkeeping -----------------------------------------------------------------------------------------

    def _autograd_meta(self):
        if self._auto is None:
            self._auto = Auto()
        return self._auto

    def _refresh(self):
        """A view whose base (or a sibling) was written to since gets its history anew from the base's."""
        info = self._info
        if info.differentiable and (info.base.requires_grad or self._edge is not None):
            if info.creation != "default":
                from ..autograd.gradmode_checks import view_may_be_rebased
                view_may_be_rebased(self, info, indirect=True)
            from .viewing.views import history_of_view
            history_of_view(self, info)

    @property
    def requires_grad(self):
        info = self._info
        return self._requires_grad or (info is not None and info.differentiable and info.base.requires_grad)

    @requires_grad.setter
    def requires_grad(self, wanted):
        if not isinstance(wanted, bool):
            raise RuntimeError("requires_grad must be a bool")
        if wanted and self._edge is not None:
            raise RuntimeError(NOT_LEAF_FLAG)
        if wanted and not self._spec.dtype.differentiable:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._require(wanted)

    @requires_grad.deleter
    def requires_grad(self):
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad=True):
        """Sets whether gradients are recorded for this leaf tensor, and answers it.

        >>> torch.zeros(2).requires_grad_()
        tensor([0., 0.], requires_grad=True)
        """
        if requires_grad is not True and requires_grad is not False:
            raise TypeError(f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {type(requires_grad).__name__}")
        if (LOCAL.levels or LOCAL.differentiated) and transforming():
            raise RuntimeError(INSIDE_TRANSFORM)
        return self._require(requires_grad)

    def _require(self, wanted):
        """The same, inside of functions of functions, too: what is made there may be a leaf."""
        if wanted and self._edge is None and not self._spec.dtype.differentiable:
            raise RuntimeError(ONLY_FLOATS)
        if self._inference_tensor() and wanted and not LOCAL.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if self._edge is not None:
            if wanted:
                return self
            raise RuntimeError(NOT_LEAF_FLAG + " If you want to use a computed variable in a subgraph that doesn't require differentiation "
                               "use var_no_grad = var.detach().")
        self._requires_grad = wanted
        for level in LOCAL.differentiated:
            level.leaves.add(self)
        return self

    @property
    def grad_fn(self):
        """The node that made this tensor, or None for a leaf."""
        info = self._info
        if info is not None and info.version != self._counter.version:
            self._refresh()
        edge = self._edge
        return None if edge is None else edge[0].face

    @property
    def output_nr(self):
        return 0 if self._edge is None else self._edge[1]

    @property
    def is_leaf(self):
        return self._edge is None if self._info is None else self.grad_fn is None

    @property
    def retains_grad(self):
        return self._auto is not None and self._auto.retains

    # -- sharing ------------------------------------------------------------------------------------------------------

    def _share(self):
        """Another tensor on the same memory with a version counter of its own and no history."""
        other = make_tensor(self._storage, self._spec, offset=self._offset)
        other._cached = self._cached
        other._counter = VersionCounter()
        if self._inference_tensor():
            other._autograd_meta().inference = True if LOCAL.inference else COUNTED
        return other

    def detach(self):
        """A tensor on the same memory without history; the version counter is shared.

        >>> x = torch.ones(2, requires_grad=True)
        >>> x.detach().requires_grad
        False
        """
        if self._storage.host is LIFTED_MEMORY and (found := self._without_tangents()) is not None:
            return found
        return self._detached()

    def _detached(self):
        """`detach` for those who want what is differentiated forwards to go on."""
        other = self._share()
        if not self._inference_tensor() or LOCAL.inference:             # an inference tensor has no counter to share
            other._counter = self._counter
        return other

    def _without_tangents(self):
        from .lifted.duals import without_tangents
        return without_tangents(self)

    def detach_(self):
        """Forgets this tensor's history, in place."""
        if LOCAL.inference or self._inference_tensor():          # there, and of such tensors, PyTorch leaves autograd's fields alone
            return self
        if self._is_view() and self._info.differentiable:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
                "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
                "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
                "torch/optim/optimizer.py as the solution."
            )
        if (hooks := self._backward_hooks) is not None:
            self._autograd_meta().hooks = hooks                 # they stay with the tensor, and with the node, as in PyTorch
        self._edge, self._requires_grad = None, False
        if self._storage.host is LIFTED_MEMORY and (found := self._without_tangents()) is not None:
            self._storage, self._spec, self._offset, self._cached = found._storage, found._spec, 0, None
        return self

    @property
    def data(self):
        """A tensor on the same memory, without history and with a version counter of its own."""
        if self._storage.host is LIFTED_MEMORY and (found := self._without_tangents()) is not None:
            return found
        return self._share()

    @data.setter
    def data(self, other):
        from .copying import set_data
        set_data(self, other)

    @data.deleter
    def data(self):
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    # -- numbers ------------------------------------------------------------------------------------------------------

    def __len__(self):
        if self._spec.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._spec.size[0]

    def __iter__(self):
        if self._spec.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __dir__(self):
        return [name for name in object.__dir__(self) if name != "volatile"]           # to ask for it warns

    def __reduce_ex__(self, protocol):
        from .convert import reduce
        return reduce(self, protocol)

    def __copy__(self):
        from .copying import shallow
        return shallow(self)

    def __deepcopy__(self, memo):
        from .copying import deepcopy
        return deepcopy(self, memo)


_new = object.__new__
COUNTED = "counted"          # an inference tensor that was detached outside inference mode has a version counter, and may be written to


def make_tensor(storage, spec, offset=0, cls=Tensor, inference=False):
    """A tensor on a storage, without history."""
    self = _new(cls)
    self._storage, self._spec, self._offset, self._cached = storage, spec, offset, None
    self._counter, self._requires_grad, self._edge, self._info, self._auto = storage, False, None, None, None
    if inference:
        self._auto = Auto()
        self._auto.inference = True
    return self


__all__ = ["Auto", "Tensor", "View", "accumulator", "make_tensor"]
