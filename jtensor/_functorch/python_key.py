"""``torch._functorch.python_key``: the older place of `make_fx`."""
from ..fx.experimental.proxy_tensor import make_fx

__all__ = ["make_fx"]
