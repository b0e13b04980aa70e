"""NAdam."""
from ._method import (
    Method,
    add_quotient,
    as_real,
    check,
    check_betas,
    check_lr,
    decayed,
    number,
    number_or_asked,
    update_lists,
    zeros_like,
)

__all__ = ["NAdam", "nadam"]


class NAdam(Method):
    """Adam with Nesterov's momentum, whose weight grows over time (``momentum_decay``).

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.NAdam([p], lr=0.1).step()
    >>> p.detach()
    tensor([ 0.8944, -1.1056])
    """

    _late_options = {"maximize": False, "foreach": None, "capturable": False, "differentiable": False,
                     "decoupled_weight_decay": False}
    _scalars = ("step", "mu_product")
    _captured = "params, mu_products and state_steps"

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        check_lr(lr)
        check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        check(0.0 <= momentum_decay, f"Invalid momentum_decay value: {momentum_decay}")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable})

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        state["mu_product"] = self._new_scalar(p, group, 1.0)
        state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)

    _buffers = ("exp_avg", "exp_avg_sq")

    def _identity(self, group):
        return group["weight_decay"] != 0, group["decoupled_weight_decay"], group["differentiable"]

    def _numbers(self, p, state, group):
        lr, weight_decay, slowing = number_or_asked(group["lr"], group), group["weight_decay"], group["momentum_decay"]
        beta1, beta2 = map(number, group["betas"])
        step = self._advance(p, state, group)
        now = beta1 * (1.0 - 0.5 * (0.96 ** (step * slowing)))
        ahead = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * slowing)))
        product = self._multiplied(state["mu_product"], now)
        decay = 1 - lr * weight_decay if group["decoupled_weight_decay"] else weight_decay
        return (decay, 1 - beta1, beta2, 1 - beta2, 1 - beta2 ** step, group["eps"],
                -lr * (1.0 - now) / (1.0 - product), -lr * ahead / (1.0 - product * ahead))

    def _update(self, p, grad, state, group, numbers):
        decay, toward, keep, fresh, correction, eps, along, ahead = numbers
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        grad = decayed(p, grad, group, decay)
        if p.is_complex():
            p, grad, mean, square = as_real(p, grad, mean, square)
        mean.lerp_(grad, toward)
        square.mul_(keep).addcmul_(grad, grad, value=fresh)
        denominator = square.div(correction).sqrt()
        denominator = denominator.add(eps) if group["differentiable"] else denominator.add_(eps)
        add_quotient(p, grad, denominator, along)
        add_quotient(p, mean, denominator, ahead)

    def _multiplied(self, tensor, factor):
        """The product of all momenta, with one more factor; rounded to the tensor's dtype each time."""
        if tensor.device.type != "cpu":
            tensor *= factor
            return tensor.item()
        product = self._host(tensor)
        product *= factor
        return product.item()


def nadam(params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps, decoupled_weight_decay=False, foreach=None, capturable=False,
          differentiable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay, momentum_decay, eps):
    """One step of `NAdam` on lists of tensors, all of which change in place.

    >>> import jtensor as torch
    >>> p, grad, steps = torch.tensor([1., -1.]), torch.tensor([2., 2.]), [torch.tensor(0.)]
    >>> nadam([p], [grad], [torch.zeros(2)], [torch.zeros(2)], [torch.tensor(1.)], steps, beta1=0.9, beta2=0.999, lr=0.1, weight_decay=0,
    ...       momentum_decay=4e-3, eps=1e-8)
    >>> p, steps
    (tensor([ 0.8944, -1.1056]), [tensor(1.)])
    """
    update_lists(NAdam, params, grads, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "mu_product": mu_products, "step": state_steps},
                 decoupled_weight_decay=decoupled_weight_decay, foreach=foreach, capturable=capturable, differentiable=differentiable,
                 maximize=maximize, betas=(beta1, beta2), lr=lr, weight_decay=weight_decay, momentum_decay=momentum_decay, eps=eps)
