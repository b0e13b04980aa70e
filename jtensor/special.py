"""`torch.special`: special functions by their public names.

Owns: names. The operators are in `jtensor.ops.families`.
"""
from .base.naming import found_at as _found_at
from .ops.registry import REGISTRY as _REGISTRY
from .tensor.calling.guards import guarded as _guarded
from .tensor.calling.guards import renamed as _renamed
from .tensor.core import Tensor as _Tensor
from .tensor.install import FUNCTIONS as _FUNCTIONS
from .tensor.install import derive as _derive

_SAME = ("digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "i0", "log1p", "logit", "logsumexp", "polygamma", "round", "sinc", "xlogy",
         "log_softmax", "softmax")
_RENAMED = {"expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", "gammainc": "igamma", "gammaincc": "igammac",
            "multigammaln": "mvlgamma"}

for _name in _SAME:
    globals()[_name] = _renamed(_FUNCTIONS[_name], "special_" + _name)
for _name, _torch_name in _RENAMED.items():
    globals()[_name] = _renamed(_FUNCTIONS[_torch_name], "special_" + _name)
for _key, _operator in _REGISTRY.operators.items():
    if _key.startswith("special_"):
        globals()[_key[8:]] = _derive(_operator, _key, "x" if _operator.parameters[0].name == "x" else "input")

xlog1py = _guarded(_REGISTRY.composites["special_xlog1py"].body, "special_xlog1py")

__all__ = sorted(name for name in globals() if not name.startswith("_"))
for _name in __all__:
    _found_at(__name__, _name, globals()[_name])
Tensor = _Tensor
