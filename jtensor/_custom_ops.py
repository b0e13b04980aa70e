"""`torch._custom_ops`: the older place of what `torch.library` has now."""
from .library import custom_op, get_ctx, impl_abstract, infer_schema

__all__ = ["custom_op", "get_ctx", "impl_abstract", "infer_schema"]
