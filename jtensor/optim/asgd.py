"""ASGD."""
import numpy as np

import jtensor

from ._method import Method, as_real, check, check_lr, number, scalar_dtype, update_lists, zeros_like

__all__ = ["ASGD", "asgd"]


class ASGD(Method):
    """Stochastic gradient descent that keeps the average of the parameters over time, from step ``t0`` on.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.ASGD([p], lr=0.1).step()
    >>> p.detach()
    tensor([ 0.8000, -1.2000])
    """

    _late_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    _scalars = ("step", "eta", "mu")
    _captured = "params, mus, etas, and state_steps"

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check_lr(lr)
        check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _new_scalar(self, p, group, value=0.0):
        return jtensor.tensor(value, dtype=scalar_dtype(), device=p.device)

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        state["eta"] = self._new_scalar(p, group, number(group["lr"]))
        state["mu"] = self._new_scalar(p, group, 1.0)
        state["ax"] = zeros_like(p)

    def _read(self, tensor):
        return (self._host(tensor) if tensor.device.type == "cpu" else tensor).item()

    def _write(self, tensor, value):
        # By way of the default dtype, whatever the tensor's own: that is how PyTorch rounds it.
        if tensor.device.type == "cpu":
            self._host(tensor)[...] = np.array(value, jtensor.get_default_dtype().numpy)
        else:
            tensor.copy_(jtensor.as_tensor(value))

    _buffers = ("ax",)

    def _identity(self, group):
        return (group["weight_decay"] != 0,)

    def _next_eta(self, step, state, group):
        """The length of the next step. With ``foreach`` PyTorch computes it with the count as it lies in the state, so in its precision."""
        lambd, lr = group["lambd"], number(group["lr"])
        if group["foreach"]:
            count = state["step"].dtype.numpy.type
            divisor = (1 + count(lambd * lr) * count(step)) ** count(group["alpha"])
            return (1 / divisor * count(lr)).item()
        return lr / ((1 + lambd * lr * step) ** group["alpha"])

    def _numbers(self, p, state, group):
        step = self._advance(p, state, group)
        eta, mu = self._read(state["eta"]), self._read(state["mu"])
        self._write(state["eta"], self._next_eta(step, state, group))
        self._write(state["mu"], 1 / max(1, step - group["t0"]))
        return group["weight_decay"], 1 - group["lambd"] * eta, -eta, None if mu == 1 else mu

    def _update(self, p, grad, state, group, numbers):
        weight_decay, keep, step, mu = numbers
        average = state["ax"]
        if p.is_complex():
            p, grad, average = as_real(p, grad, average)
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=weight_decay)
        p.mul_(keep)
        p.add_(grad, alpha=step)
        if mu is None:
            average.copy_(p)
        else:
            average.add_(p.sub(average).mul_(mu))


def asgd(params, grads, axs, mus, etas, state_steps, foreach=None, maximize=False, differentiable=False, capturable=False,
         has_complex=False, *, lambd, lr, t0, alpha, weight_decay):
    """One step of `ASGD` on lists of tensors, all of which change in place.

    >>> import jtensor as torch
    >>> p, grad, steps = torch.tensor([1., -1.]), torch.tensor([2., 2.]), [torch.tensor(0.)]
    >>> asgd([p], [grad], [torch.zeros(2)], [torch.tensor(1.)], [torch.tensor(0.1)], steps, lambd=1e-4, lr=0.1, t0=1e6, alpha=0.75,
    ...      weight_decay=0)
    >>> p, steps
    (tensor([ 0.8000, -1.2000]), [tensor(1.)])
    """
    update_lists(ASGD, params, grads, {"ax": axs, "mu": mus, "eta": etas, "step": state_steps}, foreach=foreach, maximize=maximize,
                 differentiable=differentiable, capturable=capturable, lambd=lambd, lr=lr, t0=t0, alpha=alpha, weight_decay=weight_decay)
