"""Stochastic gradient descent, with momentum."""
import jtensor

from ..base.below import STATE
from ._method import Method, check_for_fused, check_fused, filled_with, number, update_lists

__all__ = ["SGD", "sgd"]


class SGD(Method):
    """``p -= lr * g``; with ``momentum`` along a running sum of gradients, with ``nesterov`` a step ahead of it.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1.]))
    >>> p.grad = torch.tensor([2.])
    >>> torch.optim.SGD([p], lr=0.25).step()
    >>> p.detach()
    tensor([0.5000])
    """

    _late_options = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}
    _scalars = ()
    _takes_sparse = True

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None,
                 differentiable=False, fused=None):
        if isinstance(lr, jtensor.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
                    "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused}
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def _state_of(self, p, group):
        if group["fused"]:
            check_for_fused(p)
        if group["momentum"] == 0:
            return None                     # without momentum there is no state, not even an empty one
        state, grad = self.state[p], p.grad
        if state.get("momentum_buffer") is None and grad.stride() == p.stride() and not (
                group["dampening"] or group["differentiable"] or grad.is_sparse or grad.is_complex() or STATE.modes):
            buffer = state["momentum_buffer"] = filled_with(grad, -0.0)         # of which the first step makes the gradient, to the bit
            buffer._storage.version = -2                                        # which is no change to it
        return state

    _buffers = ("momentum_buffer",)

    def _identity(self, group):
        return group["momentum"] != 0, group["weight_decay"] != 0, group["nesterov"]

    def _all_numbers(self, ready, group):
        lr, momentum = group["lr"], group["momentum"]
        if type(lr) is not float or group["differentiable"]:
            return [None] * len(ready)
        numbers = number(group["weight_decay"]), momentum, 1 - group["dampening"], -lr
        return [numbers if momentum == 0 or "momentum_buffer" in state else None for _, _, state in ready]

    def _update(self, p, grad, state, group, numbers=None):
        lr = group["lr"]
        weight_decay, momentum, fresh, step = numbers or (
            number(group["weight_decay"]), group["momentum"], 1 - group["dampening"], -number(lr))
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=weight_decay)
        if group["momentum"] != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=fresh)
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        if isinstance(lr, jtensor.Tensor) and lr.requires_grad:
            p.addcmul_(grad, lr, value=-1)
        else:
            p.add_(grad, alpha=step)


def sgd(params, d_p_list, momentum_buffer_list, has_sparse_grad=False, foreach=None, fused=None, grad_scale=None, found_inf=None, *,
        weight_decay, momentum, lr, dampening, nesterov, maximize):
    """One step of `SGD` on lists of tensors, which change in place; a buffer of momentum that is None is put into its list.

    >>> import jtensor as torch
    >>> p, buffers = torch.tensor([1.]), [None]
    >>> sgd([p], [torch.tensor([2.])], buffers, weight_decay=0, momentum=0.9, lr=0.25, dampening=0, nesterov=False, maximize=False)
    >>> p, buffers
    (tensor([0.5000]), [tensor([2.])])
    """
    fused = fused and not foreach
    if fused and has_sparse_grad and params:
        raise RuntimeError("`_fused_sgd` does not support sparse gradients")
    update_lists(SGD, params, d_p_list, {"momentum_buffer": momentum_buffer_list if momentum != 0 else None}, foreach=foreach, fused=fused,
                 grad_scale=grad_scale, found_inf=found_inf, weight_decay=weight_decay, momentum=momentum, lr=lr, dampening=dampening,
                 nesterov=nesterov, maximize=maximize, differentiable=False)
