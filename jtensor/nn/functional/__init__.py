"""``nn.functional``: layers as functions.

Plain functions over operators: each checks its arguments, warns of what is deprecated, and calls an operator or composes
several. What has a backward name of its own in PyTorch is an operator (``ops``); nothing here knows how one is computed.
"""
import math as math
import warnings as warnings

import jtensor as torch

from ...base.naming import found_at as _found_at
from ...tensor.calling.guards import guarded as _guarded
from ...tensor.core import Tensor as Tensor
from .. import _reduction as _Reduction  # noqa: F401  PyTorch has the room by this name, too
from .. import grad as grad
from . import activation as _activation
from . import attention as _attention
from . import behind as _behind
from . import conv as _conv
from . import cross_entropy as _cross_entropy
from . import ctc as _ctc
from . import distance as _distance
from . import dropout as _dropout
from . import grouped as _grouped
from . import linear as _linear
from . import loss as _loss
from . import normalization as _normalization
from . import padding as _padding
from . import pooling as _pooling
from . import ranking as _ranking
from . import scaled as _scaled
from . import sparse as _sparse
from . import vision as _vision
from .activation import _get_softmax_dim as _get_softmax_dim
from .attention import _canonical_mask as _canonical_mask
from .attention import _in_projection as _in_projection
from .attention import _in_projection_packed as _in_projection_packed
from .attention import _mha_shape_check as _mha_shape_check
from .attention import _none_or_dtype as _none_or_dtype
from .vision import GRID_SAMPLE_INTERPOLATION_MODES as GRID_SAMPLE_INTERPOLATION_MODES
from .vision import GRID_SAMPLE_PADDING_MODES as GRID_SAMPLE_PADDING_MODES

__all__ = []
# Those whose arguments PyTorch itself binds, and not Python.
_BOUND = frozenset("""
    adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    cosine_similarity linear logsigmoid native_channel_shuffle one_hot pairwise_distance scaled_dot_product_attention""".split())
# Some rooms are called like a function of theirs (dropout, linear), so the functions are put in place last.
for _room in (_activation, _attention, _conv, _cross_entropy, _ctc, _distance, _dropout, _grouped, _linear, _loss, _normalization,
              _padding, _pooling, _ranking, _scaled, _sparse, _vision):
    for _name in _room.__all__:
        _inner = _behind.BEHIND.get(_name)
        if _name + "_with_indices" in _room.__all__:         # what PyTorch chooses it by binds the rest
            getattr(_room, _name).__qualname__ = "_" + _name
        globals()[_name] = getattr(_room, _name) if _name not in _BOUND and _inner is None else _guarded(
            getattr(_room, _name), _name, behind=_inner)
        if not getattr(globals()[_name], "__qualname__", "_").startswith("_"):
            _found_at(__name__, _name, globals()[_name])
        __all__.append(_name)
for _name in ("bilinear", "celu_", "channel_shuffle", "hardshrink", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_",
              "selu_", "threshold_"):                        # operators, which are the same function in both places
    globals()[_name] = getattr(torch, _name)
    __all__.append(_name)
_OVERRIDES = ("handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
_OF_JIT = ("BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "boolean_dispatch")
# PyTorch lists nothing: `import *` gives these, too.
__all__ += ["GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "Tensor", "grad", "math", "torch", "warnings", *_OVERRIDES,
            *_OF_JIT]
__all__.sort()
del _room, _name, _inner


def __getattr__(name):
    if name in _OVERRIDES:
        return getattr(torch.overrides, name)
    if name in _OF_JIT:
        return getattr(torch._jit_internal, name)
    raise AttributeError(f"module 'jtensor.nn.functional' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_OVERRIDES, *_OF_JIT})
