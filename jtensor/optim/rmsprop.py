"""RMSprop."""
from ._method import Method, as_real, check, check_lr, only_number, update_lists, zeros_like

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(Method):
    """Gradients divided by the root of their running mean square; ``centered``: by their standard deviation.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1., -1.]))
    >>> p.grad = torch.tensor([2., 2.])
    >>> torch.optim.RMSprop([p], lr=0.1).step()
    >>> p.detach()
    tensor([ 5.9605e-08, -2.0000e+00])
    """

    _late_options = {"momentum": 0, "centered": False, "foreach": None, "maximize": False, "differentiable": False,
                     "capturable": False}

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
                 foreach=None, maximize=False, differentiable=False):
        check_lr(lr)
        check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        for name, value in (("momentum", momentum), ("weight_decay", weight_decay), ("alpha", alpha)):
            check(0.0 <= value, f"Invalid {name} value: {value}")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable})

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        state["square_avg"] = zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = zeros_like(p)

    _buffers = ("square_avg", "grad_avg", "momentum_buffer")

    def _identity(self, group):
        return group["weight_decay"] != 0, group["momentum"] > 0, group["centered"], group["differentiable"]

    def _numbers(self, p, state, group):
        self._advance(p, state, group)
        alpha = group["alpha"]
        return group["weight_decay"], alpha, 1 - alpha, -1.0, group["eps"], group["momentum"], -only_number(group["lr"])

    def _update(self, p, grad, state, group, numbers):
        weight_decay, keep, fresh, minus, eps, momentum, step = numbers
        square = state["square_avg"]
        mean = state["grad_avg"] if group["centered"] else None
        buffer = state["momentum_buffer"] if group["momentum"] > 0 else None
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=weight_decay)
        if p.is_complex():
            p, grad, square, mean, buffer = as_real(p, grad, square, mean, buffer)
        square.mul_(keep).addcmul_(grad, grad, value=fresh)
        if mean is not None:
            mean.lerp_(grad, fresh)
            root = square.addcmul(mean, mean, value=minus).sqrt_()
        else:
            root = square.sqrt()
        root = root.add(eps) if group["differentiable"] else root.add_(eps)
        if buffer is not None:
            buffer.mul_(momentum).addcdiv_(grad, root)
            p.add_(buffer, alpha=step)
        else:
            p.addcdiv_(grad, root, value=step)


def rmsprop(params, grads, square_avgs, grad_avgs, momentum_buffer_list, state_steps, foreach=None, maximize=False, differentiable=False,
            capturable=False, has_complex=False, *, lr, alpha, eps, weight_decay, momentum, centered):
    """One step of `RMSprop` on lists of tensors, all of which change in place; the means are for ``centered`` alone, the
    buffers for ``momentum``.

    >>> import jtensor as torch
    >>> p, grad, steps = torch.tensor([1., -1.]), torch.tensor([2., 2.]), [torch.tensor(0.)]
    >>> rmsprop([p], [grad], [torch.zeros(2)], [], [], steps, lr=0.1, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0,
    ...         centered=False)
    >>> p, steps
    (tensor([ 5.9605e-08, -2.0000e+00]), [tensor(1.)])
    """
    update_lists(RMSprop, params, grads, {"square_avg": square_avgs, "grad_avg": grad_avgs if centered else None,
                                          "momentum_buffer": momentum_buffer_list if momentum > 0 else None, "step": state_steps},
                 foreach=foreach, maximize=maximize, differentiable=differentiable, capturable=capturable, lr=lr, alpha=alpha, eps=eps,
                 weight_decay=weight_decay, momentum=momentum, centered=centered)
