"""Functions of masked tensors that are not the same above autograd as below it: reductions, `where`, other layouts.

Owns: these, and the table {public function: what answers it}. May not know: who asks.
"""
from functools import partial

import jtensor

from . import reductions
from .core import MaskedTensor, is_masked_tensor


def checked(args, kwargs, prefix, count, named=None):
    """PyTorch's errors for a call with other than ``count`` arguments (``named`` of them by name)."""
    if len(args) != count:
        raise ValueError(f"{prefix}: len(args) must be {count} but got {len(args)}")
    if named is not None and len(kwargs) != named:
        raise ValueError(f"{prefix}: len(kwargs) must be {named} but got {len(kwargs)}")


def _masked(given, name):
    if not is_masked_tensor(given):
        raise ValueError(f"{name} forward: input must be a MaskedTensor.")


class _MaskedContiguous(jtensor.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        _masked(x, "MaskedContiguous")
        return x if x.is_contiguous() else MaskedTensor(x._masked_data.contiguous(), x._masked_mask.contiguous())

    @staticmethod
    def backward(ctx, grad):
        return grad


class _MaskedToDense(jtensor.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        _masked(x, "MaskedToDense")
        if x.layout == jtensor.strided:
            return x
        ctx.layout = x.layout
        return MaskedTensor(x._masked_data.to_dense(), x._masked_mask.to_dense())

    @staticmethod
    def backward(ctx, grad):
        return grad.to_sparse() if ctx.layout == jtensor.sparse_coo else grad.to_sparse_csr()


class _MaskedToSparse(jtensor.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        _masked(x, "MaskedToSparse")
        if x.layout == jtensor.sparse_coo:
            return x
        if x.layout == jtensor.sparse_csr:
            raise RuntimeError("sparse_mask_sparse_compressed expects mask to have sparse compressed layout, got Sparse")
        mask = x._masked_mask.to_sparse_coo().coalesce()
        return MaskedTensor(x._masked_data.sparse_mask(mask), mask)

    @staticmethod
    def backward(ctx, grad):
        return grad.to_dense()


class _MaskedToSparseCsr(jtensor.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        _masked(x, "MaskedToSparseCsr")
        if x._masked_data.ndim != 2:
            raise ValueError(f"Only 2D tensors can be converted to the SparseCsr layout but got shape: {x._masked_data.size()}")
        if x.layout == jtensor.sparse_csr:
            return x
        mask, data = x._masked_mask.to_sparse_csr(), x._masked_data
        return MaskedTensor(data.sparse_mask(mask) if data.layout == jtensor.strided else data.to_sparse_csr(), mask)

    @staticmethod
    def backward(ctx, grad):
        return grad.to_dense()


class _MaskedWhere(jtensor.autograd.Function):
    @staticmethod
    def forward(ctx, condition, x, other):
        ctx.mark_non_differentiable(condition)
        ctx.save_for_backward(condition)
        return jtensor.ops.aten.where(condition, x, other)

    @staticmethod
    def backward(ctx, grad):
        condition, = ctx.saved_tensors
        where = jtensor.ops.aten.where
        nothing = MaskedTensor(grad.get_data(), jtensor.zeros_like(grad.get_mask()).bool())
        return None, where(condition, grad, nothing), where(condition, nothing, grad)


def _where(*args, **kwargs):
    checked(args, kwargs, "__torch_function__, torch.where", 3, 0)
    return _MaskedWhere.apply(*args)


def _of_first(function):
    return lambda *args, **kwargs: function.apply(args[0])


Tensor = jtensor.Tensor
TABLE = {getattr(home, name): partial(reductions.function, name) for name in reductions.NAMES for home in (jtensor, Tensor)} | {
    Tensor.where: _where, jtensor.where: _where, Tensor.contiguous: _of_first(_MaskedContiguous),
    Tensor.to_dense: _of_first(_MaskedToDense), Tensor.to_sparse: _of_first(_MaskedToSparse),
    Tensor.to_sparse_csr: _of_first(_MaskedToSparseCsr)}
