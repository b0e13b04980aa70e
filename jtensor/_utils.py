"""The names of ``torch._utils`` by which PyTorch's pickles put tensors together again."""
from .serialization.reading import rebuild_parameter as _rebuild_parameter  # noqa: F401
from .serialization.reading import rebuild_parameter as _rebuild_parameter_with_state  # noqa: F401
from .serialization.reading import rebuild_sparse as _rebuild_sparse_tensor  # noqa: F401
from .serialization.reading import rebuild_tensor as _rebuild_tensor_v2  # noqa: F401
