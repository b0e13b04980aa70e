"""Adam."""
import jtensor

from ._method import Method, add_quotient, as_real, check, check_betas, check_fused, decayed, number_or_asked, update_lists, zeros_like

__all__ = ["Adam", "adam"]


def _check_tensors(lr, betas, foreach, capturable):
    """What Adam asks of hyperparameters that are tensors."""
    if isinstance(lr, jtensor.Tensor):
        check(not foreach or capturable, "lr as a Tensor is not supported for capturable=False and foreach=True")
        check(lr.numel() == 1, "Tensor lr must be 1-element")


def _check_foreach(lr, foreach, capturable):
    if foreach and isinstance(lr, jtensor.Tensor) and not capturable:
        raise RuntimeError("lr as a Tensor is not supported for capturable=False and foreach=True")


def _check_beta_tensors(betas, foreach, capturable):
    tensors = [isinstance(beta, jtensor.Tensor) for beta in betas]
    check(all(tensors) or all(isinstance(beta, float) for beta in betas), "betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas if all(tensors) else ()):
        check(capturable or not foreach, f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        check(beta.numel() == 1, f"Tensor betas[{i}] must be 1-element")


class Adam(Method):
    """Steps of about ``lr`` in each coordinate: the running mean of gradients over the root of that of their squares.

    ``decoupled_weight_decay``: weights shrink by themselves, as in AdamW, not by way of the gradient.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([1.]))
    >>> p.grad = torch.tensor([2.])
    >>> torch.optim.Adam([p], lr=0.25).step()
    >>> p.detach()
    tensor([0.7500])
    """

    _late_options = {"amsgrad": False, "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
                     "decoupled_weight_decay": False, "fused": None}
    _sparse_name = "Adam"
    _sparse_hint = ", please consider SparseAdam instead"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        _check_tensors(lr, betas, foreach, capturable)
        check(0.0 <= lr, f"Invalid learning rate: {lr}")
        check(0.0 <= eps, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        check(0.0 <= weight_decay, f"Invalid weight_decay value: {weight_decay}")
        _check_beta_tensors(betas, foreach, capturable)
        betas = tuple(b.squeeze() if isinstance(b, jtensor.Tensor) and b.dim() else b for b in betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})
        check_fused(fused, foreach, differentiable)

    def _init_state(self, p, group, state):
        state["step"] = self._new_scalar(p, group)
        state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)

    def _state_of(self, p, group):
        state = super()._state_of(p, group)
        if group["differentiable"] and state["step"].requires_grad:
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        _check_foreach(group["lr"], group["foreach"], group["capturable"])
        return state

    _buffers = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")

    def _identity(self, group):
        return group["weight_decay"] != 0, group["decoupled_weight_decay"], group["amsgrad"], group["differentiable"]

    def _all_numbers(self, ready, group):
        found, steps = [], None
        for p, _, state in ready:
            count = self._advance(p, state, group)
            if count != steps:                      # most parameters of a group have made as many steps
                steps, numbers = count, self._numbers_at(count, group)
            found.append(numbers)
        return found

    @staticmethod
    def _numbers_at(step, group):
        lr, weight_decay = number_or_asked(group["lr"], group), number_or_asked(group["weight_decay"], group)
        beta1, beta2 = [number_or_asked(beta, group) for beta in group["betas"]]
        decay = 1 - lr * weight_decay if group["decoupled_weight_decay"] else weight_decay
        return decay, 1 - beta1, beta2, 1 - beta2, (1 - beta2 ** step) ** 0.5, group["eps"], -(lr / (1 - beta1 ** step))

    def _update(self, p, grad, state, group, numbers):
        decay, toward, keep, fresh, root, eps, step = numbers
        mean, square, largest = state["exp_avg"], state["exp_avg_sq"], state.get("max_exp_avg_sq") if group["amsgrad"] else None
        grad = decayed(p, grad, group, decay)
        if p.is_complex():
            p, grad, mean, square, largest = as_real(p, grad, mean, square, largest)
        mean.lerp_(grad, toward.to(grad.dtype) if isinstance(toward, jtensor.Tensor) else toward)
        if isinstance(fresh, jtensor.Tensor):
            square.mul_(keep).add_(grad * grad * fresh)
        else:
            square.mul_(keep).addcmul_(grad, grad, value=fresh)
        if largest is not None:
            # A backward pass through several steps needs each maximum as it was.
            before = largest.clone() if group["differentiable"] else largest
            largest.copy_(jtensor.maximum(before, square))
            square = largest
        denominator = (square.sqrt() / root).add_(eps)
        add_quotient(p, mean.clone() if group["differentiable"] else mean, denominator, step)


def adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False, differentiable=False,
         fused=None, grad_scale=None, found_inf=None, has_complex=False, decoupled_weight_decay=False, *, amsgrad, beta1, beta2, lr,
         weight_decay, eps, maximize):
    """One step of `Adam` on lists of tensors, all of which change in place. The list of maxima is for ``amsgrad`` alone.

    >>> import jtensor as torch
    >>> p, zeros, steps = torch.tensor([1.]), [torch.zeros(1), torch.zeros(1)], [torch.tensor(0.)]
    >>> adam([p], [torch.tensor([2.])], zeros[:1], zeros[1:], [], steps, amsgrad=False, beta1=0.9, beta2=0.999, lr=0.25,
    ...      weight_decay=0, eps=1e-8, maximize=False)
    >>> p, zeros, steps
    (tensor([0.7500]), [tensor([0.2000]), tensor([0.0040])], [tensor(1.)])
    """
    if params:
        if fused and differentiable:
            raise RuntimeError("Adam with fused=True does not support differentiable=True")
        _check_foreach(lr, foreach and not fused, capturable)
    update_lists(Adam, params, grads, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "step": state_steps,
                                       "max_exp_avg_sq": max_exp_avg_sqs if amsgrad else None},
                 foreach=foreach, fused=fused, grad_scale=grad_scale, found_inf=found_inf, capturable=capturable,
                 differentiable=differentiable, decoupled_weight_decay=decoupled_weight_decay, amsgrad=amsgrad, betas=(beta1, beta2), lr=lr,
                 weight_decay=weight_decay, eps=eps, maximize=maximize)
