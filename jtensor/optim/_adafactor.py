"""Adafactor."""
import jtensor

from ._method import Method, check, number, zeros_like

__all__ = ["Adafactor"]


class Adafactor(Method):
    """Adam's mean square of a matrix kept as that of its rows and of its columns, which takes next to no memory.

    Steps are relative to the parameter's own size. It looks at two norms of every parameter, as PyTorch's does.
    """

    _late_options = {"foreach": None}

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        if isinstance(lr, jtensor.Tensor):
            check(lr.numel() == 1, "Tensor lr must be 1-element")
        check(0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}")
        check(0.0 >= beta2_decay, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        check(eps[0] is None or 0.0 <= eps[0], f"epsilon1 should be >= 0 but is: {eps[0]}")
        check(0.0 <= eps[1], f"epsilon2 should be >= 0 but is: {eps[1]}")
        check(1.0 <= d, f"Clipping threshold d should be >= 1 but is: {d}")
        check(0.0 <= weight_decay, f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
                                  "foreach": foreach, "maximize": maximize})

    def _state_of(self, p, group):
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        return super()._state_of(p, group)

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        shape = list(p.grad.shape)
        if len(shape) > 1:
            state["row_var"] = p.grad.new_zeros(shape[:-1] + [1])
            state["col_var"] = p.grad.new_zeros(shape[:-2] + [1] + shape[-1:])
        else:
            state["variance"] = zeros_like(p.grad)

    def _update(self, p, grad, state, group):
        lr, (eps1, eps2) = number(group["lr"]), group["eps"]
        if eps1 is None:
            eps1 = jtensor.finfo(p.dtype).eps
        step = self._advance(p, state, group)
        fresh = step ** group["beta2_decay"]
        rate = max(eps2, p.norm(2).item() / (p.numel() ** 0.5)) * min(lr, 1 / (step ** 0.5))
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            for var, dim in ((rows, -1), (columns, -2)):
                mean = jtensor.norm(grad, dim=dim, keepdim=True).square_().div_(grad.size(dim))
                var.lerp_(mean, fresh)
            estimate = rows @ columns
            estimate.div_(rows.mean(dim=-2, keepdim=True).clamp_(min=eps1))
        else:
            state["variance"].lerp_(grad * grad, fresh)
            estimate = state["variance"].clone()
        update = estimate.clamp_(min=eps1 * eps1).rsqrt_()
        update.mul_(grad)
        shorten = max(1.0, update.norm(2).item() / ((update.numel() ** 0.5) * group["d"]))
        p.add_(update, alpha=-rate / shorten)
