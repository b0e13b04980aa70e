"""`torch._inductor.config`: settings that programs change before they compile. They are kept, and nothing here reads them."""
from types import SimpleNamespace as _Space

coordinate_descent_tuning = epilogue_fusion = fx_graph_cache = max_autotune = False
triton = _Space(cudagraphs=False, unique_kernel_names=False)
