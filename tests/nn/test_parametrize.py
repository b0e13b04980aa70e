"""Parametrizations, and weight and spectral normalisation: PyTorch's numbers, names, texts and refusals."""
import copy
import pickle

import pytest

from .both import close, raised, same


def _modules(torch):
    nn = torch.nn

    class Symmetric(nn.Module):
        def forward(self, w):
            return w.triu() + w.triu(1).mT

        def right_inverse(self, w):
            return w.triu()

    class Twice(nn.Module):
        def forward(self, w):
            return w * 2

    class RankOne(nn.Module):
        def forward(self, a, b):
            return a @ b

        def right_inverse(self, w):
            return w[:, :1].clone(), w[:1].clone()

    class Cut(nn.Module):
        def forward(self, w):
            return w[:1]

    class Wide(nn.Module):
        def forward(self, w):
            return w.double()
    return Symmetric, Twice, RankOne, Cut, Wide


def test_a_parametrized_weight():
    def program(torch):
        P = torch.nn.utils.parametrize
        symmetric, twice, rank_one, _, _ = _modules(torch)
        layer = torch.nn.Linear(3, 3)
        kept = layer.weight
        answers = [P.register_parametrization(layer, "weight", symmetric()) is layer, str(layer), type(layer).__name__, layer.weight,
                   layer.parametrizations.weight.original is kept, list(layer.state_dict()), [n for n, _ in layer.named_parameters()]]
        layer(torch.ones(2, 3)).sum().backward()
        answers.append(kept.grad)
        layer.weight = torch.eye(3) * 2
        answers += [layer.weight, kept]
        P.register_parametrization(layer, "weight", twice())
        with P.cached():
            answers.append(layer.weight is layer.weight)
        twin = copy.deepcopy(layer)
        answers += [layer.weight is layer.weight, type(twin) is type(layer), twin.weight, P.type_before_parametrizations(layer).__name__,
                    [P.is_parametrized(layer, name) for name in ("weight", "bias")]]
        P.remove_parametrizations(layer, "weight")
        answers += [str(layer), layer.weight, layer.weight is kept, P.is_parametrized(layer)]
        layer = P.register_parametrization(torch.nn.Linear(3, 2), "weight", rank_one())
        answers += [[(n, tuple(p.shape)) for n, p in layer.named_parameters()], layer.weight]
        other = P.transfer_parametrizations_and_params(layer, torch.nn.Linear(3, 2))
        answers += [other.weight, str(P.remove_parametrizations(layer, "weight")), layer.weight]
        return answers
    close(program)


@pytest.mark.parametrize("text", [
    "P.register_parametrization(L(2, 2), 'weight', cut())", "P.register_parametrization(L(2, 2), 'weight', wide())",
    "P.register_parametrization(L(2, 2), 'wei', twice())", "P.remove_parametrizations(L(2, 2), 'weight')",
    "P.register_parametrization(P.register_parametrization(L(2, 2), 'weight', twice()), 'weight', cut())",
    "setattr(P.register_parametrization(L(2, 2), 'weight', twice()), 'weight', torch.eye(2))",
    "P.remove_parametrizations(P.register_parametrization(L(2, 2), 'weight', rank_one()), 'weight', leave_parametrized=False)",
    "pickle.dumps(P.register_parametrization(L(2, 2), 'weight', twice()))", "Q.spectral_norm(L(2, 2), n_power_iterations=0)",
    "Q.spectral_norm(L(2, 2), dim=3)", "Q.spectral_norm(L(2, 2), 'x')", "Q.orthogonal(L(2, 2), 'bias')",
    "Q.orthogonal(L(2, 2), orthogonal_map='x')", "setattr(Q.orthogonal(L(2, 2), use_trivialization=False), 'weight', torch.eye(2))",
    "U.spectral_norm(U.spectral_norm(L(2, 2)))", "U.remove_spectral_norm(L(2, 2))", "U.spectral_norm(L(2, 2, bias=False), 'bias')",
])
def test_refusals(text):
    def program(torch):
        names = dict(zip(("symmetric", "twice", "rank_one", "cut", "wide"), _modules(torch)))
        U = torch.nn.utils
        from importlib import import_module
        P = import_module(torch.__name__ + ".nn.utils.parametrize")
        return raised(lambda: eval(text, {"torch": torch, "P": P, "Q": U.parametrizations, "U": U, "L": torch.nn.Linear,
                                          "pickle": pickle, **names}))
    same(program)


def test_normalised_weights():
    def program(torch):
        nn, U, Q = torch.nn, torch.nn.utils, torch.nn.utils.parametrizations
        layer = Q.weight_norm(nn.Linear(4, 2))
        answers = [str(layer), [(n, tuple(p.shape)) for n, p in layer.named_parameters()],
                   str(layer.load_state_dict(U.weight_norm(nn.Linear(4, 2)).state_dict())), layer.weight]
        for made in (nn.Linear(5, 4), nn.Conv2d(3, 4, 3), nn.ConvTranspose2d(3, 4, 3)):
            layer = Q.spectral_norm(made)
            answers += [list(layer.state_dict()), layer.weight]
            layer.eval().weight.sum().backward()
            answers.append(layer.parametrizations.weight.original.grad)
        answers.append(Q.spectral_norm(nn.Linear(3, 3), "bias").bias)
        layer = U.spectral_norm(nn.Linear(5, 4))
        answers += [str(layer), list(layer.state_dict()), dict(layer.state_dict()._metadata[""])]
        out = layer(torch.ones(2, 5))
        out.sum().backward()
        answers += [out, layer.weight_orig.grad, layer.weight_u, layer.weight_v]
        U.remove_spectral_norm(layer)
        return [*answers, [n for n, _ in layer.named_parameters()], layer.weight, list(layer.state_dict()._metadata[""])]
    close(program, rtol=1e-4, atol=1e-5)


def test_orthogonal_weights():
    def program(torch):
        answers = []
        for kind in ("matrix_exp", "cayley", "householder"):
            for shape, base in (((3, 3), True), ((2, 4), False), ((4, 2), True)):
                layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(*shape), orthogonal_map=kind, use_trivialization=base)
                layer.weight.square().cumsum(0).sum().backward()
                answers += [layer.weight, layer.parametrizations.weight.original.grad]
        return answers
    close(program, rtol=1e-3, atol=1e-4)


def test_the_module_a_parametrized_class_names(monkeypatch):
    """The one that `ParametrizationList` names, which is torch's under the alias."""
    import jtensor
    from jtensor.nn.utils import parametrize
    monkeypatch.setattr(parametrize.ParametrizationList, "__module__", "torch.nn.utils.parametrize")
    layer = jtensor.nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", jtensor.nn.Identity())
    assert str(type(layer)) == "<class 'torch.nn.utils.parametrize.ParametrizedLinear'>"
