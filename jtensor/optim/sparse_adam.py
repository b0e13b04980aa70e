"""Adam for sparse gradients: moments and weights change where a gradient has elements, and stay elsewhere."""
import math

import jtensor

from ._method import Method, check, number, with_values, zeros_like

__all__ = ["SparseAdam"]


class SparseAdam(Method):
    """`Adam`, lazily: the step of a row happens when it gets a gradient, whose elements elsewhere do not exist.

    RuntimeError for a dense gradient, ValueError for a sparse parameter.

    >>> import jtensor as torch
    >>> table = torch.nn.Embedding.from_pretrained(torch.ones(3, 2), freeze=False, sparse=True)
    >>> table(torch.tensor([2])).sum().backward()
    >>> torch.optim.SparseAdam(table.parameters(), lr=0.5).step()
    >>> table.weight.detach()
    tensor([[1.0000, 1.0000],
            [1.0000, 1.0000],
            [0.5000, 0.5000]])
    """

    _takes_sparse = True
    _scalars = ()           # its step counts are plain numbers to this day

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if isinstance(lr, jtensor.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check(0.0 < lr, f"Invalid learning rate: {lr}")
        check(0.0 < eps, f"Invalid epsilon value: {eps}")
        for at, beta in enumerate(betas[:2]):
            check(0.0 <= beta < 1.0, f"Invalid beta parameter at index {at}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [[at, place] for at, group in enumerate(self.param_groups) for place, p in enumerate(group["params"]) if p.is_sparse]
        check(not sparse, f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")

    def _visit(self, group):
        ready = []
        for p in group["params"]:
            if p.grad is None:
                continue
            if not p.grad.is_sparse:
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            state = self.state[p]
            if not state:
                state["step"] = 0
                for name in ("exp_avg", "exp_avg_sq"):
                    state[name] = zeros_like(p)
            state["step"] += 1
            ready.append((p, -p.grad if group["maximize"] else p.grad, state))
        for p, grad, state in ready:
            self._update(p, grad, state, group)

    def _update(self, p, grad, state, group):
        grad = grad.coalesce()
        values = grad._values()
        if not values.numel():
            return
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        old_mean, old_square = mean.sparse_mask(grad)._values(), square.sparse_mask(grad)._values()
        mean_change = values.sub(old_mean).mul_(1 - beta1)
        square_change = values.pow(2).sub_(old_square).mul_(1 - beta2)
        mean.add_(with_values(grad, mean_change))
        square.add_(with_values(grad, square_change))
        roots = square_change.add(old_square).sqrt_().add_(group["eps"])
        step = state["step"]
        size = number(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        p.add_(with_values(grad, mean_change.add(old_mean).div_(roots).mul_(-size)))
