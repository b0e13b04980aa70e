"""`torch.functional`: functions of the namespace under an older name of their room. Owns: the list of these names."""
import jtensor as _jtensor

_NAMES = """atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist chain_matmul einsum istft lu
    meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive unravel_index""".split()
__all__ = list(_NAMES)


def __getattr__(name):
    if name in __all__:
        return getattr(_jtensor, name)
    raise AttributeError(f"module 'jtensor.functional' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)
