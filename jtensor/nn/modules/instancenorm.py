"""Instance normalisation: every channel of every sample by itself."""
import warnings

from .. import functional as F
from .batchnorm import _expect_dims, _LazyNormBase, _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d"]


class _InstanceNorm(_NormBase):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None, *,
                 bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype, bias=bias)

    def _get_no_batch_dim(self):
        """The number of dimensions of an input without a batch."""
        raise NotImplementedError

    def _check_input_dim(self, input):
        unbatched = self._get_no_batch_dim()
        _expect_dims(input, unbatched, unbatched + 1)

    def _apply_instance_norm(self, input):
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               self.momentum if self.momentum is not None else 0.0, self.eps)

    def forward(self, input):
        self._check_input_dim(input)
        unbatched = self._get_no_batch_dim()
        channels = input.dim() - unbatched
        if input.size(channels) != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={channels} to match num_features ({self.num_features}), but got: "
                                 f"{input.size(channels)}.")
            warnings.warn(f"input's size at dim={channels} does not match num_features. You can silence this warning by not "
                          "passing in num_features, which is not used because affine=False", stacklevel=2)
        if input.dim() == unbatched:
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            # Before version 0.4 running statistics were always there.
            found = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if found:
                names, kind = " and ".join(f'"{key}"' for key in found), type(self).__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False. If state_dict is a "
                    f"checkpoint saved before 0.4.0, this may be expected because {kind} does not track running stats by default "
                    "since 0.4.0. Please remove these keys from state_dict. If the running stats are actually needed, instead "
                    f"set track_running_stats=True in {kind} to enable them. See the documentation of {kind} for details.")
            for key in found:
                state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of ``(N, C, L)`` or ``(C, L)`` over its length.

    >>> import jtensor as torch
    >>> torch.nn.InstanceNorm1d(3)
    InstanceNorm1d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)
    """

    def _get_no_batch_dim(self):
        return 2


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each sample of ``(N, C, H, W)`` or ``(C, H, W)`` over its pixels.

    >>> import jtensor as torch
    >>> torch.nn.InstanceNorm2d(3)(torch.zeros(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    def _get_no_batch_dim(self):
        return 3


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each sample of ``(N, C, D, H, W)`` or ``(C, D, H, W)`` over its voxels."""

    def _get_no_batch_dim(self):
        return 4


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm1d that takes ``num_features`` from its first input."""

    cls_to_become = InstanceNorm1d
    _get_no_batch_dim = InstanceNorm1d._get_no_batch_dim


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm2d that takes ``num_features`` from its first input.

    >>> import jtensor as torch
    >>> layer = torch.nn.LazyInstanceNorm2d()
    >>> layer(torch.ones(1, 3, 4, 4)).shape, layer.num_features
    (torch.Size([1, 3, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm2d
    _get_no_batch_dim = InstanceNorm2d._get_no_batch_dim


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm3d that takes ``num_features`` from its first input."""

    cls_to_become = InstanceNorm3d
    _get_no_batch_dim = InstanceNorm3d._get_no_batch_dim
