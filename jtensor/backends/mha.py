"""`torch.backends.mha`: whether attention in inference behaves as PyTorch's kernels for it do, which have other strides and padding."""

_enabled = [True]


def get_fastpath_enabled():
    """Whether they count: True unless told otherwise."""
    return _enabled[0]


def set_fastpath_enabled(value):
    """Sets whether they count.

    >>> torch.backends.mha.set_fastpath_enabled(False)
    >>> torch.nn.MultiheadAttention(2, 2, batch_first=True).eval().requires_grad_(False)(*[torch.ones(3, 4, 2)] * 3)[0].stride()
    (2, 6, 1)
    >>> torch.backends.mha.set_fastpath_enabled(True)
    """
    _enabled[0] = value
