"""Complex sparse tensors: their conjugates and their parts.

Owns: these entries of the table. A sparse tensor has no conjugate bit: its conjugate is computed, as PyTorch's is. May not know:
arithmetic.
"""
import jtensor

from .answering import answers
from .graph import recorded
from .replacing import given
from .tensors import sparse


@answers("conj_physical")
def conj_physical(input, *, out=None):
    return given(out, conj(input))


@answers("conj_physical_")
def conj_physical_(input):
    if input.is_complex():
        raise RuntimeError("unsupported tensor layout: Sparse")
    return input


@answers("view_as_complex")
def view_as_complex(input):
    """The numbers of which a last, dense dimension has the two parts, on the same memory."""
    if input.shape[-1] != 2 or not input.dense_dim():
        raise RuntimeError("view_as_complex_sparse is only supported for sparse tensors with the last dim == 2 and dense_dim > 0.")
    made = sparse(input._pattern, jtensor.view_as_complex(input._elements), input._coalesced)
    return recorded("ViewAsComplexBackward0", made, [input], lambda g: (jtensor.view_as_real(g),))


@answers("conj")
def conj(input):
    """The conjugate; a real tensor itself."""
    if not input.is_complex():
        return input
    made = sparse(input._pattern, input._elements.conj_physical(), input._coalesced)
    return recorded("ConjPhysicalBackward0", made, [input], lambda g: (g.conj_physical(),))


@answers("resolve_conj", "resolve_neg", "positive")
def positive(input):
    return input


@answers("real")
def real(self):
    """The real parts, on the same memory; a real tensor itself."""
    if not self.is_complex():
        return self
    made = sparse(self._pattern, self._elements.real, self._coalesced)
    return recorded("SelectBackward0", made, [self], lambda g: (g.to(self.dtype),))


@answers("imag")
def imag(self):
    """The imaginary parts, on the same memory."""
    if not self.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    made = sparse(self._pattern, self._elements.imag, self._coalesced)
    return recorded("SelectBackward0", made, [self], lambda g: (g * 1j,))


@answers("view_as_real")
def view_as_real(input):
    """The two parts of each number in a last, dense dimension, on the same memory."""
    made = sparse(input._pattern, jtensor.view_as_real(input._elements), input._coalesced)
    return recorded("ViewAsRealBackward0", made, [input], lambda g: (jtensor.view_as_complex(g.to_dense()),))
