"""Adamax."""
import jtensor

from ._method import Method, as_real, check, check_betas, check_lr, only_number, update_lists, zeros_like

__all__ = ["Adamax", "adamax"]


class Adamax(Method):
    """Adam with the largest gradient (slowly forgotten) in place of the mean square.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.Adamax([p], lr=0.1).step()
    >>> p.detach()
    tensor([ 0.9000, -1.1000])
    """

    _late_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        check_lr(lr)
        check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
                                  "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        state["exp_avg"], state["exp_inf"] = zeros_like(p), zeros_like(p)

    _buffers = ("exp_avg", "exp_inf")

    def _identity(self, group):
        return group["weight_decay"] != 0, group["differentiable"]

    def _numbers(self, p, state, group):
        step = self._advance(p, state, group)
        beta1, beta2 = group["betas"]
        return group["weight_decay"], 1 - beta1, beta2, group["eps"], -(only_number(group["lr"]) / (1 - beta1 ** step))

    def _update(self, p, grad, state, group, numbers):
        weight_decay, toward, keep, eps, step = numbers
        mean, largest = state["exp_avg"], state["exp_inf"]
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=weight_decay)
        if p.is_complex():
            p, grad, mean, largest = as_real(p, grad, mean, largest)
        mean.lerp_(grad, toward)
        faded, seen = largest.mul_(keep), grad.abs().add_(eps)
        if group["differentiable"]:                             # of copies, since the gradient asks for both
            largest.copy_(jtensor.stack([faded, seen]).amax(0))
        else:
            largest.copy_(jtensor.maximum(faded, seen))
        p.addcdiv_(mean, largest, value=step)


def adamax(params, grads, exp_avgs, exp_infs, state_steps, foreach=None, maximize=False, differentiable=False, capturable=False,
           has_complex=False, *, eps, beta1, beta2, lr, weight_decay):
    """One step of `Adamax` on lists of tensors, all of which change in place.

    >>> import jtensor as torch
    >>> p, grad, steps = torch.tensor([1., -1.]), torch.tensor([2., 2.]), [torch.tensor(0.)]
    >>> adamax([p], [grad], [torch.zeros(2)], [torch.zeros(2)], steps, eps=1e-8, beta1=0.9, beta2=0.999, lr=0.1, weight_decay=0)
    >>> p, steps
    (tensor([ 0.9000, -1.1000]), [tensor(1.)])
    """
    update_lists(Adamax, params, grads, {"exp_avg": exp_avgs, "exp_inf": exp_infs, "step": state_steps}, foreach=foreach,
                 maximize=maximize, differentiable=differentiable, capturable=capturable, eps=eps, betas=(beta1, beta2), lr=lr,
                 weight_decay=weight_decay)
