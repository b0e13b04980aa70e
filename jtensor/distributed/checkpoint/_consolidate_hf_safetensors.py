"""Files of many processes made one: not there. Owns: the names of that."""
from ...base.absent import function

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"

consolidate_safetensors_files = function(__name__, "consolidate_safetensors_files", *_ABOUT)

__all__ = ["consolidate_safetensors_files"]
