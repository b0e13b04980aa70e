"""The distributions that are compared with PyTorch, and what they are asked: tables that run on both sides.

``python tests/distributions/distribution_cases.py`` stores what PyTorch answers, in ``tests/goldens/distributions.json``.
"""
import json
import re
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

GOLDENS = Path(__file__).resolve().parent.parent / "goldens" / "distributions.json"

MADE = {
    "normal": "D.Normal(p, s)", "normal of numbers": "D.Normal(0., 2.)", "laplace": "D.Laplace(p, s)", "uniform": "D.Uniform(p, p + s)",
    "exponential": "D.Exponential(s)", "bernoulli": "D.Bernoulli(p)", "bernoulli of logits": "D.Bernoulli(logits=p)",
    "geometric": "D.Geometric(p)", "poisson": "D.Poisson(s)", "categorical": "D.Categorical(q)",
    "categorical of logits": "D.Categorical(logits=q)", "one hot": "D.OneHotCategorical(q)",
    "straight through": "D.OneHotCategoricalStraightThrough(logits=q)", "independent": "D.Independent(D.Normal(q, T.ones(2, 3)), 1)",
    "multivariate": "D.MultivariateNormal(T.zeros(2), m)", "of precision": "D.MultivariateNormal(T.ones(3, 2), precision_matrix=m)",
    "of a factor": "D.MultivariateNormal(T.ones(2), scale_tril=T.linalg.cholesky(m))", "beta": "D.Beta(s, p)",
    "beta of numbers": "D.Beta(2., .5)", "binomial": "D.Binomial(5, p)",
    "binomial of logits": "D.Binomial(T.tensor([5., 9., 30.]), logits=s)", "cauchy": "D.Cauchy(p, s)", "chi2": "D.Chi2(s)",
    "chi2 of a number": "D.Chi2(3.)", "continuous bernoulli": "D.ContinuousBernoulli(p)",
    "continuous bernoulli of logits": "D.ContinuousBernoulli(logits=s)", "dirichlet": "D.Dirichlet(q)",
    "fisher": "D.FisherSnedecor(s * 3, s * 5)", "gamma": "D.Gamma(s, p)", "gamma of numbers": "D.Gamma(.5, 2.)",
    "generalized pareto": "D.GeneralizedPareto(p, s, T.tensor([-.5, 0., .4]))", "gumbel": "D.Gumbel(p, s)",
    "gumbel of numbers": "D.Gumbel(1., 2.)", "half cauchy": "D.HalfCauchy(s)", "half normal": "D.HalfNormal(s)",
    "inverse gamma": "D.InverseGamma(s * 3, p)", "kumaraswamy": "D.Kumaraswamy(s, p)", "lkj": "D.LKJCholesky(3, s)",
    "lkj of a number": "D.LKJCholesky(2)", "log normal": "D.LogNormal(p, s)", "logistic normal": "D.LogisticNormal(q, T.ones(2, 3))",
    "low rank": "D.LowRankMultivariateNormal(T.ones(2), T.tensor([[1.], [.5]]), T.tensor([1., .2]))",
    "mixture": "D.MixtureSameFamily(D.Categorical(p), D.Normal(p, s))",
    "mixture of vectors": "D.MixtureSameFamily(D.Categorical(T.ones(2)), D.Independent(D.Normal(q, T.ones(2, 3)), 1))",
    "mixture of positive numbers": "D.MixtureSameFamily(D.Categorical(q), D.Gamma(s, T.ones(2, 3)))", "multinomial": "D.Multinomial(5, q)",
    "multinomial of logits": "D.Multinomial(3, logits=p)", "negative binomial": "D.NegativeBinomial(3, p)",
    "negative binomial of logits": "D.NegativeBinomial(s, logits=p)", "pareto": "D.Pareto(s, p * 4)",
    "relaxed bernoulli": "D.RelaxedBernoulli(T.tensor(2.), p)",
    "relaxed bernoulli of logits": "D.RelaxedBernoulli(T.tensor(.5), logits=s)",
    "relaxed one hot": "D.RelaxedOneHotCategorical(T.tensor(2.), q)", "student": "D.StudentT(s * 2, p, s)",
    "student of a number": "D.StudentT(3.)",
    "transformed": "D.TransformedDistribution(D.Normal(p, s), [D.ExpTransform(), D.AffineTransform(1., T.tensor(-2.))])",
    "transformed vectors": "D.TransformedDistribution(D.Normal(q, 1.), D.StickBreakingTransform())", "von mises": "D.VonMises(p, s * 4)",
    "weibull": "D.Weibull(s, p)", "wishart": "D.Wishart(T.tensor(4.), m)",
    "wishart of a factor": "D.Wishart(T.tensor([4., 5.]), scale_tril=T.linalg.cholesky(m))",
    "wishart of precision": "D.Wishart(3., precision_matrix=m)", "double gamma": "D.Gamma(s.double(), p.double())",
    "double beta": "D.Beta(s.double(), p.double())", "double von mises": "D.VonMises(p.double(), s.double())",
}
ASKED = ["(str(d), tuple(d.batch_shape), tuple(d.event_shape), d.has_rsample, d.has_enumerate_support)", "d.mean", "d.mode", "d.variance",
         "d.stddev", "str(d.support)", "str(d.arg_constraints)", "d.sample()", "d.sample((2,))", "d.rsample((2,)) if d.has_rsample else 0",
         "d.log_prob(x)", "d.entropy()", "d.cdf(x)", "d.icdf(T.tensor(.3))", "d.enumerate_support()", "d.enumerate_support(False)",
         "str(d.expand((4, *d.batch_shape)))", "d.expand((4, *d.batch_shape)).log_prob(x)", "d.expand((4, *d.batch_shape)).sample()",
         "d.log_prob(x + .5)", "d.log_prob(1.)", "d.log_prob(T.zeros(7, 5))", "D.kl_divergence(d, d.expand((2, *d.batch_shape)))"]


TRANSFORMS = {
    "AbsTransform()": "v", "AffineTransform(1., -2.)": "v", "AffineTransform(v, s, event_dim=1)": "v", "AffineTransform(v, s)": "v",
    "CatTransform([D.ExpTransform(), D.AffineTransform(1., 2.)], dim=0, lengths=[1, 2])": "v",
    "CatTransform([D.ExpTransform(), D.SoftplusTransform()], dim=-1, lengths=[2, 1])": "q",
    "CatTransform([D.StickBreakingTransform().inv, D.SoftmaxTransform().inv.inv], dim=0)": "q / q.sum(-1, True)",
    "ComposeTransform([])": "v", "ComposeTransform([D.ExpTransform(), D.AffineTransform(0., s)])": "v",
    "ComposeTransform([D.AffineTransform(0., 2.), D.StickBreakingTransform()])": "q * .3",
    "ComposeTransform([D.AffineTransform(0., 2.), D.StickBreakingTransform()]).inv": "q / q.sum(-1, True)",
    "CorrCholeskyTransform()": "v", "CumulativeDistributionTransform(D.Normal(0., 1.))": "v", "ExpTransform()": "v",
    "ExpTransform().inv": "s",
    "ExpTransform(cache_size=1)": "v", "IndependentTransform(D.ExpTransform(), 1)": "q", "IndependentTransform(D.ExpTransform(), 2)": "v",
    "LowerCholeskyTransform()": "m", "PositiveDefiniteTransform()": "m", "PowerTransform(T.tensor(-.5))": "s", "PowerTransform(s)": "s",
    "ReshapeTransform((3,), (3, 1))": "q", "ReshapeTransform((4,), (2, 2))": "q", "ReshapeTransform((3,), (2,))": "q",
    "SigmoidTransform()": "v",
    "SoftmaxTransform()": "q", "SoftplusTransform()": "v", "StackTransform([D.ExpTransform(), D.AffineTransform(1., 2.)], dim=0)": "q",
    "StackTransform([D.ExpTransform(), D.TanhTransform()], dim=-2)": "q", "StackTransform([D.ExpTransform()])": "v",
    "StickBreakingTransform()": "q", "TanhTransform()": "v", "ExpTransform(cache_size=2)": "v", "CatTransform([1])": "v",
    "CatTransform([D.ExpTransform()], lengths=[1, 2])": "v", "CatTransform([D.ExpTransform()], dim=4)": "v",
}
OF_TRANSFORMS = ["str(t)", "str(t.domain)", "str(t.codomain)", "(t.domain.event_dim, t.codomain.event_dim)", "t.event_dim",
                 "t.bijective", "t.sign",
                 "t(x)", "t.inv(t(x))", "t.log_abs_det_jacobian(x, t(x))", "t.inv.log_abs_det_jacobian(t(x), x)", "str(t.inv)",
                 "t.inv.inv is t",
                 "t == t", "t == D.ExpTransform()", "t.inv == t.inv", "list(t.forward_shape(x.shape))",
                 "list(t.inverse_shape(t(x).shape))",
                 "list(t.forward_shape(T.Size()))", "list(t.inverse_shape(T.Size()))", "t.inv(t(x)) is x", "t.with_cache(1)._cache_size",
                 "str(D.biject_to(t.codomain))", "str(D.transform_to(t.codomain))", "D.transform_to(t.codomain)(x)",
                 "t.codomain.check(t(x))", "t.domain.check(x)"]

REFUSED = [
    "D.Normal(0., -1.)", "D.Normal(T.zeros(2), T.tensor([1., float('nan')]))", "D.Bernoulli(1.5)", "D.Bernoulli()",
    "D.Bernoulli(.5, .5)", "D.Categorical(T.tensor(1.))", "D.Categorical(T.tensor([-1., 2.]))", "D.Uniform(1., 1.)",
    "D.MultivariateNormal(T.zeros(2), -m)", "D.MultivariateNormal(T.zeros(2))", "D.MultivariateNormal(T.tensor(0.), m)",
    "D.MultivariateNormal(T.zeros(2), T.ones(2))", "D.Independent(D.Normal(0., 1.), 1)", "D.Normal('a', 1)", "D.Geometric(0.)",
    "str(D.Normal(0., -1., validate_args=False))", "D.Categorical(T.ones(2)).log_prob(T.tensor(2))", "D.Categorical.support.check(p)",
    "D.kl_divergence(D.Laplace(0., 1.), D.Bernoulli(.5))",
    "[str(getattr(C, k)) for k in sorted(C.__all__) if isinstance(getattr(C, k), C.Constraint)]",
    "sorted(C.__all__)", "sorted(D.__all__)", "str(C.integer_interval(0, 3)) + str(D.Categorical.support)",
    "D.Beta(-1., 1.)", "D.Beta(p, -s)", "D.Binomial(2)", "D.Binomial(-1, p)", "D.Binomial(p, p)",
    "D.Binomial(T.tensor([2, 3]), .5 * T.ones(2)).entropy()",
    "D.Binomial(T.tensor([2, 3]), .5 * T.ones(2)).enumerate_support()", "D.Binomial(2, p).log_prob(T.tensor(3.))", "D.Cauchy(0., 0.)",
    "D.Chi2(-1.)", "D.ContinuousBernoulli(2.)", "D.ContinuousBernoulli(2., validate_args=True)", "D.ContinuousBernoulli()",
    "D.Dirichlet(T.tensor(1.))",
    "D.Dirichlet(-q)", "D.Dirichlet(q).log_prob(q)", "D.FisherSnedecor(-s, s)", "D.Gamma(1., -1.)", "D.Gamma(s, p).log_prob(-s)",
    "D.Gumbel(0., -1.)", "D.GeneralizedPareto(0., -1., 1.)", "D.HalfCauchy(-1.)", "D.HalfNormal(-s)", "D.HalfNormal(s).log_prob(-s)",
    "D.InverseGamma(1., -1.)",
    "D.Kumaraswamy(-1., 1.)", "D.LKJCholesky(1)", "D.LKJCholesky(2, -1.)", "D.LKJCholesky(2).log_prob(m)", "D.LogNormal(0., -1.)",
    "D.LogisticNormal(q, -q)", "D.LowRankMultivariateNormal(p[0], q, p)", "D.LowRankMultivariateNormal(p, p, p)",
    "D.LowRankMultivariateNormal(p, q, p)", "D.LowRankMultivariateNormal(T.ones(2), q, p)",
    "D.LowRankMultivariateNormal(T.ones(2), q, -T.ones(2))",
    "D.LowRankMultivariateNormal(T.ones(2), T.ones(5, 2, 1), T.ones(4, 2))", "D.MixtureSameFamily(3, 3)",
    "D.MixtureSameFamily(D.Categorical(p), 3)",
    "D.MixtureSameFamily(D.Categorical(p), D.Normal(0., 1.))", "D.MixtureSameFamily(D.Categorical(p), D.Normal(T.zeros(2), 1.))",
    "D.MixtureSameFamily(D.Categorical(T.ones(4, 2)), D.Normal(T.zeros(3, 2), 1.))",
    "D.MixtureSameFamily(D.Categorical(p), D.Normal(p, s)).mode",
    "D.MixtureSameFamily(D.Categorical(p), D.Gamma(p, s)).log_prob(-p)", "D.Multinomial(p, p)", "D.Multinomial(3, p).log_prob(p + .5)",
    "D.Multinomial(3, q).log_prob(T.tensor([3., 3., 3.]))", "D.NegativeBinomial(3)", "D.NegativeBinomial(-1, p)",
    "D.NegativeBinomial(3, T.ones(1))", "D.Pareto(1., -1.)",
    "D.RelaxedBernoulli(p[0])", "D.RelaxedBernoulli(p[0], s)", "D.RelaxedOneHotCategorical(p[0], -q)", "D.StudentT(-1.)",
    "D.TransformedDistribution(D.Normal(0., 1.), 3)", "D.TransformedDistribution(D.Normal(0., 1.), [3])",
    "D.TransformedDistribution(D.Normal(0., 1.), D.StickBreakingTransform())", "D.VonMises(p, -s)", "D.Weibull(-1., 1.)",
    "D.Wishart(1., T.eye(3))",
    "D.Wishart(T.tensor(3.), p)", "D.Wishart(T.tensor(3.))", "D.Wishart(T.tensor(3.), -m)", "D.biject_to(C.positive_definite)",
    "D.biject_to(3)",
    "D.biject_to.register(3, 3)", "D.register_kl(3, D.Normal)", "str(D.biject_to(C.interval(p, s)))",
    "str(D.biject_to(C.greater_than(2.)))",
    "str(D.transform_to(C.less_than(2.)))", "str(D.transform_to(C.cat([C.positive, C.simplex], 0, [1, 2])))",
    "str(D.biject_to(C.stack([C.positive, C.real], 0)))",
    "str(D.transform_to(C.independent(C.positive, 1)))", "str(D.transform_to(C.corr_cholesky))",
    "str(D.transform_to(C.positive_semidefinite))",
    "C.cat([1])", "C.stack([1])", "C.cat([C.real], 0, [1, 2])", "C.cat([C.positive, C.real], 0, [1, 2]).check(p)",
    "C.stack([C.positive, C.real], 0).check(q[:, 0])",
    "C.stack([C.real_vector], 0).event_dim", "C.stack([C.real_vector], -1).event_dim", "C.cat([C.real, C.boolean], 0).is_discrete",
    "C.cat([C.real], 3).check(p)",
    "str(C.MixtureSameFamilyConstraint(C.positive))", "C.MixtureSameFamilyConstraint(3)",
    "C.MixtureSameFamilyConstraint(C.positive).check(p)", "C.corr_cholesky.check(m)",
    "D.utils.vec_to_tril_matrix(T.ones(4))", "D.utils.vec_to_tril_matrix(p, -1)", "D.utils.vec_to_tril_matrix(p)",
    "D.utils.tril_matrix_to_vec(m, -1)",
    "D.utils.tril_matrix_to_vec(m, 5)", "D.kl_divergence(D.Normal(0., 1.), D.Poisson(1.))",
    "D.kl_divergence(D.Binomial(2, p), D.Binomial(3, p))",
    "D.kl_divergence(D.Dirichlet(q), D.Normal(0., 1.))",
    "D.kl_divergence(D.MultivariateNormal(T.zeros(2), m), D.MultivariateNormal(p, T.eye(3)))",
    "D.kl_divergence(D.LowRankMultivariateNormal(T.ones(2), q[:, :1], T.ones(2)), D.MultivariateNormal(p, T.eye(3)))",
    "D.kl_divergence(D.LowRankMultivariateNormal(T.ones(2), q[:, :1], T.ones(2)), D.LowRankMultivariateNormal(p, T.ones(3, 1), p))",
]

# One of each kind that divergences are between, and another.
PAIRED = {"Bernoulli": ("p", "T.tensor([0., 1., .5])"), "Beta": ("s, p", "p, s"), "Binomial": ("5, p", "T.tensor([5, 4, 2]), p * .5"),
          "ContinuousBernoulli": ("p", "p * .5"), "Cauchy": ("p, s", "s, p"), "Exponential": ("s", "p"), "Gamma": ("s, p", "p, s"),
          "Gumbel": ("p, s", "s, p"),
          "Geometric": ("p", "p * .5"), "HalfNormal": ("s", "p"), "Laplace": ("p, s", "s, p"), "Normal": ("p, s", "s, p"),
          "LogNormal": ("p, s", "s, p"), "Pareto": ("s, p * 3", "p, s"),
          "Poisson": ("s", "p"), "Uniform": ("p * .1, p", "p * 0., s"), "Categorical": ("q", "T.tensor([0., 1., 2.])"),
          "Dirichlet": ("q", "q + 1."),
          "OneHotCategorical": ("q", "q + 1."), "LowRankMultivariateNormal": ("T.ones(2), T.tensor([[1.], [.5]]), T.tensor([1., .2])",
          "T.zeros(2), m, p[1:]"),
          "MultivariateNormal": ("T.ones(2), m", "T.zeros(2), T.stack([m, m + T.eye(2)])"), "Chi2": ("s", "p"), "VonMises": ("p, s",
          "s, p"),
          "Wishart": ("T.tensor(4.), m", "T.tensor(3.), T.eye(2)")}


def pairs():
    """The pairs to try: all that have a formula, and some that have none."""
    vectors = {"Categorical", "Dirichlet", "OneHotCategorical", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"}
    for a, (p, _) in PAIRED.items():
        for b, (_, q) in PAIRED.items():
            if a == b or (a in vectors) == (b in vectors):
                yield f"D.kl_divergence(D.{a}({p}), D.{b}({q}))"


def answers(T, made, asked, **others):
    """What a library answers: numbers as [text, dtype, shape, list], the rest as [text, value], refusals as [text, type, text].

    Values are looked at when all has been asked, for a program of its own for each would take long.
    """
    T.manual_seed(0)
    D = import_module(T.__name__ + ".distributions")
    names = {"T": T, "D": D, "C": D.constraints, "p": T.tensor([.2, .5, .9]), "s": T.tensor([1., .5, 2.]), "v": T.tensor([-.3, .5, 1.2]),
             "q": T.tensor([[1., 2., 3.], [.5, .5, .1]]), "m": T.tensor([[2., .5], [.5, 1.]])}
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, text in ({"d": made, "x": "d.sample()"} if made else others).items():
            try:
                names[name] = eval(text, names)
            except Exception as error:
                return [[text, type(error).__name__, re.sub("jtensor", "torch", str(error))]]
        for text in asked:
            try:
                found.append([text, eval(text, names)])
            except Exception as error:
                found.append([text, type(error).__name__, re.sub("jtensor", "torch", str(error))])
        found = [[x[0], str(x[1].dtype).split(".")[1], list(x[1].shape), x[1].tolist()] if isinstance(x[1], T.Tensor) else x for x in found]
        found = [x if isinstance(x[1], (str, bool, int, list, tuple, type(None))) else [x[0], str(type(x[1]).__name__)] for x in found]
    return json.loads(json.dumps(found))


def agree(ours, theirs, exact=lambda text: False):
    """Answers are alike: dtypes, shapes, texts and refusals are the same, numbers nearly, and samples quite."""
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        assert mine[:3] == other[:3]
        text = mine[0]
        if len(other) == 4:
            rtol, atol = (0, 0) if exact(text) else (1e-5, 2e-6)
            mine, other = (np.array(x[3], "float64" if x[1] == "float64" else "float32") for x in (mine, other))
            np.testing.assert_allclose(mine, other, rtol, atol, equal_nan=True, err_msg=text)


def gradients(T, made):
    """The gradients of squared samples, where there are some, and of log-probabilities, for the parameters that they depend on."""
    found = {}
    leaves = {"p": [.2, .5, .9], "s": [1., .5, 2.], "q": [[1., 2., 3.], [.5, .5, .1]], "m": [[2., .5], [.5, 1.]]}
    for what in ("rsample", "log_prob"):
        T.manual_seed(0)
        names = {"T": T, "D": T.distributions, **{name: T.tensor(value, requires_grad=True) for name, value in leaves.items()}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            d = eval(made, names)
            x = d.sample((2,))
            if what == "rsample" and not d.has_rsample:
                continue
            result = (d.rsample((2,)) ** 2).sum() if what == "rsample" else d.log_prob(x).sum()
            try:
                if result.requires_grad:
                    result.backward()
            except RuntimeError as error:
                found[what] = str(error)[:160]
        found |= {f"{what} {name}": names[name].grad.tolist() for name in leaves if names[name].grad is not None}
    return found


def shortened(answer):
    """An answer with the fewest digits that tell single-precision numbers."""
    def short(x):
        return [short(y) for y in x] if isinstance(x, list) else float(str(np.float32(x)))
    return [*answer[:3], short(answer[3])] if answer[1] == "float32" else answer


if __name__ == "__main__":
    import torch

    goldens = {name: [shortened(x) for x in answers(torch, made, ASKED)] for name, made in MADE.items()}
    GOLDENS.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in goldens.items()) + "\n}\n")
