"""`torch.library`: operators that users define, of Python functions (`custom_op`) or by schema (`Library`), and their check (`opcheck`)."""
from .checking import opcheck as opcheck
from .custom import (
    CustomOpDef,
    custom_op,
    get_ctx,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
    triton_op,
    wrap_triton,
)
from .inferring import infer_schema
from .libraries import Library, define, fallthrough_kernel, get_kernel, impl

__all__ = ["CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "get_kernel", "impl", "impl_abstract",
           "infer_schema", "register_autocast", "register_autograd", "register_fake", "register_kernel",
           "register_torch_dispatch", "register_vmap", "triton_op", "wrap_triton"]
