"""`torch.special`: special functions by their public names.

Owns: names. The operators are in `jtensor.ops.families`.
"""
from .ops.registry import REGISTRY
from .tensor.calling.guards import renamed
from .tensor.install import FUNCTIONS, derive

_SAME = ("digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "i0", "log1p", "logit", "logsumexp", "polygamma", "round", "sinc", "xlogy",
         "log_softmax", "softmax")
_RENAMED = {"expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", "gammainc": "igamma", "gammaincc": "igammac",
            "multigammaln": "mvlgamma"}

for _name in _SAME:
    globals()[_name] = renamed(FUNCTIONS[_name], "special_" + _name)
for _name, _torch_name in _RENAMED.items():
    globals()[_name] = renamed(FUNCTIONS[_torch_name], "special_" + _name)
for _key, _operator in REGISTRY.operators.items():
    if _key.startswith("special_"):
        globals()[_key[8:]] = derive(_operator, _key, "x" if _operator.parameters[0].name == "x" else "input")

__all__ = sorted(name for name in globals() if not name.startswith("_") and name not in ("REGISTRY", "FUNCTIONS", "derive", "renamed"))
