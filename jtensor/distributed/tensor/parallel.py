"""Layers whose parameters would lie on several devices: not there. Owns: the names of that."""
from ...base.absent import function, kind

_ABOUT = "tensors on several devices (torch.distributed.tensor.parallel)", "the module itself, on one device"
_KINDS = ("ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput", "RowwiseParallel",
          "SequenceParallel")
_FUNCTIONS = ("loss_parallel", "parallelize_module")

globals().update({name: kind(__name__, name, *_ABOUT) for name in _KINDS})
globals().update({name: function(__name__, name, *_ABOUT) for name in _FUNCTIONS})

__all__ = [*_KINDS, *_FUNCTIONS]
