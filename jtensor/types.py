"""`torch.types`: names for annotations."""
import builtins
import os
from collections.abc import Sequence

from .base import devices, dtypes, size
from .tensor.core import Tensor
from .tensor.memory.storage_types import UntypedStorage
from .tensor.memory.typed_storages import TypedStorage

_TensorOrTensors = Tensor | Sequence[Tensor]
_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device = dtypes.dtype, devices.device
_size = size.Size | list[int] | tuple[int, ...]
Number = int | float | bool
FileLike = str | os.PathLike
Device = devices.device | str | int | None
Storage = TypedStorage | UntypedStorage
Size = size.Size

__all__ = ["Device", "FileLike", "Number", "Size", "Storage"]
