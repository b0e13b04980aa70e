"""RAdam."""
from ._method import Method, as_real, check, check_betas, check_lr, decayed, number_or_asked, update_lists, zeros_like

__all__ = ["RAdam", "radam"]


class RAdam(Method):
    """Adam that takes plain momentum steps until its mean square can be trusted, and rectifies it from then on.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.RAdam([p], lr=0.1).step()
    >>> p.detach()
    tensor([ 0.8000, -1.2000])
    """

    _late_options = {"foreach": None, "maximize": False, "differentiable": False, "decoupled_weight_decay": False,
                     "capturable": False}

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        check_lr(lr)
        check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)

    _buffers = ("exp_avg", "exp_avg_sq")

    def _identity(self, group):
        return group["weight_decay"] != 0, group["decoupled_weight_decay"], group["differentiable"]

    def _numbers(self, p, state, group):
        lr, weight_decay = number_or_asked(group["lr"], group), group["weight_decay"]
        beta1, beta2 = group["betas"]
        step = self._advance(p, state, group)
        decay = 1 - lr * weight_decay if group["decoupled_weight_decay"] else weight_decay
        correction2, rectified = 1 - beta2 ** step, None
        # The length of the mean square's memory: at the end, and now.
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * (beta2 ** step) / correction2
        if length > 5.0:
            rectified = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
        return decay, 1 - beta1, beta2, 1 - beta2, 1 - beta1 ** step, lr, correction2 ** 0.5, group["eps"], rectified, -1.0

    def _update(self, p, grad, state, group, numbers):
        decay, toward, keep, fresh, correction, lr, numerator, eps, rectified, minus = numbers
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        if p.is_complex():
            p, grad, mean, square = as_real(p, grad, mean, square)
        grad = decayed(p, grad, group, decay)
        mean.lerp_(grad, toward)
        square.mul_(keep).addcmul_(grad, grad, value=fresh)
        along = mean / correction * lr
        if rectified is not None:
            root = square.sqrt()
            root = root.add(eps) if group["differentiable"] else root.add_(eps)
            along = along * (numerator / root) * rectified
        p.add_(along, alpha=minus)


def radam(params, grads, exp_avgs, exp_avg_sqs, state_steps, decoupled_weight_decay=False, foreach=None, differentiable=False,
          capturable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay, eps):
    """One step of `RAdam` on lists of tensors, all of which change in place.

    >>> import jtensor as torch
    >>> p, grad, steps = torch.tensor([1., -1.]), torch.tensor([2., 2.]), [torch.tensor(0.)]
    >>> radam([p], [grad], [torch.zeros(2)], [torch.zeros(2)], steps, beta1=0.9, beta2=0.999, lr=0.1, weight_decay=0, eps=1e-8)
    >>> p, steps
    (tensor([ 0.8000, -1.2000]), [tensor(1.)])
    """
    update_lists(RAdam, params, grads, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "step": state_steps},
                 decoupled_weight_decay=decoupled_weight_decay, foreach=foreach, differentiable=differentiable, capturable=capturable,
                 maximize=maximize, betas=(beta1, beta2), lr=lr, weight_decay=weight_decay, eps=eps)
