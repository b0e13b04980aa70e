"""Extensions that are compiled against PyTorch: not there, since there is no C++ of tensors here. Owns: the names of that.

What is asked before one is built (where CUDA's compiler is) is answered so that none is.
"""
from ..base.absent import function, kind

_ABOUT = "extensions in C++ (torch.utils.cpp_extension)", "Python, or a function of jax's (jtensor.from_jax)"
_FUNCTIONS = ("CUDAExtension", "CppExtension", "SyclExtension", "include_paths", "library_paths", "load", "load_inline")
CUDA_HOME = CUDNN_HOME = ROCM_HOME = SYCL_HOME = None
IS_HIP_EXTENSION = False

BuildExtension = kind(__name__, "BuildExtension", *_ABOUT)
globals().update({name: function(__name__, name, *_ABOUT) for name in _FUNCTIONS})

__all__ = ["BuildExtension", *_FUNCTIONS]
