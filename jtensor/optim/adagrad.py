"""Adagrad."""

from ..tensor.creating.likes import filled_like
from ._method import Method, as_real, check, check_fused, check_lr, only_number, update_lists, with_values

__all__ = ["Adagrad", "adagrad"]


class Adagrad(Method):
    """Each coordinate's step is divided by the root of the sum of all its squared gradients.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.Adagrad([p], lr=0.1).step()
    >>> p.detach()
    tensor([ 0.9000, -1.1000])
    """

    _takes_sparse = True
    _late_options = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None):
        check_lr(lr)
        for name, value in (("lr_decay", lr_decay), ("weight_decay", weight_decay),
                            ("initial_accumulator_value", initial_accumulator_value)):
            check(0.0 <= value, f"Invalid {name} value: {value}")
        check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused})
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._init_state(p, group, self.state[p])

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        start = self.defaults["initial_accumulator_value"]
        state["sum"] = filled_like(p, complex(start, start) if p.is_complex() else start)

    def share_memory(self):
        """As the tensor method, for the sums."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    _buffers = ("sum",)

    def _identity(self, group):
        return group["weight_decay"] != 0, group["differentiable"]

    def _numbers(self, p, state, group):
        step = self._advance(p, state, group)
        rate = only_number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        return group["weight_decay"], 1.0, group["eps"], -rate

    def _update(self, p, grad, state, group, numbers):
        weight_decay, fresh, eps, step = numbers
        if grad.is_sparse:
            return _update_sparse(p, grad, state["sum"], group["weight_decay"], eps, step)
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=weight_decay)
        total = state["sum"]
        if p.is_complex():
            p, grad, total = as_real(p, grad, total)
        total.addcmul_(grad, grad, value=fresh)
        root = total.sqrt()                                      # which its own gradient needs as it is
        p.addcdiv_(grad, root + eps if group["differentiable"] else root.add_(eps), value=step)


def _update_sparse(p, grad, total, weight_decay, eps, step):
    """Changes the rows that a sparse gradient has, and their sums."""
    if weight_decay != 0:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    grad = grad.coalesce()
    values = grad._values()
    total.add_(with_values(grad, values.pow(2)))
    roots = total.sparse_mask(grad)._values().sqrt().add_(eps)
    p.add_(with_values(grad, values / roots), alpha=step)


def adagrad(params, grads, state_sums, state_steps, fused=None, grad_scale=None, found_inf=None, has_sparse_grad=False, foreach=None,
            differentiable=False, has_complex=False, *, lr, weight_decay, lr_decay, eps, maximize):
    """One step of `Adagrad` on lists of tensors, all of which change in place.

    >>> import jtensor as torch
    >>> p, grad, steps = torch.tensor([1., -1.]), torch.tensor([2., 2.]), [torch.tensor(0.)]
    >>> adagrad([p], [grad], [torch.zeros(2)], steps, lr=0.1, weight_decay=0, lr_decay=0, eps=1e-10, maximize=False)
    >>> p, steps
    (tensor([ 0.9000, -1.1000]), [tensor(1.)])
    """
    if fused and params:
        if has_sparse_grad or has_complex:
            raise RuntimeError("`fused` does not support sparse grad or complex param")
        if differentiable:
            raise RuntimeError("adagrad with fused=True does not support differentiable=True")
    update_lists(Adagrad, params, grads, {"sum": state_sums, "step": state_steps}, foreach=foreach, fused=fused, grad_scale=grad_scale,
                 found_inf=found_inf, differentiable=differentiable, lr=lr, weight_decay=weight_decay, lr_decay=lr_decay, eps=eps,
                 maximize=maximize)
