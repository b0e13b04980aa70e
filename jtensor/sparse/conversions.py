"""Which conversions between layouts there are: the size of the blocks and the dense dimensions that they may be asked for.

Owns: PyTorch's refusals, in its order. May not know: how a tensor is converted.
"""
from .compressed import KINDS, in_blocks, is_compressed

_NAMES = KINDS | {"strided": "Strided", "sparse_coo": "Sparse"}


def check(function, x, layout, blocksize, dense_dim):
    """``RuntimeError`` unless a tensor has a conversion to a layout.

    ``function``: the method that was called: the error's text begins with the name that its kernel has, which is that of the layouts.
    """
    layout_of_x = x.layout
    refusal = f"{_kernel(function, layout_of_x, layout)}: conversion from {_NAMES[layout_of_x.name]} to {_NAMES[layout.name]} "
    if layout_of_x.name == "sparse_coo" and layout.name != "sparse_coo" and x.sparse_dim() != 2:
        raise RuntimeError(refusal + "for input tensors with sparse_dim()!=2 is not supported")
    if blocksize is not None:
        _check_blocks(refusal, x, layout, (blocksize,) * 2 if isinstance(blocksize, int) else tuple(blocksize), dense_dim)
    elif in_blocks(layout):
        raise RuntimeError(refusal + "without blocksize argument given is not supported")
    if dense_dim is not None:
        if layout_of_x.name != "strided":
            raise RuntimeError(refusal + "with dense_dim argument given is not supported")
        most = x.ndim - 2 * (layout.name != "sparse_coo")
        if not 0 <= dense_dim <= most or layout.name == "sparse_coo" and dense_dim == x.ndim > 0:
            raise RuntimeError(refusal.partition(":")[0] + ": dense_dim argument must be " + (
                "!=self.dim() when self.dim()>0" if 0 <= dense_dim <= most else f"in [0,{most}] range, but {dense_dim} is given"))


def _kernel(function, layout_of_x, layout):
    if layout_of_x is layout:
        return function
    if layout_of_x.name == "strided":
        return "dense_" + function
    if layout_of_x.name == "sparse_coo":
        return ("sparse_coo_" if function == "to_sparse" else "coo_") + function
    return "sparse_compressed_" + function


def _check_blocks(refusal, x, layout, blocksize, dense_dim):
    kernel = refusal.partition(":")[0]
    if len(blocksize) != 2:
        raise RuntimeError(f"{kernel}: blocksize needs to be a tuple of size 2, but got {len(blocksize)}")
    if min(blocksize) <= 0:
        raise RuntimeError(f"{kernel}: blocksize needs to be positive, but got {list(blocksize)}")
    if not in_blocks(layout):
        raise RuntimeError(refusal + "with blocksize argument given is not supported")
    if is_compressed(x) and x.in_blocks:
        own = x.blocksize
        if own != blocksize:
            raise RuntimeError(refusal + f"with blocksize changed from {list(own)} to {list(blocksize)} is not supported")
        return
    tail = dense_dim or 0 if x.layout.name == "strided" else x.dense_dim()
    rows, columns = x.size(-tail - 2), x.size(-tail - 1)
    if rows % blocksize[0] or columns % blocksize[1]:
        raise RuntimeError(f"{kernel}: tensor sparse size ({rows},{columns}) must be divisible by given blocksize "
                           f"({blocksize[0]},{blocksize[1]})")
