"""The names of ``torch._tensor`` that programs and PyTorch's pickles use."""
from .serialization.rebuilding import rebuild_from_type as _rebuild_from_type_v2  # noqa: F401
from .tensor.core import Tensor  # noqa: F401
