"""Rprop."""

from ..tensor.creating.likes import filled_like
from ._method import Method, as_real, check, check_lr, only_number, update_lists, zeros_like

__all__ = ["Rprop", "rprop"]


class Rprop(Method):
    """Only the gradient's signs count: a coordinate's step grows by ``etas[1]`` while its sign stays and shrinks by ``etas[0]``
    when it changes.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.Rprop([p], lr=0.1).step()
    >>> p.detach()
    tensor([ 0.9000, -1.1000])
    """

    _late_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        check_lr(lr)
        check(0.0 < etas[0] < 1.0 < etas[1], f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
                                  "differentiable": differentiable, "capturable": capturable})

    def _init_state(self, p, group, state):
        lr = only_number(group["lr"], "full_like(): argument 'fill_value' (position 2)", without_grad=True)
        state["step"] = self._new_scalar(p, group)
        state["prev"] = zeros_like(p)
        state["step_size"] = filled_like(p.grad, complex(lr, lr) if p.is_complex() else lr)

    _buffers = ("prev", "step_size")

    def _identity(self, group):
        return (group["differentiable"],)

    def _numbers(self, p, state, group):
        self._advance(p, state, group)
        return *group["etas"], *group["step_sizes"], 0.0, 1.0, -1.0

    def _update(self, p, grad, state, group, numbers):
        shrink, grow, smallest, largest, zero, one, minus = numbers
        previous, sizes = state["prev"], state["step_size"]
        if p.is_complex():
            p, grad, previous, sizes = as_real(p, grad, previous, sizes)
        factor = grad.mul(previous.clone() if group["differentiable"] else previous).sign()
        factor = factor.masked_fill(factor > zero, grow)
        factor = factor.masked_fill(factor < zero, shrink)
        factor = factor.masked_fill(factor == zero, one)
        sizes.mul_(factor).clamp_(smallest, largest)
        # Where the sign has changed nothing moves this time, and the next step starts afresh.
        grad = grad.masked_fill(factor == shrink, zero)
        p.addcmul_(grad.sign(), sizes, value=minus)
        previous.copy_(grad)


def rprop(params, grads, prevs, step_sizes, state_steps, foreach=None, capturable=False, maximize=False, differentiable=False,
          has_complex=False, *, step_size_min, step_size_max, etaminus, etaplus):
    """One step of `Rprop` on lists of tensors, all of which change in place.

    >>> import jtensor as torch
    >>> p, grad, steps = torch.tensor([1., -1.]), torch.tensor([2., 2.]), [torch.tensor(0.)]
    >>> rprop([p], [grad], [torch.zeros(2)], [torch.full((2,), 0.1)], steps, step_size_min=1e-6, step_size_max=50, etaminus=0.5,
    ...       etaplus=1.2)
    >>> p, steps
    (tensor([ 0.9000, -1.1000]), [tensor(1.)])
    """
    update_lists(Rprop, params, grads, {"prev": prevs, "step_size": step_sizes, "step": state_steps}, foreach=foreach,
                 capturable=capturable, maximize=maximize, differentiable=differentiable, etas=(etaminus, etaplus),
                 step_sizes=(step_size_min, step_size_max))
