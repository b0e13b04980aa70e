"""Adadelta."""
from ._method import Method, as_real, check, check_lr, number, zeros_like

__all__ = ["Adadelta"]


class Adadelta(Method):
    """Steps in units of earlier steps: the root of their mean square over that of the gradients."""

    _late_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False):
        check_lr(lr)
        check(0.0 <= rho <= 1.0, f"Invalid rho value: {rho}")
        check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
                                  "capturable": capturable, "foreach": foreach, "differentiable": differentiable})

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        state["square_avg"], state["acc_delta"] = zeros_like(p), zeros_like(p)

    def _update(self, p, grad, state, group):
        self._advance(p, state, group)
        rho, eps = group["rho"], group["eps"]
        squares, deltas = state["square_avg"], state["acc_delta"]
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        if p.is_complex():
            p, grad, squares, deltas = as_real(p, grad, squares, deltas)
        squares.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        std = squares.add(eps).sqrt_()
        delta = deltas.add(eps).sqrt_()
        if group["differentiable"]:
            delta = delta.clone()
        delta.div_(std).mul_(grad)
        deltas.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.add_(delta, alpha=-number(group["lr"]))
