"""Batch normalisation, its lazy forms, and the base that instance normalisation shares."""
import jtensor

from ...base.errors import missing
from .. import functional as F
from .. import init
from ..parameter import UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module
from .utils import add_parameter, settings

__all__ = ["BatchNorm1d", "LazyBatchNorm1d", "BatchNorm2d", "LazyBatchNorm2d", "BatchNorm3d", "LazyBatchNorm3d", "SyncBatchNorm"]


class _NormBase(Module):
    """Scale, shift and running statistics for each of ``num_features`` channels."""

    _version = 2  # since version 2 there is num_batches_tracked
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
                 bias=True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            add_parameter(self, name, wanted, num_features, device=device, dtype=dtype)
        if track_running_stats:
            self.register_buffer("running_mean", jtensor.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", jtensor.ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", jtensor.tensor(0, dtype=jtensor.long, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Mean 0, variance 1, no batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Scale 1, shift 0, and fresh statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        return (f"{self.num_features}, " + settings(self, "eps", "momentum", "affine")
                + f", bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            own = self.num_batches_tracked
            state_dict[key] = own if own is not None and not own.is_meta else jtensor.tensor(0, dtype=jtensor.long)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class _BatchNorm(_NormBase):
    """While training, the batch's own statistics, which also move the running ones; else the running ones."""

    def forward(self, input):
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        tracking = self.training and self.track_running_stats
        if tracking and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # a plain average over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        mean, var = self.running_mean, self.running_var
        use_batch = self.training or (mean is None and var is None)
        if self.training and not self.track_running_stats:
            mean = var = None
        return F.batch_norm(input, mean, var, self.weight, self.bias, use_batch, factor, self.eps)


def _expect_dims(input, *dims):
    if input.dim() not in dims:
        wanted = " or ".join(f"{d}D" for d in dims)
        raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of ``(N, C)`` or ``(N, C, L)`` over batch and length.

    >>> import jtensor as torch
    >>> torch.nn.BatchNorm1d(3)
    BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def _check_input_dim(self, input):
        _expect_dims(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of ``(N, C, H, W)`` over batch and pixels.

    >>> import jtensor as torch
    >>> torch.nn.BatchNorm2d(3)(torch.zeros(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    def _check_input_dim(self, input):
        _expect_dims(input, 4)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of ``(N, C, D, H, W)`` over batch and voxels."""

    def _check_input_dim(self, input):
        _expect_dims(input, 5)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Takes ``num_features`` from the first input."""

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        # Constructed without any tensor; the uninitialised ones are put in afterwards.
        super().__init__(0, eps, momentum, False, False, device=device, dtype=dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = jtensor.tensor(0, dtype=jtensor.long, device=device)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Takes the number of channels from an input."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        waiting = [self.weight, self.bias] if self.affine else []
        if self.track_running_stats:
            waiting += [self.running_mean, self.running_var]
        for tensor in waiting:
            if tensor is not None:
                tensor.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d that takes ``num_features`` from its first input.

    >>> import jtensor as torch
    >>> layer = torch.nn.LazyBatchNorm1d()
    >>> layer(torch.ones(4, 3)).shape, layer.num_features
    (torch.Size([4, 3]), 3)
    """

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d that takes ``num_features`` from its first input."""

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d that takes ``num_features`` from its first input."""

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation whose statistics span all processes of a group; with a single process, ordinary ones.

    While processes work together, inputs in training have to be on a GPU (``ValueError``), as in PyTorch, also in a group of one. Of those
    on a GPU, statistics across processes are not there (`MissingFeature`).
    """

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 device=None, dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")
        if self.training and self.track_running_stats and self.num_batches_tracked is None:
            raise AssertionError("num_batches_tracked must not be None")
        if self.training and jtensor.distributed.is_initialized():
            if self.track_running_stats and input.device.type != "cuda":
                self.num_batches_tracked.add_(1)                # PyTorch counts a batch before it refuses it
            if input.device.type != "cuda":
                raise ValueError("SyncBatchNorm expected input tensor to be on GPU or XPU or privateuseone")
            if jtensor.distributed.get_world_size(self.process_group) > 1:
                raise missing("SyncBatchNorm over more than one process", "BatchNorm, whose statistics are those of each process")
        return super().forward(input)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with every batch normalisation in it replaced by a SyncBatchNorm of the same tensors."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                            process_group, bias=module.bias is not None)
            if module.affine:
                converted.weight, converted.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(converted, name, getattr(module, name))
            converted.training = module.training
            if hasattr(module, "qconfig"):
                converted.qconfig = module.qconfig
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted
