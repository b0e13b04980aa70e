"""`MaskedTensor`: data, and a mask that says which elements are there.

It is a wrapper (`jtensor.dispatching`) that holds both as ordinary tensors: functions that are not the same above autograd as below it are
answered there (`answering`), all others as operators (`operators`). Owns: the class, its checks and what it says of itself. May not know:
what is done to one.
"""
import warnings

import jtensor

from ...tensor.calling import overriding
from ..filling import coo_where, csr_where
from .printing import shown

_PROTOTYPE = ("The PyTorch API of MaskedTensors is in prototype stage and will change in the near future. Please open a Github issue for "
              "features requests and see our documentation on the torch.masked module for further information about the project.")
_WITH_GRAD = ("It is not recommended to create a MaskedTensor with a tensor that requires_grad. To avoid this, you can use "
              "data.detach().clone()")
_UNKNOWN = ("If you would like this operator to be supported, please file an issue for a feature request at "
            "https://github.com/pytorch/maskedtensor/issues with a minimal reproducible code snippet.\nIn the case that the semantics for "
            "the operator are not trivial, it would be appreciated to also include a proposal for the semantics.")
_DTYPES = frozenset((jtensor.float16, jtensor.float32, jtensor.float64, jtensor.bool, jtensor.int8, jtensor.int16, jtensor.int32,
                     jtensor.int64))


def is_masked_tensor(obj, /):
    """Whether an object is a tensor that carries its mask.

    >>> torch.masked.is_masked_tensor(torch.ones(2))
    False
    """
    return isinstance(obj, MaskedTensor)


def not_there(name, where):
    """Warns of what masked tensors do not have."""
    warnings.warn(f"{name} is not implemented in {where}.\n{_UNKNOWN}", stacklevel=3)


def data_of(given):
    """The data of a masked tensor; anything else is its own."""
    return given._masked_data if is_masked_tensor(given) else given


def mask_of(given):
    """The mask of a masked tensor; None of anything else."""
    return given._masked_mask if is_masked_tensor(given) else None


def tensors_match(a, b):
    """Whether two tensors of one layout hold the same: sparse ones at the same places."""
    if is_masked_tensor(a) or is_masked_tensor(b):
        raise ValueError("Neither `a` nor `b` can be a MaskedTensor.")
    if a.layout != b.layout:
        raise ValueError(f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}")
    if a.dtype != b.dtype:
        b = b.type(a.dtype)
    if a.layout == jtensor.sparse_coo:
        return tensors_match(a.values(), b.values()) and tensors_match(a.indices(), b.indices())
    if a.layout == jtensor.sparse_csr:
        return tensors_match(a.crow_indices(), b.crow_indices()) and tensors_match(a.col_indices(), b.col_indices()) and tensors_match(
            a.values(), b.values())
    return a.dim() == b.dim() and jtensor.eq(a, b).all().item()


def masks_match(a, b):
    """Whether the masks of two masked tensors are the same; what is none fits any."""
    return not (is_masked_tensor(a) and is_masked_tensor(b)) or tensors_match(a._masked_mask, b._masked_mask)


def mapped(args, kwargs, part):
    """(arguments, keywords) with ``part(x)`` in the place of each masked tensor x, in lists too."""
    def one(given):
        if is_masked_tensor(given):
            return part(given)
        return type(given)(map(one, given)) if type(given) in (list, tuple) else given
    return [one(given) for given in args], {name: one(given) for name, given in (kwargs or {}).items()}


def wrapped(data, mask):
    """Results with their masks: tensors, or lists of them."""
    if isinstance(data, (list, tuple)):
        return type(data)([wrapped(*pair) for pair in zip(data, mask, strict=False)])
    return MaskedTensor(data, mask) if jtensor.is_tensor(data) else NotImplemented


class Constructor(jtensor.autograd.Function):
    """Data with a history as a masked tensor."""

    @staticmethod
    def forward(ctx, data, mask):
        return MaskedTensor(data, mask)

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class GetData(jtensor.autograd.Function):
    """The data of a masked tensor with its history."""

    @staticmethod
    def forward(ctx, masked):
        ctx.mask = masked._masked_mask
        return masked._masked_data.detach()

    @staticmethod
    def backward(ctx, grad):
        return grad if is_masked_tensor(grad) else MaskedTensor(grad, ctx.mask)


class MaskedTensor(jtensor.Tensor):
    """Data with a mask of the same shape and layout: where the mask is False, the element is not there.

    ``data``: strided, COO or CSR, of 16 to 64 bit floats, signed integers or bools; ``mask``: of bools. Both are copied. ``TypeError`` and
    ``ValueError`` for others.

    >>> warnings.simplefilter("ignore")                             # a prototype, as PyTorch says each time
    >>> x = torch.masked.MaskedTensor(torch.tensor([1., 2., 3.]), torch.tensor([True, False, True]))
    >>> x * 2
    MaskedTensor(
      [  2.0000,       --,   6.0000]
    )
    >>> x.sum()
    MaskedTensor(  4.0000, True)
    """

    @staticmethod
    def __new__(cls, data, mask, requires_grad=False):
        for name, given in (("data", data), ("mask", mask)):
            if is_masked_tensor(given) or not jtensor.is_tensor(given):
                raise TypeError(f"{name} must be a Tensor")
        warnings.warn(_PROTOTYPE, UserWarning, stacklevel=2)
        if data.requires_grad:
            warnings.warn(_WITH_GRAD, UserWarning, stacklevel=2)
        return jtensor.Tensor._make_wrapper_subclass(cls, data.size(), dtype=data.dtype, device=data.device, requires_grad=requires_grad)

    def __init__(self, data, mask, requires_grad=False):
        if data.layout != mask.layout:
            raise TypeError("data and mask must have the same layout.")
        if data.layout == jtensor.sparse_coo:
            data, mask = data.coalesce(), mask.coalesce()
            if data._nnz() != mask._nnz():
                data = coo_where(mask, data, jtensor.tensor(0))
        elif data.layout == jtensor.sparse_csr and data._nnz() != mask._nnz():
            data = csr_where(mask, data, jtensor.tensor(0))
        self._set_data_mask(data.clone(), mask.clone())

    def _set_data_mask(self, data, mask):
        self._masked_data, self._masked_mask = data, mask
        self._validate_members()

    def _validate_members(self):
        data, mask = self._masked_data, self._masked_mask
        if type(data) is not type(mask):
            raise TypeError(f"data and mask must have the same type. Got {type(data)} and {type(mask)}")
        if data.layout not in (jtensor.strided, jtensor.sparse_coo, jtensor.sparse_csr):
            raise TypeError(f"data layout of {data.layout} is not supported.")
        if data.layout == jtensor.sparse_coo and not tensors_match(data.indices(), mask.indices()):
            raise ValueError("data and mask are both sparse COO tensors but do not have the same indices.")
        if data.layout == jtensor.sparse_csr and not (tensors_match(data.crow_indices(), mask.crow_indices()) and tensors_match(
                data.col_indices(), mask.col_indices())):
            raise ValueError("data and mask are both sparse CSR tensors but do not share either crow or col indices.")
        if mask.dtype != jtensor.bool:
            raise TypeError("mask must have dtype bool.")
        if data.dtype not in _DTYPES:
            raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
        if data.dim() != mask.dim():
            raise ValueError("data.dim() must equal mask.dim()")
        if data.size() != mask.size():
            raise ValueError("data.size() must equal mask.size()")

    @staticmethod
    def _from_values(data, mask):
        return Constructor.apply(data, mask)

    # -- who is asked -------------------------------------------------------------------------------------------------

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        from .answering import TABLE
        answer = TABLE.get(func)
        return overriding.default(cls, func, types, args, kwargs) if answer is None else answer(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        from .operators import TABLE
        name = func.overloadpacket.__name__
        answer = TABLE.get(name)
        if answer is None:
            not_there(name, "__torch_dispatch__ for MaskedTensor")
            return NotImplemented
        return answer(func.overloadpacket, *args, **(kwargs or {}))

    @classmethod
    def unary(cls, fn, data, mask):
        """``fn(data)`` with the mask."""
        return MaskedTensor(fn(data), mask)

    # -- what it says of itself ---------------------------------------------------------------------------------------

    def __repr__(self):
        return shown(self._masked_data.detach(), self._masked_mask)

    def __lt__(self, other):
        return MaskedTensor(self.get_data() < data_of(other), self.get_mask())

    def to_tensor(self, value):
        """The data as an ordinary tensor with ``value`` where there is no element."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    def get_data(self):
        """The data, where the mask is False too, as an ordinary tensor; its gradient gets the mask."""
        return GetData.apply(self)

    def get_mask(self):
        """The mask."""
        return self._masked_mask

    @property
    def layout(self):
        """The layout of the data."""
        return self._masked_data.layout

    def is_contiguous(self, *, memory_format=jtensor.contiguous_format):
        """Whether the elements of the data lie in memory in their logical order; ``ValueError`` of a sparse one."""
        if self._masked_data.is_sparse:
            raise ValueError("MaskedTensors with sparse data do not have is_contiguous")
        return self._masked_data.is_contiguous(memory_format=memory_format)

    def is_sparse_coo(self):
        """Whether the data is in the layout COO."""
        return self.layout == jtensor.sparse_coo

    def is_sparse_csr(self):
        """Whether the data is in the layout CSR."""
        return self.layout == jtensor.sparse_csr

    @property
    def is_sparse(self):
        """Whether the data is in either of these."""
        return self.is_sparse_coo() or self.is_sparse_csr()
