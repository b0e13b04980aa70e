"""NAdam."""
from ._method import Method, as_real, check, check_betas, check_lr, number, zeros_like

__all__ = ["NAdam"]


class NAdam(Method):
    """Adam with Nesterov's momentum, whose weight grows over time (``momentum_decay``)."""

    _late_options = {"maximize": False, "foreach": None, "capturable": False, "differentiable": False,
                     "decoupled_weight_decay": False}
    _scalars = ("step", "mu_product")

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

    def _update(self, p, grad, state, group):
        lr, weight_decay, decay = number(group["lr"]), group["weight_decay"], group["momentum_decay"]
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        step = self._advance(p, state, group)
        if weight_decay != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(p, alpha=weight_decay)
        if p.is_complex():
            p, grad, mean, square = as_real(p, grad, mean, square)
        now = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay)))
        ahead = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        product = self._multiplied(state["mu_product"], now)
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = square.div(1 - beta2 ** step).sqrt()
        denominator = denominator.add(group["eps"]) if group["differentiable"] else denominator.add_(group["eps"])
        p.addcdiv_(grad, denominator, value=-lr * (1.0 - now) / (1.0 - product))
        p.addcdiv_(mean, denominator, value=-lr * ahead / (1.0 - product * ahead))

    def _multiplied(self, tensor, factor):
        """The product of all momenta, with one more factor; rounded to the tensor's dtype each time."""
        if tensor.device.type != "cpu":
            tensor *= factor
            return tensor.item()
        product = self._host(tensor)
        product *= factor
        return product.item()
