"""Whether products of float32 may have TF32's precision on a GPU, which is quicker there: as PyTorch's switches say.

Owns: the two permissions, and their part of a program's name on disk. May not know: who sets them (`settings`, `backends`), what is
computed by them (`ops.families.numeric.precision`).

>>> ALLOWED
{'matmul': False, 'conv': True}
"""
ALLOWED = {"matmul": False, "conv": True}
"""Of matrices, and of pictures with kernels; as PyTorch begins."""


def text():
    """What distinguishes programs that were made under other permissions.

    >>> text()
    'tf32 conv'
    """
    return "tf32 " + " ".join(what for what, allowed in ALLOWED.items() if allowed)
