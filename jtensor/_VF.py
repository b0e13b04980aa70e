"""`torch._VF`: the functions of the namespace by the name under which PyTorch's own layers call them. Owns: nothing."""
import inspect as _inspect

import jtensor as _jtensor


def __getattr__(name):
    found = getattr(_jtensor, name, None)
    if name.startswith("__") or not callable(found) or _inspect.isclass(found):
        raise AttributeError(f"'torch._C._VariableFunctionsClass' object has no attribute '{name}'")
    return found
