"""Invertible functions with Jacobians, of which `TransformedDistribution` and the maps between constraints are made."""
from ...base.homes import settle as _settle
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
