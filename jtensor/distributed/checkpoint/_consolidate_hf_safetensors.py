"""Files of safetensors that many processes wrote made one: not there. Owns: the name of that."""
from ...base.absent import function

consolidate_safetensors_files = function(__name__, "consolidate_safetensors_files", "checkpoints of safetensors",
                                         "dcp_to_torch_save, of what FileSystemWriter wrote")

__all__ = ["consolidate_safetensors_files"]
