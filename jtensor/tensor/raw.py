"""Every declared operator as a function, under the operator's own name, whether it is public or not: ``raw.nll_loss(...)``.

For rooms above the tensor layer (``nn.functional``) that check arguments and call an operator which the public namespace does not
show. A name ending in ``_`` is the in-place form. Made when first asked for.
"""
from ..ops.registry import REGISTRY
from .calling.guards import guarded
from .install import derive


def __getattr__(name):
    operator = REGISTRY.operators.get(name)
    if operator is not None:
        function = derive(operator, name)
    elif name.endswith("_") and (operator := REGISTRY.operators.get(name[:-1])) is not None and operator.inplace:
        function = derive(operator, name, inplace=True)
    elif name in REGISTRY.composites:
        function = REGISTRY.composites[name].body
        if name.startswith(("linalg_", "fft_")):              # public, under the shorter name
            function = guarded(function, name, asked_first=True)
    else:
        raise AttributeError(f"jtensor has no operator '{name}' as yet")
    globals()[name] = function
    return function
