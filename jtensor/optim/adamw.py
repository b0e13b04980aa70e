"""AdamW: Adam with weight decay of its own."""
from .adam import Adam

__all__ = ["AdamW"]


class AdamW(Adam):
    """Adam whose weights shrink by ``lr * weight_decay`` at each step, independently of the gradient's scale.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.AdamW([p], lr=0.1).step()
    >>> p.detach()
    tensor([ 0.8990, -1.0990])
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
                 foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
                         differentiable=differentiable, fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True  # not in checkpoints of before it was an option
