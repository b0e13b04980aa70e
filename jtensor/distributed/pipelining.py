"""Modules in stages, one for each process: not there. Owns: the names of that."""
from ..base.absent import function, kind

_ABOUT = "pipelines of processes", "the module itself, in one process"

ScheduleGPipe = kind(__name__, "ScheduleGPipe", *_ABOUT)
SplitPoint = kind(__name__, "SplitPoint", *_ABOUT)
pipeline = function(__name__, "pipeline", *_ABOUT)

__all__ = ["pipeline", "ScheduleGPipe", "SplitPoint"]
