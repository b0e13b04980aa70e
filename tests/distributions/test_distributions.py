"""Distributions against live PyTorch: samples of one seed, densities, entropies, divergences, gradients, texts and refusals."""
import re
import warnings

import pytest

import jtensor

torch = pytest.importorskip("torch")

MADE = {
    "normal": "D.Normal(p, s)", "normal of numbers": "D.Normal(0., 2.)", "laplace": "D.Laplace(p, s)", "uniform": "D.Uniform(p, p + s)",
    "exponential": "D.Exponential(s)", "bernoulli": "D.Bernoulli(p)", "bernoulli of logits": "D.Bernoulli(logits=p)",
    "geometric": "D.Geometric(p)", "poisson": "D.Poisson(s)", "categorical": "D.Categorical(q)",
    "categorical of logits": "D.Categorical(logits=q)", "one hot": "D.OneHotCategorical(q)",
    "straight through": "D.OneHotCategoricalStraightThrough(logits=q)", "independent": "D.Independent(D.Normal(q, T.ones(2, 3)), 1)",
    "multivariate": "D.MultivariateNormal(T.zeros(2), m)", "of precision": "D.MultivariateNormal(T.ones(3, 2), precision_matrix=m)",
    "of a factor": "D.MultivariateNormal(T.ones(2), scale_tril=T.linalg.cholesky(m))",
}
ASKED = ["(str(d), tuple(d.batch_shape), tuple(d.event_shape), d.has_rsample, d.has_enumerate_support)", "d.mean", "d.mode", "d.variance",
         "d.stddev", "str(d.support)", "d.sample()", "d.sample((2,))", "d.rsample((2,)) if d.has_rsample else 0", "d.log_prob(x)",
         "d.entropy()", "d.cdf(x)", "d.icdf(T.tensor(.3))", "d.enumerate_support()", "d.enumerate_support(False)",
         "str(d.expand((4, *d.batch_shape)))", "d.expand((4, *d.batch_shape)).log_prob(x)", "d.log_prob(x + .5)", "d.log_prob(1.)",
         "d.log_prob(T.zeros(7, 5))", "D.kl_divergence(d, d.expand((2, *d.batch_shape)))"]


def answers(T, made, asked):
    """What a library answers: numbers as (dtype, shape, list), refusals as (type, text)."""
    T.manual_seed(0)
    from importlib import import_module
    names = {"T": T, "D": import_module(T.__name__ + ".distributions"), "p": T.tensor([.2, .5, .9]), "s": T.tensor([1., .5, 2.]),
             "q": T.tensor([[1., 2., 3.], [.5, .5, .1]]), "m": T.tensor([[2., .5], [.5, 1.]])}
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if made:
            names["d"] = eval(made, names)
            names["x"] = names["d"].sample()
        for text in asked:
            try:
                x = eval(text, names)
                found.append((text, str(x.dtype), tuple(x.shape), x.tolist()) if isinstance(x, T.Tensor) else (text, x))
            except Exception as error:
                found.append((text, type(error).__name__, re.sub("jtensor", "torch", str(error))))
    return found


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_a_distribution(made):
    for ours, theirs in zip(answers(jtensor, made, ASKED), answers(torch, made, ASKED), strict=True):
        assert ours[:3] == theirs[:3]
        if len(theirs) == 4:
            torch.testing.assert_close(torch.tensor(ours[3]), torch.tensor(theirs[3]), rtol=1e-5, atol=1e-6, equal_nan=True)


REFUSED = ["D.Normal(0., -1.)", "D.Normal(T.zeros(2), T.tensor([1., float('nan')]))", "D.Bernoulli(1.5)", "D.Bernoulli()",
           "D.Bernoulli(.5, .5)", "D.Categorical(T.tensor(1.))", "D.Categorical(T.tensor([-1., 2.]))", "D.Uniform(1., 1.)",
           "D.MultivariateNormal(T.zeros(2), -m)", "D.MultivariateNormal(T.zeros(2))", "D.MultivariateNormal(T.tensor(0.), m)",
           "D.MultivariateNormal(T.zeros(2), T.ones(2))", "D.Independent(D.Normal(0., 1.), 1)", "D.Normal('a', 1)", "D.Geometric(0.)",
           "str(D.Normal(0., -1., validate_args=False))", "D.Categorical(T.ones(2)).log_prob(T.tensor(2))",
           "D.Categorical.support.check(p)",
           "D.kl_divergence(D.Laplace(0., 1.), D.Bernoulli(.5))", "[str(getattr(D.constraints, k)) for k in "
           "'real positive unit_interval simplex boolean nonnegative_integer lower_cholesky positive_definite real_vector'.split()]",
           "str(D.constraints.integer_interval(0, 3)) + str(D.Categorical.support)"]


def test_refusals_and_texts():
    for ours, theirs in zip(answers(jtensor, "", REFUSED), answers(torch, "", REFUSED), strict=True):
        assert ours == theirs


def test_divergences_of_two_kinds():
    asked = ["D.kl_divergence(D.Normal(p, s), D.Laplace(s, p))", "D.kl_divergence(D.Laplace(p, s), D.Normal(s, p))",
             "D.kl_divergence(D.Uniform(p, p + s), D.Normal(s, p))", "D.kl_divergence(D.Bernoulli(p), D.Bernoulli(T.tensor([0., 1., .5])))",
             "D.kl_divergence(D.Uniform(0., 2.), D.Uniform(p * 0, p * 3))", "D.kl_divergence(D.Categorical(q), D.Categorical(logits=q))"]
    for ours, theirs in zip(answers(jtensor, "", asked), answers(torch, "", asked), strict=True):
        assert ours[3] == pytest.approx(theirs[3], rel=1e-5, abs=1e-6)


def test_gradients_through_samples_and_through_log_probabilities():
    def gradients(T):
        T.manual_seed(0)
        loc, spread, logits = T.zeros(3, requires_grad=True), T.zeros(3, requires_grad=True), T.linspace(-1, 1, 6).view(2, 3)
        logits.requires_grad_()
        normal, chosen = T.distributions.Normal(loc, spread.exp()), T.distributions.Categorical(logits=logits)
        z, action = normal.rsample(), chosen.sample()
        loss = (z**2 + normal.log_prob(z)).sum() - (chosen.log_prob(action) * T.arange(2.0)).sum() - 0.01 * chosen.entropy().mean()
        loss.backward()
        return sum((t.flatten().tolist() for t in (loc.grad, spread.grad, logits.grad)), [])
    assert gradients(jtensor) == pytest.approx(gradients(torch), rel=1e-5, abs=1e-6)
