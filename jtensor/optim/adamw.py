"""AdamW: Adam with weight decay of its own."""
from .adam import Adam, adam

__all__ = ["AdamW", "adamw"]


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


def adamw(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False, differentiable=False,
          fused=None, grad_scale=None, found_inf=None, has_complex=False, *, amsgrad, beta1, beta2, lr, weight_decay, eps, maximize):
    """One step of `AdamW` on lists of tensors, all of which change in place. The list of maxima is for ``amsgrad`` alone.

    >>> import jtensor as torch
    >>> p, zeros, steps = torch.tensor([1.]), [torch.zeros(1), torch.zeros(1)], [torch.tensor(0.)]
    >>> adamw([p], [torch.tensor([2.])], zeros[:1], zeros[1:], [], steps, amsgrad=False, beta1=0.9, beta2=0.999, lr=0.25,
    ...       weight_decay=0.1, eps=1e-8, maximize=False)
    >>> p, zeros, steps
    (tensor([0.7250]), [tensor([0.2000]), tensor([0.0040])], [tensor(1.)])
    """
    adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach, capturable, differentiable, fused, grad_scale,
         found_inf, has_complex, True, amsgrad=amsgrad, beta1=beta1, beta2=beta2, lr=lr, weight_decay=weight_decay, eps=eps,
         maximize=maximize)
