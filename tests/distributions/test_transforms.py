"""Transforms: against PyTorch, and by their laws: inverses take back, Jacobians are those of the derivative, caches keep what went in."""
import copy
import sys
from pathlib import Path

import pytest

import jtensor
from jtensor import distributions as D
from jtensor.distributions import transforms

sys.path.insert(0, str(Path(__file__).resolve().parent))
import distribution_cases as cases
from distribution_cases import agree


@pytest.mark.parametrize("made", cases.TRANSFORMS)
def test_a_transform(made):
    torch = pytest.importorskip("torch")
    agree(*(cases.answers(T, "", cases.OF_TRANSFORMS, x=cases.TRANSFORMS[made], t="D." + made) for T in (jtensor, torch)))


LAWS = {
    "ExpTransform()": "v", "SigmoidTransform()": "v", "SoftplusTransform()": "v", "TanhTransform()": "v", "AffineTransform(1., -2.)": "v",
    "AffineTransform(v, s, event_dim=1)": "v", "PowerTransform(T.tensor(2.))": "s", "StickBreakingTransform()": "v",
    "CorrCholeskyTransform()": "v", "IndependentTransform(D.ExpTransform(), 1)": "v",
    "ComposeTransform([D.AffineTransform(0., 2.), D.SigmoidTransform()])": "v", "CumulativeDistributionTransform(D.Normal(0., 1.))": "v",
    "ReshapeTransform((3,), (3, 1))": "v", "CatTransform([D.ExpTransform(), D.TanhTransform()], lengths=[1, 2])": "v",
    "StackTransform([D.ExpTransform(), D.TanhTransform(), D.ExpTransform()])": "v",
}


@pytest.mark.parametrize("made", LAWS)
def test_inverses_and_jacobians(made):
    v, s = (jtensor.tensor(x, dtype=jtensor.float64) for x in ([-0.3, 0.5, 1.2], [1.0, 0.5, 2.0]))
    names = {"T": jtensor, "D": D, "v": v, "s": s}
    t, x = eval("D." + made, names), names[LAWS[made]]
    y = t(x)
    jtensor.testing.assert_close(t.inv(y), x, rtol=1e-6, atol=1e-8)
    assert t.domain.check(x).all() and t.codomain.check(y).all()
    assert t.forward_shape(x.shape) == y.shape and t.inverse_shape(y.shape) == x.shape
    slopes = jtensor.autograd.functional.jacobian(free(t), x)
    found = t.log_abs_det_jacobian(x, y)
    wanted = slopes.diagonal().abs().log() if t.domain.event_dim == 0 else jtensor.linalg.slogdet(slopes.reshape(3, 3)).logabsdet
    jtensor.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-7)
    jtensor.testing.assert_close(t.inv.log_abs_det_jacobian(y, x), -found, rtol=1e-6, atol=1e-8)


def free(t):
    """Of the outputs as many as there are inputs: probabilities without the last, of a Cholesky factor what is below its diagonal."""
    def outputs(x):
        y = t(x)
        if isinstance(t, transforms.StickBreakingTransform):
            return y[:-1]
        return D.utils.tril_matrix_to_vec(y, -1) if isinstance(t, transforms.CorrCholeskyTransform) else y
    return outputs


def test_a_cache_keeps_the_last_pair():
    t, x = transforms.TanhTransform(cache_size=1), jtensor.tensor([20.0])
    y = t(x)
    assert t.inv(y) is x and t(x) is y and transforms.TanhTransform().inv(y).isinf().all()
    whole = transforms.ComposeTransform([transforms.ExpTransform(), transforms.TanhTransform()], cache_size=1)
    assert whole.inv(whole(x)) is x
    assert copy.deepcopy(t)._inv is None                # inverses are weak references, and are made anew


def test_an_inverse_is_known_by_its_class():
    assert isinstance(transforms.ExpTransform().inv, transforms._InverseTransform)


def test_each_constraint_is_reached():
    for constraint in (D.constraints.positive, D.constraints.interval(-1.0, 3.0), D.constraints.less_than(2.0), D.constraints.simplex,
                       D.constraints.greater_than(jtensor.tensor(2.0)), D.constraints.corr_cholesky, D.constraints.real_vector):
        x = jtensor.tensor([-0.3, 0.5, 1.2])
        for registry in (D.biject_to, D.transform_to):
            assert constraint.check(registry(constraint)(x)).all()
    assert D.constraints.positive_definite.check(D.transform_to(D.constraints.positive_definite)(jtensor.ones(2, 2)))


def test_gradients_flow_through_a_transformed_sample_and_its_density():
    loc, scale = jtensor.tensor(0.3, requires_grad=True), jtensor.tensor(2.0, requires_grad=True)
    d = D.TransformedDistribution(D.Normal(loc, 1.0), [D.AffineTransform(0.0, scale), D.TanhTransform(cache_size=1)])
    y = d.rsample((4,))
    d.log_prob(y).sum().backward()
    assert loc.grad.isfinite() and scale.grad.isfinite() and y.requires_grad


@pytest.mark.parametrize("length, diag", [(2, -1), (2, 0), (5, 0), (3, 1), (6, 1)])
def test_numbers_that_fill_no_triangle(length, diag):
    torch = pytest.importorskip("torch")
    texts = []
    for library in (torch, jtensor):
        with pytest.raises(ValueError) as refused:
            library.distributions.utils.vec_to_tril_matrix(library.ones(length), diag)
        texts.append(str(refused.value))
    assert texts[0] == texts[1]
