"""Optimizers of several processes. Owns: PyTorch's room of their names, of which those over RPC are not there."""
from ...base.absent import function, kind
from .post_localSGD_optimizer import PostLocalSGDOptimizer
from .zero_redundancy_optimizer import ZeroRedundancyOptimizer

_ABOUT = "optimizers over RPC", "ZeroRedundancyOptimizer, or the optimizers of torch.optim in each process"

DistributedOptimizer = kind(__name__, "DistributedOptimizer", *_ABOUT)
as_functional_optim = function(__name__, "as_functional_optim", "optimizers as functions", "the optimizers of torch.optim")

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer", "as_functional_optim"]
