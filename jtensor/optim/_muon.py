"""Muon."""
import math

import jtensor

from ._method import Method, check, number, zeros_like

__all__ = ["Muon"]


def _orthogonalized(matrix, coefficients, steps, eps):
    """The nearest matrix whose singular values are about one, by Newton-Schulz steps in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(matrix.shape) != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = matrix.size(0) > matrix.size(1)
    x = matrix.bfloat16()
    x = x.T if tall else x
    x = x.div(x.norm().clamp(min=eps))
    for _ in range(steps):
        gram = x @ x.T
        x = jtensor.addmm(x, jtensor.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


class Muon(Method):
    """Momentum for matrices, made orthogonal before each step. ValueError for a parameter that is no matrix."""

    _scalars = ()

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315),
                 eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        if isinstance(lr, jtensor.Tensor):
            check(lr.numel() == 1, "Tensor lr must be 1-element")
        check(0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}")
        check(0.0 <= momentum, f"momentum should be >= 0 but is: {momentum}")
        check(0.0 <= weight_decay, f"weight decay should be >= 0 but is: {weight_decay}")
        check(adjust_lr_fn in (None, "original", "match_rms_adamw"),
              f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "ns_coefficients": ns_coefficients,
            "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for p in group["params"]:
                check(p.ndim == 2, f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _state_of(self, p, group):
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state = self.state[p]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = zeros_like(p.grad)
        return state

    def _update(self, p, grad, state, group):
        lr, momentum = group["lr"], group["momentum"]
        if grad.ndim != 2:
            raise ValueError("Param gradient must be a 2D matrix")
        buffer = state["momentum_buffer"]
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = p.shape[:2]
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        else:
            ratio = math.sqrt(max(1, rows / columns))
        p.mul_(number(1 - lr * group["weight_decay"]))
        p.add_(update, alpha=-number(lr * ratio))
