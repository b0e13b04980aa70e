"""Adadelta."""
from ._method import Method, as_real, check, check_lr, only_number, update_lists, zeros_like

__all__ = ["Adadelta", "adadelta"]


class Adadelta(Method):
    """Steps in units of earlier steps: the root of their mean square over that of the gradients.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.Adadelta([p]).step()
    >>> p.detach()
    tensor([ 0.9968, -1.0032])
    """

    _late_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    _captured_by_xla = False

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

    _buffers = ("square_avg", "acc_delta")

    def _identity(self, group):
        return group["weight_decay"] != 0, group["differentiable"]

    def _numbers(self, p, state, group):
        self._advance(p, state, group)
        return group["weight_decay"], group["rho"], 1 - group["rho"], group["eps"], -only_number(group["lr"], "add_(): argument 'alpha'")

    def _update(self, p, grad, state, group, numbers):
        weight_decay, keep, fresh, eps, step = numbers
        squares, deltas = state["square_avg"], state["acc_delta"]
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=weight_decay)
        if p.is_complex():
            p, grad, squares, deltas = as_real(p, grad, squares, deltas)
        squares.mul_(keep).addcmul_(grad, grad, value=fresh)
        std = squares.add(eps).sqrt_()
        delta = deltas.add(eps).sqrt_()
        if group["differentiable"]:
            delta = delta.clone()
        delta.div_(std).mul_(grad)
        deltas.mul_(keep).addcmul_(delta, delta, value=fresh)
        p.add_(delta, alpha=step)


def adadelta(params, grads, square_avgs, acc_deltas, state_steps, capturable=False, foreach=None, differentiable=False,
             has_complex=False, *, lr, rho, eps, weight_decay, maximize):
    """One step of `Adadelta` on lists of tensors, all of which change in place.

    >>> import jtensor as torch
    >>> p, grad, steps = torch.tensor([1., -1.]), torch.tensor([2., 2.]), [torch.tensor(0.)]
    >>> adadelta([p], [grad], [torch.zeros(2)], [torch.zeros(2)], steps, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, maximize=False)
    >>> p, steps
    (tensor([ 0.9968, -1.0032]), [tensor(1.)])
    """
    update_lists(Adadelta, params, grads, {"square_avg": square_avgs, "acc_delta": acc_deltas, "step": state_steps}, foreach=foreach,
                 capturable=capturable, differentiable=differentiable, lr=lr, rho=rho, eps=eps, weight_decay=weight_decay,
                 maximize=maximize)
