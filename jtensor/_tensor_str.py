"""The printed text of a tensor's numbers, where libraries for PyTorch take it. Owns: these names."""
from .tensor.formatting import OPTIONS as PRINT_OPTS
from .tensor.formatting import array_text as _array_text
from .tensor.formatting import get_printoptions, printoptions, set_printoptions


def _tensor_str(self, indent):
    """The numbers alone, in brackets; lines after the first are indented by ``indent`` and one for each open bracket."""
    return "..." if self.is_meta else _array_text(self._host(), indent)


__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]
