"""Sparse tensors that get another size in place.

Owns: these entries of the table. May not know: how elements move.
"""
from .answering import answers
from .keeping import nothing
from .patterns import Pattern
from .replacing import replace
from .tensors import is_sparse, sparse


@answers("resize_as_", "resize_as_sparse_")
def resize_as_(input, the_template, *, memory_format=None):
    if not is_sparse(input):
        return input.resize_(the_template.shape)
    return replace(input, sparse(input._pattern, input._elements, input._coalesced)) if input.shape == the_template.shape else \
        sparse_resize_(input, the_template.shape, the_template.sparse_dim(), the_template.dense_dim())


@answers("sparse_resize_")
def sparse_resize_(self, size, sparse_dim, dense_dim):
    """Another size with the same elements."""
    if sparse_dim + dense_dim != len(size):
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = {sparse_dim}, "
                           f"dense_dim = {dense_dim}")
    if self._nnz() and (sparse_dim, dense_dim) != (self._pattern.sparse_dim, self._elements.ndim - 1):
        what, old, new = ("sparse", self._pattern.sparse_dim, sparse_dim) if sparse_dim != self._pattern.sparse_dim else (
            "dense", self._elements.ndim - 1, dense_dim)
        raise RuntimeError(f"changing the number of {what} dimensions (from {old} to {new}) on a non-empty sparse tensor is not supported.")
    if not self._nnz():
        return replace(self, nothing(tuple(size), sparse_dim, self._elements))
    for what, part in (("sparse", slice(sparse_dim)), ("dense", slice(sparse_dim, None))):
        if any(n < m for n, m in zip(size[part], self.shape[part], strict=True)):
            raise RuntimeError(f"shrinking the size of {what} dimensions (from {list(self.shape[part])} to {list(size[part])}) on a "
                               "non-empty sparse tensor is not supported.")
    # The values' memory grows as it is; what is new means nothing in PyTorch, and is zero here.
    values = self._elements.new_zeros((self._nnz(), *size[sparse_dim:]))
    values.view(-1)[:self._elements.numel()] = self._elements.reshape(-1)
    return replace(self, sparse(Pattern(self._pattern.indices, size[:sparse_dim]), values, self._coalesced))


@answers("sparse_resize_and_clear_")
def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    return replace(self, nothing(tuple(size), sparse_dim, self._elements))
