"""Invertible functions with Jacobians, of which `TransformedDistribution` and the maps between constraints are made."""
import jtensor as _jtensor

from ...base.homes import settle as _settle
from ...tensor.core import Tensor as Tensor
from ..distribution import Distribution as Distribution
from ..utils import broadcast_all as broadcast_all
from ..utils import lazy_property as lazy_property
from ..utils import tril_matrix_to_vec as tril_matrix_to_vec
from ..utils import vec_to_tril_matrix as vec_to_tril_matrix
from .base import ComposeTransform, Transform, _InverseTransform, identity_transform
from .joining import CatTransform, IndependentTransform, ReshapeTransform, StackTransform
from .matrices import CorrCholeskyTransform, LowerCholeskyTransform, PositiveDefiniteTransform, SoftmaxTransform, StickBreakingTransform
from .pointwise import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    _clipped_sigmoid,  # noqa: F401 - PyTorch has it here, and others take it from here
)

__all__ = ["AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
           "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform",
           "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
           "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform"]

_settle(__name__, _InverseTransform, *[globals()[_name] for _name in __all__ if _name != "identity_transform"])


def __getattr__(name):
    if name in ("pad", "softplus"):                      # PyTorch's module imports them
        return getattr(_jtensor.nn.functional, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
