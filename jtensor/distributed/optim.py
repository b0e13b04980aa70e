"""Optimizers whose state lies in several processes: not there. Owns: the names of that."""
from ..base.absent import kind

_ABOUT = "optimizers over several processes", "the optimizers of torch.optim, in each process"

DistributedOptimizer = kind(__name__, "DistributedOptimizer", *_ABOUT)
PostLocalSGDOptimizer = kind(__name__, "PostLocalSGDOptimizer", *_ABOUT)
ZeroRedundancyOptimizer = kind(__name__, "ZeroRedundancyOptimizer", *_ABOUT)

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]
