"""Who would write and read what of a checkpoint of many processes: not there. Owns: the names of that."""
from ...base.absent import kind

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"
_KINDS = ("BytesIOWriteData", "LoadItemType", "LoadPlan", "LoadPlanner", "ReadItem", "SavePlan", "SavePlanner", "TensorWriteData",
          "WriteItem", "WriteItemType")

globals().update({name: kind(__name__, name, *_ABOUT) for name in _KINDS})

__all__ = [*_KINDS]
