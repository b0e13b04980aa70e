"""LBFGS."""
import jtensor

from ._line_search import cubic_interpolate as _cubic_interpolate  # noqa: F401  which libraries ask for
from ._line_search import strong_wolfe
from ._method import check_lr, number
from .optimizer import Optimizer

__all__ = ["LBFGS"]

_REMEMBERED = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class LBFGS(Optimizer):
    """A quasi-Newton method: curvature is guessed from the last ``history_size`` changes of the gradient.

    One step makes up to ``max_iter`` iterations and calls the closure for each. It looks at values throughout. A single
    parameter group only: ValueError otherwise.

    >>> import jtensor as torch
    >>> p = torch.nn.Parameter(torch.tensor([3.]))
    >>> optimizer = torch.optim.LBFGS([p], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((p - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = optimizer.step(closure)
    >>> p.detach()
    tensor([1.])
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
                 line_search_fn=None):
        check_lr(lr)
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # ----------------------------------------------------------------------------------------- parameters as one vector

    def _flat_grad(self):
        views = []
        for p in self._params:
            view = jtensor.zeros(p.numel(), dtype=p.dtype, device=p.device) if p.grad is None else \
                (p.grad.to_dense() if p.grad.is_sparse else p.grad).reshape(-1)
            views.append(jtensor.view_as_real(view).reshape(-1) if view.is_complex() else view)
        return jtensor.cat(views, 0)

    def _move(self, length, direction):
        start = 0
        for p in self._params:
            p = jtensor.view_as_real(p) if p.is_complex() else p
            count = p.numel()
            p.add_(direction[start:start + count].view_as(p), alpha=number(length))
            start += count

    def _search(self, closure, t, d, loss, grad, slope, max_ls):
        """A line search, the parameters back at its beginning after every look ahead."""
        before = [p.clone(memory_format=jtensor.contiguous_format) for p in self._params]

        def evaluate(t):
            self._move(t, d)
            value = float(closure())
            found = self._flat_grad()
            for p, old in zip(self._params, before):
                p.copy_(old)
            return value, found

        return strong_wolfe(evaluate, t, d, loss, grad, slope, max_ls=max_ls)

    # ------------------------------------------------------------------------------------------------------------- step

    def step(self, closure):
        """Up to ``max_iter`` iterations; ``closure`` computes the loss anew, with gradients. Answers with the first loss."""
        with jtensor.no_grad():
            return self._step(jtensor.enable_grad()(closure))

    def _step(self, closure):
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, evaluations = float(first_loss), 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        memory = {name: state.get(name) for name in _REMEMBERED}
        n_iter = 0
        while n_iter < group["max_iter"]:
            n_iter += 1
            state["n_iter"] += 1
            d = self._direction(grad, memory, state, group)
            memory["prev_flat_grad"] = _copied(memory["prev_flat_grad"], grad)
            memory["prev_loss"] = loss
            lr = group["lr"].squeeze() if isinstance(group["lr"], jtensor.Tensor) else group["lr"]
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            memory["d"], memory["t"] = d, t
            slope = grad.dot(d)
            if slope > -group["tolerance_change"]:
                break
            loss, grad, t, looked = self._iterate(closure, t, d, loss, grad, slope, group, evaluations,
                                                  last=n_iter == group["max_iter"])
            memory["t"] = t
            evaluations += looked
            state["func_evals"] += looked
            if (n_iter == group["max_iter"] or evaluations >= group["max_eval"]
                    or grad.abs().max() <= group["tolerance_grad"] or d.mul(t).abs().max() <= group["tolerance_change"]
                    or abs(loss - memory["prev_loss"]) < group["tolerance_change"]):
                break
        state.update(memory)
        return first_loss

    def _iterate(self, closure, t, d, loss, grad, slope, group, evaluations, last):
        """Moves along ``d``: (loss, gradient, step length, evaluations made)."""
        name = group["line_search_fn"]
        if name is None:
            self._move(t, d)
            if last:  # nobody will ask for the loss there
                return loss, grad, t, 0
            loss = float(closure())
            return loss, self._flat_grad(), t, 1
        if name != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        loss, grad, t, looked = self._search(closure, t, d, loss, grad, slope, group["max_eval"] - evaluations)
        self._move(t, d)
        return loss, grad, t, looked

    def _direction(self, grad, memory, state, group):
        """Minus the gradient, times the guessed inverse of the curvature (the two-loop recursion)."""
        if state["n_iter"] == 1:
            memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        changes, steps, scales = memory["old_dirs"], memory["old_stps"], memory["ro"]
        change, step = grad.sub(memory["prev_flat_grad"]), memory["d"].mul(memory["t"])
        curvature = change.dot(step)
        if curvature > 1e-10:
            if len(changes) == group["history_size"]:
                for kept in (changes, steps, scales):
                    kept.pop(0)
            changes.append(change)
            steps.append(step)
            scales.append(1.0 / curvature)
            memory["H_diag"] = curvature / change.dot(change)
        weights = state.setdefault("al", [None] * group["history_size"])
        q = grad.neg()
        for i in reversed(range(len(changes))):
            weights[i] = steps[i].dot(q) * scales[i]
            q.sub_(changes[i] * weights[i])
        d = jtensor.mul(q, memory["H_diag"])
        for i in range(len(changes)):
            d.add_(steps[i] * (weights[i] - changes[i].dot(d) * scales[i]))
        return d


def _copied(target, source):
    if target is None:
        return source.clone(memory_format=jtensor.contiguous_format)
    return target.copy_(source)


def _strong_wolfe(obj_func, x, t, d, f, g, gtd, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """The line search as libraries call it: ``obj_func(x, t, d)`` gives value and gradient at ``x + t * d``."""
    return strong_wolfe(lambda t: obj_func(x, t, d), t, d, f, g, gtd, c1, c2, tolerance_change, max_ls)
