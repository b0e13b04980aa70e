"""Distributions against PyTorch, live and stored: samples of one seed, densities, entropies, divergences, gradients, texts and refusals."""
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import jtensor
from jtensor import distributions as D

sys.path.insert(0, str(Path(__file__).resolve().parent))
import distribution_cases as cases
from distribution_cases import agree

# Samples of these go through functions that XLA rounds elsewhere in the last bit, on some processors at least; all others have to be
# PyTorch's bit for bit.
ROUNDED = {
    "laplace": "log1p", "multivariate": "a product of matrices", "of a factor": "a product of matrices",
    "continuous bernoulli": "logarithms", "continuous bernoulli of logits": "logarithms", "generalized pareto": "expm1",
    "gumbel": "logarithms", "gumbel of numbers": "logarithms", "inverse gamma": "a power", "lkj": "a norm", "lkj of a number": "a norm",
    "log normal": "exp", "logistic normal": "a logistic function", "low rank": "a product of matrices", "pareto": "exp",
    "relaxed bernoulli": "logarithms", "relaxed bernoulli of logits": "logarithms", "relaxed one hot": "logarithms", "transformed": "exp",
    "transformed vectors": "a logistic function", "wishart": "a product of matrices", "wishart of a factor": "a product of matrices",
    "wishart of precision": "a product of matrices", "double von mises": "acos",
}
STORED = json.loads(cases.GOLDENS.read_text())


def drawn_alike(name):
    """What has to be the same bit for bit."""
    return lambda text: "sample" in text and name not in ROUNDED


@pytest.mark.parametrize("name", cases.MADE)
def test_a_distribution(name):
    agree(cases.answers(jtensor, cases.MADE[name], cases.ASKED), STORED[name], drawn_alike(name))


def test_what_is_stored_is_what_pytorch_answers():
    torch = pytest.importorskip("torch")
    assert STORED.keys() == cases.MADE.keys()
    for name, made in cases.MADE.items():
        agree(STORED[name], cases.answers(torch, made, cases.ASKED), drawn_alike(name))       # its functions have other bits elsewhere, too


def test_many_samples_bit_for_bit():
    torch = pytest.importorskip("torch")
    asked = [f"{made}.sample((500,))" for name, made in cases.MADE.items() if name not in ROUNDED]
    agree(cases.answers(jtensor, "", asked), cases.answers(torch, "", asked), lambda text: True)


def test_what_is_rounded_is_near():
    torch = pytest.importorskip("torch")
    assert ROUNDED.keys() <= cases.MADE.keys()
    asked = [f"{cases.MADE[name]}.sample((1000,))" for name in ROUNDED]
    for ours, theirs in zip(cases.answers(jtensor, "", asked), cases.answers(torch, "", asked), strict=True):
        assert ours[:3] == theirs[:3]
        # In a thousand samples one minus a square is small once; the root of its last bit is far from that of nothing.
        a, b = np.array(ours[3]), np.array(theirs[3])
        far = ~np.isclose(a, b, 1e-3, 1e-5)
        np.testing.assert_allclose(a[far] ** 2, b[far] ** 2, 0, 3e-7, err_msg=ours[0])


@pytest.mark.parametrize("made", [made for name, made in cases.MADE.items() if " of " not in name and "double" not in name])
def test_gradients_of_samples_and_of_log_probabilities(made):
    torch = pytest.importorskip("torch")
    ours, theirs = (cases.gradients(T, made) for T in (jtensor, torch))
    assert ours.keys() == theirs.keys()
    for name in ours:
        if isinstance(ours[name], str):
            assert ours[name] == theirs[name]           # of a Wishart distribution's samples PyTorch can make none
            continue
        # PyTorch approximates the slopes of gamma and Dirichlet samples, to some 1e-3; they have a test of their own below
        rtol, atol = (4e-3, 1e-3) if "rsample" in name else (2e-5, 1e-5)
        np.testing.assert_allclose(ours[name], theirs[name], rtol, atol, err_msg=name)


def test_slopes_of_gamma_and_beta_samples_are_those_of_their_distribution_functions():
    """dz/da = -(dF/da) / f, the left by differences of the inverse that scipy has, or of what is known in closed form."""
    # an exponential's F(z; 1) = 1 - exp(-z) and a uniform's F(x; 1, 1) = x, differentiated in the concentration at 1 by hand
    z = np.array([0.1, 1.0, 3.0])
    below = np.array([integral(lambda t: math.log(t) * math.exp(-t), x) for x in z])
    slope = -(below + 0.5772156649015329 * (1 - np.exp(-z))) / np.exp(-z)
    found = jtensor._standard_gamma_grad(jtensor.ones(3, dtype=jtensor.float64), jtensor.tensor(z.tolist(), dtype=jtensor.float64))
    np.testing.assert_allclose(found.tolist(), slope, 1e-6)
    x = jtensor.tensor([0.1, 0.5, 0.9], dtype=jtensor.float64)
    found = jtensor._dirichlet_grad(x, jtensor.ones_like(x), 2 * jtensor.ones_like(x))
    np.testing.assert_allclose(found.tolist(), (-x * x.log() / (1 - x)).tolist(), 1e-12)       # F(x; a, 1) = x^a
    torch = pytest.importorskip("torch")
    a, x = np.exp(np.linspace(-4, 6, 40)), np.linspace(0.02, 0.98, 40)
    theirs = torch._dirichlet_grad(*(torch.tensor(v) for v in (x, a, a + 2)))
    ours = jtensor._dirichlet_grad(*(jtensor.tensor(v.tolist(), dtype=jtensor.float64) for v in (x, a, a + 2)))
    np.testing.assert_allclose(ours.tolist(), theirs.tolist(), 3e-3)


def integral(f, end):
    """From 0 on, of a function that may be infinite there, slowly: t = u^4."""
    u = (np.arange(20_000) + 0.5) / 20_000 * end**0.25
    return sum(f(t) * 4 * v**3 for t, v in zip((u**4).tolist(), u.tolist())) * end**0.25 / 20_000


def test_what_of_a_slope_is_refused():
    torch = pytest.importorskip("torch")
    asked = ["T._standard_gamma_grad(p.clone().requires_grad_(), s).sum().backward()",
             "T._dirichlet_grad(p.clone().requires_grad_(), s, s).sum().backward()", "T._standard_gamma_grad(p, s.double())",
             "T._standard_gamma_grad(p, m)", "T._dirichlet_grad(p.half(), p.half(), p.half())",
             "T._standard_gamma_grad(p.int(), p.int())", "T._dirichlet_grad(T.ones(2), T.ones(2), T.ones(2))",
             "T._standard_gamma(p.clone().requires_grad_()).grad_fn.name()", "D.Gamma(p.clone().requires_grad_(), s).sample().grad_fn"]
    agree(cases.answers(jtensor, "", asked), cases.answers(torch, "", asked))


@pytest.mark.parametrize("name", ["beta", "gamma", "dirichlet", "gumbel", "half normal", "kumaraswamy", "log normal", "low rank", "mixture",
                                  "multinomial", "negative binomial", "student", "weibull", "continuous bernoulli"])
def test_samples_have_the_moments(name):
    jtensor.manual_seed(1)
    names = {"T": jtensor, "D": D, "p": jtensor.tensor([0.2, 0.5, 0.9]), "s": jtensor.tensor([3.0, 2.5, 4.0]),
             "q": jtensor.tensor([[1.0, 2.0, 3.0], [0.5, 0.5, 0.1]])}
    d = eval(cases.MADE[name], names)
    x = d.sample((4000,)).double()
    spread = d.variance.double()
    assert ((x.mean(0) - d.mean).abs() <= 5 * (spread / 4000).sqrt() + 1e-6).all()
    finite = spread < 20
    assert ((x.var(0) / spread - 1).abs()[finite] < 0.6).all()


def test_refusals_and_texts():
    torch = pytest.importorskip("torch")
    agree(cases.answers(jtensor, "", cases.REFUSED), cases.answers(torch, "", cases.REFUSED))


def test_divergences():
    torch = pytest.importorskip("torch")
    asked = list(cases.pairs())
    ours = cases.answers(jtensor, "", asked)
    agree(ours, cases.answers(torch, "", asked))
    assert sum(len(x) == 4 for x in ours) > 80
    lowrank, full = "D.LowRankMultivariateNormal(T.ones(2), m, p[1:])", "D.MultivariateNormal(T.zeros(2), T.stack([m, m + T.eye(2)]))"
    crossed = [f"D.kl_divergence({lowrank}, {full})", f"D.kl_divergence({full}, {lowrank})",
               "D.kl_divergence(D.Independent(D.Gamma(q, q), 1), D.Independent(D.Gamma(q + 1, q), 1))",
               "D.kl_divergence(D.Independent(D.Gamma(q, q), 1), D.Independent(D.Gamma(q + 1, q), 2))",
               "D.kl_divergence(D.Uniform(0., 2.), D.Uniform(p * 0, p * 3))", "D.kl_divergence(D.Categorical(q), D.Categorical(logits=q))"]
    agree(cases.answers(jtensor, "", crossed), cases.answers(torch, "", crossed))


def test_a_divergence_of_ones_own():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, D.Normal)
    def _mine(p, q):
        return "mine"

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)) == "mine"
    assert D.kl_divergence(D.Normal(0.0, 1.0), Mine(0.0, 1.0)).item() == 0.0


@pytest.mark.parametrize("library", ["jtensor", "torch"])
def test_a_divergence_that_could_be_two_is_told_of(library):
    D = pytest.importorskip(library).distributions

    class Mine(D.Normal):
        pass

    class Yours(Mine):
        pass

    D.register_kl(Mine, D.Normal)(lambda p, q: "to normal")
    D.register_kl(D.Normal, Mine)(lambda p, q: "from normal")
    for p, q in ((Mine, Mine), (Yours, Mine), (Mine, Yours)):
        told = rf"Ambiguous kl_divergence\({p.__name__}, {q.__name__}\). Please register_kl\(Mine, Mine\)"
        with pytest.warns(RuntimeWarning, match=told):
            assert D.kl_divergence(p(0.0, 1.0), q(0.0, 1.0)) == "to normal"


def test_a_distribution_of_ones_own_expands_by_pytorchs_helper():
    class Mine(D.Distribution):
        arg_constraints, support = {"loc": D.constraints.real}, D.constraints.real

        def __init__(self, loc, validate_args=None):
            self.loc = loc
            super().__init__(loc.shape, validate_args=validate_args)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Mine, _instance)
            new.loc = self.loc.expand(batch_shape)
            super(Mine, new).__init__(batch_shape, validate_args=False)
            return new

    assert Mine(jtensor.zeros(2)).expand((3, 2)).batch_shape == (3, 2)


def test_a_support_that_depends_on_the_parameters_is_a_constraint_of_the_class_too():
    for kind in (D.Uniform, D.Pareto, D.Binomial, D.Categorical, D.GeneralizedPareto):
        assert D.constraints.is_dependent(kind.support)
        assert kind.support.event_dim == 0 and kind.support.is_discrete is (kind in (D.Binomial, D.Categorical))
    assert D.Uniform(0.0, 2.0).support.check(jtensor.tensor([1.0, 3.0])).tolist() == [True, False]


def test_gradients_through_samples_and_through_log_probabilities():
    torch = pytest.importorskip("torch")

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


def test_what_pytorch_keeps_under_names_of_its_own():
    torch = pytest.importorskip("torch")
    ours, theirs = (sorted((p.__name__, q.__name__) for p, q in T.distributions.kl._KL_REGISTRY if hasattr(T.distributions, p.__name__))
                    for T in (jtensor, torch))                           # other tests register divergences of their own
    assert ours == theirs
    key = D.Normal, D.Normal
    p, q = D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)
    assert D.kl._KL_REGISTRY[key](p, q) == D.kl_divergence(p, q) and D.kl._KL_MEMOIZE[key] is D.kl._KL_REGISTRY[key]
    inverse = D.transforms.ExpTransform().inv
    assert type(inverse) is D.transforms._InverseTransform and type(inverse).__module__ == "jtensor.distributions.transforms"
