"""Which operator a function of Python's is in TorchScript, by the object itself.

Owns: that table. May not know: calls.
"""
import functools
import math

import jtensor

from . import forms

_SPACES = (("", ""), ("linalg", "linalg_"), ("fft", "fft_"), ("special", "special_"), ("nn.functional", ""), ("_C._nn", ""))
MATH = {name: name for name in """ceil copysign erf erfc exp expm1 fabs floor gamma lgamma log log10 log1p pow sqrt isnan isinf asinh
        atanh cosh sinh tanh acos asin atan atan2 cos sin tan asin acosh fmod modf factorial frexp isfinite degrees radians ldexp
        gcd""".split()} | {"remainder": "mathremainder"}


@functools.cache
def _table():
    found = {}
    for room, prefix in _SPACES[::-1]:
        space = jtensor
        for part in filter(None, room.split(".")):
            space = getattr(space, part, None)
        for operator in forms.every() if space is not None else ():
            name = operator.removeprefix("aten::" + prefix)
            made = getattr(space, name, None) if operator.startswith("aten::" + prefix) and name.isidentifier() else None
            if callable(made) and not isinstance(made, type):
                found[id(made)] = operator
    found[id(jtensor.nn.functional.logsigmoid)] = "aten::log_sigmoid"
    for name, operator in MATH.items():
        if hasattr(math, name) and forms.of("aten::" + operator):
            found[id(getattr(math, name))] = "aten::" + operator
    return found


IN_PYTHON = frozenset(f"aten::{name}" for name in """tensordot stft istft backward affine_grid ctc_loss
    embedding_bag fold unfold fractional_max_pool2d fractional_max_pool3d grid_sample gaussian_nll_loss gumbel_softmax local_response_norm
    lp_pool1d lp_pool2d lp_pool3d max_unpool1d max_unpool2d max_unpool3d multilabel_soft_margin_loss upsample chain_matmul lu lstsq
    cartesian_prod block_diag atleast_1d atleast_2d atleast_3d cosine_embedding_loss hinge_embedding_loss margin_ranking_loss
    multi_margin_loss multilabel_margin_loss poisson_nll_loss soft_margin_loss triplet_margin_loss""".split())
"""What PyTorch has a program in Python for, whose arguments are not those of the operator."""


def operator_of(function):
    """The operator that a function is; None if it is none."""
    return _table().get(id(function))
