"""Numbers that are drawn for each element of a tensor, which holds their distributions' parameters.

Owns: the history that such numbers have (their gradient and their tangent are zero, or refused), and the functions `bernoulli`,
`multinomial`, `poisson`, `binomial`, `normal` of tensors, gamma and Dirichlet samples. These look at the tensor, but for `bernoulli` on an
accelerator; of `normal`'s they look at standard deviations, for negative ones, and its numbers are those of `fills`. May not know: how a
distribution is sampled.
"""
import numpy as np

from ..base import devices, dtypes
from ..ops.build import broadcast_shapes
from ..ops.families.gammas import _standard_gamma_grad
from ..ops.families.numeric import no_derivative
from ..ops.operator import Tensor as TensorKind
from ..ops.operator import op
from ..ops.quirks import NONE, Quirks
from ..tensor import looking
from ..tensor.dispatch import write_out
from ..tensor.lifted.duals import has_tangent
from ..trace.tape import LOCAL
from . import checks, discrete, rejection
from .arguments import a_generator, a_number, a_tensor, an_integer, engine_of, host_engine_of
from .counter import Counter
from .fills import bernoulli_, check_probabilities, normal_
from .placing import drawn, memory_order, target, undrawn


def _result(name, backward, grad=None, nondiff=("values",), quirks=NONE):
    """The operator that gives drawn numbers the history of the tensor they were drawn for: its gradient is zero, or refused."""
    extra = {"grad": grad} if grad else {"saves": (), "double": "-"}

    @op(layout="contiguous", nondiff=nondiff, name=name, backward=backward, function=False, method=False, quirks=quirks, **extra)
    def result(self: TensorKind, values: TensorKind):
        return values
    return result


_REAL_ONLY = Quirks(real_only="normal")
_BERNOULLI = _result("bernoulli_of", "BernoulliBackward0")
_BERNOULLI_P = _result("bernoulli_p_of", "NotImplemented", no_derivative("bernoulli", "self"))
_POISSON = _result("poisson_of", "PoissonBackward0")
_MEAN = _result("normal_of_mean", "NormalBackward1", quirks=_REAL_ONLY)
_STD = _result("normal_of_std", "NormalBackward2", quirks=_REAL_ONLY)
_BINOMIAL = _result("binomial_of", "NotImplemented", no_derivative("binomial", "self"))
_GAMMA = _result("standard_gamma_of", "StandardGammaBackward0", lambda grad, self, result: grad * _standard_gamma_grad.body(self, result))
_DIRICHLET = _result("dirichlet_of", "NotImplemented", no_derivative("_sample_dirichlet", "self"))


@op(layout="contiguous", saves=(), nondiff=("values",), name="normal_of_both", backward="NormalBackward3", function=False, method=False,
    double="-", quirks=_REAL_ONLY)
def _both(self: TensorKind, std: TensorKind, values: TensorKind):
    return values


def _with_history(operator, values, *inputs):
    return operator(*inputs, values) if any(map(_leads_on, inputs)) else values


def _leads_on(x):
    """Whether a derivative by a tensor is asked for, backwards or forwards."""
    return (x.requires_grad and LOCAL.grad_enabled) or has_tangent(x)


def _host(input, reason):
    return np.require(looking.host_copy(input.detach(), reason), requirements="C")


def normal_for(mean, std, tensors, generator, out):
    """``normal`` for tensors: standard normal numbers, stretched and shifted."""
    inputs = [x for x, is_tensor in zip((mean, std), tensors) if is_tensor]
    if tensors[1]:
        if std.is_complex():
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if not std.is_meta:
            checks.normal_deviations(_host(std, "normal"))
    first, shape = inputs[0].detach(), inputs[0].shape
    if all(tensors) and mean.shape != std.shape:
        shape = broadcast_shapes((tuple(mean.shape), tuple(std.shape)))
    if out is None:
        made = first.new_empty(shape)
    else:
        if out.shape != shape and not tensors[1]:
            broadcast_shapes((tuple(shape), tuple(out.shape)))
        elif out.shape != shape:
            from ..autograd import gradmode_checks
            gradmode_checks.warn_resize(out, first.new_empty(shape, device="meta"))
        made = target(out, "normal", shape, composite=False)
    previous, LOCAL.grad_enabled = LOCAL.grad_enabled, False
    try:
        normal_(made, 0.0, 1.0 if tensors[1] else a_number(std, "normal", "std", 2), generator=generator)
        if tensors[1]:
            made.mul_(std.detach())                     # the numbers' derivative is zero, forwards too
        if made.numel() or tensors[0]:                  # of no numbers the dtype is not asked for either
            made.add_(mean.detach() if tensors[0] else mean)
    finally:
        LOCAL.grad_enabled = previous
    if out is not None:
        return made
    made._counter.version = 0                            # how it was made does not count
    return _with_history(_both if all(tensors) else _STD if tensors[1] else _MEAN, made, *inputs)


def bernoulli(input, p=None, *, generator=None, out=None):
    """Zeros and ones, each a one with the probability that the input holds there (or, all of them, with ``p``)."""
    a_tensor(input, "bernoulli")
    a_generator(generator, "bernoulli", (input,))
    if out is not None:
        return bernoulli_(target(out, "bernoulli", input.shape, composite=False), input, generator=generator)
    spec = input._spec
    engine = engine_of(generator, "bernoulli", device=spec.device)
    if p is None and type(engine) is not Counter and spec.device is not devices.meta:
        ordered = np.ascontiguousarray(looking.host_copy(input, "bernoulli")).reshape(-1)
        check_probabilities(engine, ordered, spec.dtype)
        made = drawn(discrete.bernoulli_from(engine, ordered), spec.size, spec.dtype, spec.device)
        return _with_history(_BERNOULLI, made, input)
    made = input.detach().new_empty(input.shape)
    if p is None:
        bernoulli_(made, input, generator=generator)
    else:
        bernoulli_(made, a_number(p, "bernoulli", "p", 2), generator=generator)
    made._counter.version = 0
    return _with_history(_BERNOULLI if p is None else _BERNOULLI_P, made, input)


def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """``num_samples`` category numbers for each row of probabilities.

    >>> _ = torch.manual_seed(0)
    >>> torch.multinomial(torch.tensor([0., 10, 3, 0]), 2)
    tensor([1, 2])
    """
    a_tensor(input, "multinomial")
    num_samples = an_integer(num_samples, "multinomial", "num_samples", 2)
    if not isinstance(replacement, bool):
        raise TypeError(f"multinomial(): argument 'replacement' must be bool, not {type(replacement).__name__}")
    engine = host_engine_of(generator, "multinomial", input.device)
    if out is not None and out.dtype is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {dtypes.scalar_name(out.dtype)}")
    if input.is_meta:
        return undrawn((*input.shape[:-1], num_samples), dtypes.int64, input.device)
    p = _host(input, "multinomial")
    checks.multinomial(p, num_samples, replacement)
    if not replacement or num_samples == 1:         # drawn along the memory of the weights
        chosen = _without_replacement(engine, input._spec, p, num_samples)
    else:
        chosen = discrete.multinomial(engine, p, num_samples, True)
    made = drawn(np.ascontiguousarray(chosen).reshape(-1), chosen.shape, dtypes.int64, input.device)
    if out is None:
        return made
    write_out(made, target(out, "multinomial", made.shape, composite=False))
    return out


def _without_replacement(engine, spec, p, samples):
    if spec.contiguous or p.ndim < 2 or 0 in spec.stride or memory_order(spec) == [0, 1]:      # an expanded one's memory has no order
        return discrete.multinomial(engine, p, samples, False)
    return discrete.multinomial(engine, p, samples, False, columns_first=True)


def poisson(input, generator=None):
    """Numbers of the Poisson distribution, one for each rate."""
    a_tensor(input, "poisson")
    engine = host_engine_of(generator, "poisson", input.device)
    if input.is_meta:
        return undrawn(input.shape, input.dtype, input.device)
    rates = _host(input, "poisson")
    checks.poisson(rates)
    made = drawn(np.ascontiguousarray(rejection.poisson(engine, rates)).reshape(-1), input.shape, input.dtype, input.device)
    return _with_history(_POISSON, made, input)


def binomial(count, prob, generator=None):
    """Numbers of the binomial distribution, one for each pair of a count and a probability."""
    a_tensor(count, "binomial", "count", 1)
    a_tensor(prob, "binomial", "prob", 2)
    engine = host_engine_of(generator, "binomial", count.device)
    for what, x in (("count", count), ("prob", prob)):
        if not x.is_floating_point():
            raise ValueError(f"binomial only supports floating-point dtypes for {what}, got: {dtypes.scalar_name(x.dtype)}")
    if count.dtype is not prob.dtype:
        raise RuntimeError(f"Found dtype {dtypes.scalar_name(prob.dtype)} but expected {dtypes.scalar_name(count.dtype)}")
    checks.kernel_has("binomial", count.dtype)
    shape = tuple(count.shape) if count.shape == prob.shape else broadcast_shapes((tuple(count.shape), tuple(prob.shape)))
    n, p = (np.broadcast_to(_host(x, "binomial"), shape).reshape(-1) for x in (count, prob))
    return _with_history(_BINOMIAL, drawn(rejection.binomial(engine, n, p), shape, count.dtype, count.device),
                         count if _leads_on(count) else prob)


def _standard_gamma(input, generator=None):
    """Numbers of the gamma distribution of scale 1, one for each concentration; these have an implicit gradient."""
    checks.kernel_has("_standard_gamma", a_tensor(input, "_standard_gamma").dtype)
    made = rejection.standard_gamma(host_engine_of(generator, "_standard_gamma", input.device), _host(input, "_standard_gamma"))
    return _with_history(_GAMMA, drawn(np.ascontiguousarray(made).reshape(-1), input.shape, input.dtype, input.device), input)


def _sample_dirichlet(input, generator=None):
    """Numbers of the Dirichlet distribution, for concentrations along the last dimension."""
    checks.kernel_has("_sample_dirichlet", a_tensor(input, "_sample_dirichlet").dtype)
    made = rejection.dirichlet(host_engine_of(generator, "_sample_dirichlet", input.device), _host(input, "_sample_dirichlet"))
    return _with_history(_DIRICHLET, drawn(np.ascontiguousarray(made).reshape(-1), input.shape, input.dtype, input.device), input)
