"""`gradcheck` and `gradgradcheck`: gradients against central differences, with PyTorch's conditions and messages.

Owns: the two functions and `GradcheckError`. Numbers are compared on the host. The public interface is imported when a function is called.
``fast_mode`` makes the same full check.
"""
import warnings

import numpy as np

from ..base.errors import missing
from .undefined import GradcheckError, host, is_sparse, tupled, with_history, without_gradients, zero_times_gradient

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
              check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
              check_backward_ad=True, fast_mode=False, masked=None):
    """Whether the gradients of ``func`` at ``inputs`` (double precision) are those of central differences; raises where they are not.

    >>> x = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    for name, needed, value, there in (("check_batched_grad", "check_backward_ad", check_batched_grad, check_backward_ad),
                                       ("check_batched_forward_grad", "check_forward_ad", check_batched_forward_grad, check_forward_ad)):
        if value and not there:
            raise AssertionError(f"Setting {name}=True requires {needed} to be True")
    try:
        inputs = tupled(inputs)
        if check_backward_ad:
            _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, masked)
        if check_forward_ad:
            _check_forwards(func, inputs, eps, atol, rtol)
        if check_batched_grad:
            _check_batch(*_backward_of_rows(func, inputs))
        if check_batched_forward_grad:
            _check_batch(*_columns(func, inputs))
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
                  check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    """Whether the gradients of the gradients are those of central differences.

    >>> x = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, (x,))
    True
    """
    import jtensor as torch
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if not check_rev_over_rev:
        for name, value in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
            if value:
                raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    inputs = tupled(inputs)
    if grad_outputs is None:
        weights = tuple([_random_like(out, gen_non_contig_grad_outputs) for out in with_history(func(*inputs))])
    else:
        weights = tupled(grad_outputs)
    count = len(weights)

    def gradient(*args):
        given = args[:len(args) - count]
        chosen = tuple([t for t in given if isinstance(t, torch.Tensor) and t.requires_grad])
        grads = torch.autograd.grad(with_history(func(*given)), chosen, args[len(args) - count:], create_graph=True, allow_unused=True)
        return tuple([g for g in grads if g is not None])
    return gradcheck(gradient, inputs + weights, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, masked=masked)


def _random_like(out, strided):
    import jtensor as torch
    made = (torch.rand(tuple(out.shape), dtype=out.dtype) * 2 - 1).detach()
    if strided and made.numel() > 1:
        made = torch.stack([made, made], -1)[..., 0]
    return made.requires_grad_()


# -- the check --------------------------------------------------------------------------------------------------------


def _check(func, inputs, eps, atol, rtol, nondet_tol, undefined, dtypes, masked):
    chosen = _inputs_checked(inputs)
    given = func(*inputs)
    outputs = with_history(given)
    if any(is_sparse(o) for o in outputs):
        raise ValueError("Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output of fn for "
                         "gradcheck.")
    if not outputs:
        _nothing_differentiable(func, inputs, chosen, given, eps)
        return
    parts = [(lambda o: o, "")]
    if any(o.is_complex() for o in outputs):
        parts = [(lambda o: o.imag if o.is_complex() else None, "While considering the imaginary part of complex outputs only, "),
                 (lambda o: o.real if o.is_complex() else o, "While considering the real part of complex outputs only, ")]
    for part, lead in parts:
        _compare(func, inputs, chosen, part, lead, eps, atol, rtol, nondet_tol, dtypes, masked)
    zero_times_gradient(outputs, chosen)
    if undefined:
        without_gradients(func, inputs, chosen)


def _inputs_checked(inputs):
    """The inputs that require grad."""
    import jtensor as torch
    chosen = []
    for at, t in enumerate(inputs):
        if not isinstance(t, torch.Tensor) or not t.requires_grad:
            continue
        if t.dtype not in (torch.float64, torch.complex128):
            warnings.warn(f"Input #{at} requires gradient and is not a double precision floating point or complex. This check will "
                          f"likely fail "
                          "if all the inputs are not of double precision floating point or complex. ", stacklevel=4)
        content = t._values() if is_sparse(t) else t
        if any(stride == 0 and size > 1 for stride, size in zip(content.stride(), content.shape, strict=True)):
            raise RuntimeError(f"The {at}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                               f"non-overlapping to be "
                               "able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                               "passing it "
                               "to gradcheck.")
        t.retain_grad()
        chosen.append((at, t))
    if not chosen:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")
    return chosen


def _compare(func, inputs, chosen, part, lead, eps, atol, rtol, nondet_tol, dtypes, masked):
    import jtensor as torch
    outputs, given = [part(o) for o in with_history(func(*inputs))], inputs
    if not masked and any(is_sparse(t) for _, t in chosen):                 # elements that a sparse tensor has not are varied, too
        given = tuple([torch.sparse.gradchecking.densified(x) for x in inputs])

    def values():
        return [part(o) for o in with_history(func(*given))]
    numerical = {at: _numerical(values, given[at], eps) for at, _ in chosen}
    for nr, out in enumerate(outputs):
        if out is None:
            continue
        analytical = _analytical(out, chosen, nondet_tol, dtypes)
        for which, ((at, t), found) in enumerate(zip(chosen, analytical, strict=True)):        # counted as PyTorch counts
            expected = numerical[at][nr]
            if expected is not None and not np.allclose(found, expected, rtol, atol, equal_nan=False):
                raise GradcheckError(f"{lead}Jacobian mismatch for output {nr} with respect to input {which},\n"
                                     f"numerical:{_shown(expected, t)}\nanalytical:{_shown(found, t)}\n")


def _check_forwards(func, inputs, eps, atol, rtol):
    """The same of tangents: each column is a derivative in the direction of one element."""
    chosen = _inputs_checked(inputs)
    if any(is_sparse(t) for _, t in chosen):
        raise missing("forward-mode gradcheck of sparse inputs", "check_backward_ad=True")
    kinds = [_is_continuous(o) for o in tupled(func(*inputs))]

    def values():
        return [o for o, kind in zip(tupled(func(*inputs)), kinds, strict=True) if kind]
    for which, (at, t) in enumerate(chosen):
        numerical, found = _numerical(values, t, eps), _tangents(func, inputs, at, t, kinds)
        for nr, expected in enumerate(numerical):
            if expected is not None and not np.allclose(found[nr], expected, rtol, atol, equal_nan=False):
                raise GradcheckError(f"Jacobian computed with forward mode mismatch for output {nr} with respect to input {which},\n"
                                     f"numerical:{_shown(expected, t)}\nanalytical:{_shown(found[nr], t)}\n")


def _is_continuous(x):
    return hasattr(x, "dtype") and (x.is_floating_point() or x.is_complex())


def _tangents(func, inputs, at, t, kinds):
    """For each continuous output a matrix (elements of ``t``, of the output) of its derivatives."""
    columns = []
    for place in range(t.numel()):
        column = [host(x) for x in _tangent(func, inputs, at, _direction(t, place), kinds)]
        if t.is_complex():                               # as differences are combined: the slope along i counts i times
            along = [host(x) for x in _tangent(func, inputs, at, _direction(t, place) * 1j, kinds)]
            column = [a + 1j * b for a, b in zip(column, along, strict=True)]
        columns.append(column)
    return [np.array(rows) for rows in zip(*columns, strict=True)]


def _direction(t, place):
    import jtensor as torch
    made = torch.zeros(t.numel(), dtype=t.dtype)
    made[place] = 1
    return made.view(t.shape)


def _tangent(func, inputs, at, direction, kinds):
    """The tangents of the continuous outputs for one of the inputs' ``at``."""
    import jtensor as torch
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        given = [ad.make_dual(x, direction) if nr == at else x for nr, x in enumerate(inputs)]
        outputs = [ad.unpack_dual(o) for o, kind in zip(tupled(func(*given)), kinds, strict=True) if kind]
        return [torch.zeros_like(o.primal) if o.tangent is None else o.tangent for o in outputs]


# -- batches of them --------------------------------------------------------------------------------------------------


def _backward_of_rows(func, inputs):
    """A backward of random gradients, and some of these."""
    import jtensor as torch
    outputs, tensors = with_history(func(*inputs)), [t for _, t in _inputs_checked(inputs)]

    def backward(*grads):
        found = torch.autograd.grad(outputs, tensors, grads, retain_graph=True, allow_unused=True)
        return [g for g in found if g is not None]
    return backward, [torch.randn(2, *o.shape, dtype=o.dtype) for o in outputs], "Vmap for the backward"


def _columns(func, inputs):
    """Derivatives in a random direction, and some of these."""
    import jtensor as torch
    kinds, chosen = [_is_continuous(o) for o in tupled(func(*inputs))], _inputs_checked(inputs)

    def forward(*directions):
        return [x for (at, _), d in zip(chosen, directions, strict=True) for x in _tangent(func, inputs, at, d, kinds)]
    return forward, [torch.randn(2, *t.shape, dtype=t.dtype) for _, t in chosen], "Vmap for forward AD"


def _check_batch(function, rows, what):
    """A function of a batch answers what it answers for each."""
    import jtensor as torch
    if not rows:
        return
    each = [function(*row) for row in zip(*rows, strict=True)]
    found = torch.func.vmap(function)(*rows)
    for batch, expected in zip(found, zip(*each, strict=True), strict=True):
        if not torch.allclose(batch, torch.stack(list(expected))):
            raise GradcheckError(f"{what} gives other numbers than one call after the other:\n{batch}\nand\n{torch.stack(list(expected))}")


def _shown(matrix, like):
    import jtensor as torch
    return torch.from_numpy(np.ascontiguousarray(matrix)).to(like.dtype)


def _numerical(values, t, eps):
    """For each output a matrix (elements of ``t``, of the output) of central differences; ``t`` is changed in place and restored."""
    def seen():                                          # at once: an output may be the input itself
        return [o if o is None else (o.shape, o.dtype, host(o)) for o in values()]
    import jtensor as torch
    (data, numbers), columns = torch.sparse.gradchecking.varied(t) if is_sparse(t) else (t.data, None), []
    before = host(data).reshape(tuple(data.shape))
    for place in np.ndindex(*before.shape):
        column = None
        for step in (eps, eps * 1j) if t.is_complex() else (eps,):
            old = before[place].item()
            data[place] = old + step
            high = seen()
            data[place] = old - step
            low = seen()
            data[place] = old
            slopes = [None if h is None else _slope(w, h, place, step, eps) for h, w in zip(high, low, strict=True)]
            column = slopes if column is None else [None if a is None else a + 1j * b for a, b in zip(column, slopes, strict=True)]
        columns.append(column)
    outputs = len(columns[0]) if columns else len(values())
    if numbers is not None and columns:
        found = dict(zip(numbers.tolist(), columns, strict=True))
        nothing = [None if c is None else 0 * c for c in columns[0]]
        columns = [found.get(number, nothing) for number in range(t.numel())]
    return [np.array([c[nr] for c in columns]) if columns and columns[0][nr] is not None else None for nr in range(outputs)]


def _slope(low, high, place, step, eps):
    """The difference quotient of two (shape, dtype, elements). AssertionError where these are not alike."""
    for what, a, b in (("shape", low[0], high[0]), ("dtype", low[1], high[1])):
        if a != b:
            raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are perturbed on index {place} by "
                                 f"{step}, but got: {what}s {a} and {b}.")
    return (high[2] - low[2]) / (2 * eps)


def _analytical(out, chosen, nondet_tol, dtypes):
    """For each input the matrix of gradients of the output's elements; computed twice, as a backward may not be deterministic."""
    first, second = (_rows(out, chosen, dtypes) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        if not np.allclose(a, b, rtol=0, atol=nondet_tol, equal_nan=True):
            raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                                 "different values, although analytical gradient matches numerical gradient.The tolerance for "
                                 "nondeterminism "
                                 f"was {nondet_tol}.")
    return first


def _rows(out, chosen, dtypes):
    import jtensor as torch
    matrices = [np.zeros((t.numel(), out.numel()), _kind(t)) for _, t in chosen]
    for k in range(out.numel()):
        weight = torch.zeros(out.numel(), dtype=out.dtype)
        weight[k] = 1
        grads = torch.autograd.grad(out, [t for _, t in chosen], weight.view(out.shape), retain_graph=True, allow_unused=True)
        for matrix, (_, t), g in zip(matrices, chosen, grads, strict=True):
            if g is None:
                continue
            if g.shape != t.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            if dtypes and g.dtype != t.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
            matrix[:, k] = host(g.to_dense())
    return matrices


def _kind(t):
    return np.complex128 if t.is_complex() else np.float64


def _nothing_differentiable(func, inputs, chosen, given, eps):
    """An output without history must not depend on the inputs."""
    kinds = [hasattr(o, "dtype") and (o.is_floating_point() or o.is_complex()) for o in tupled(given)]

    def values():
        return [o for o, differentiable in zip(tupled(func(*inputs)), kinds, strict=True) if differentiable]
    for _, t in chosen:
        if any(np.any(matrix != 0) for matrix in _numerical(values, t, eps)):
            raise GradcheckError("Numerical gradient for function expected to be zero")
