"""Initialisation: the same numbers from the same seed."""
import pytest

from .both import close, raised, same

FILLS = ["uniform_(x)", "uniform_(x, -1, 2)", "normal_(x)", "normal_(x, 1, .5)", "constant_(x, 3)", "ones_(x)", "zeros_(x)", "eye_(x)",
         "xavier_uniform_(x)", "xavier_normal_(x, 2.)", "kaiming_uniform_(x, a=.3)",
         "kaiming_normal_(x, mode='fan_out', nonlinearity='relu')",
         "trunc_normal_(x)", "trunc_normal_(x, 0., 1., 1.5, 3.)", "sparse_(x, .5)", "dirac_(k)", "dirac_(k, 2)", "kaiming_uniform_(k)"]


@pytest.mark.parametrize("fill", FILLS)
def test_values(fill):
    def program(torch):
        tensors = {"x": torch.full((5, 7), 9.), "k": torch.full((4, 2, 3, 3), 9.)}
        eval(f"torch.nn.init.{fill}", {"torch": torch, **tensors})
        return [tensors, torch.rand(2)]

    same(program)


def test_orthogonal():
    close(lambda torch: [torch.nn.init.orthogonal_(torch.empty(3, 5)), torch.nn.init.orthogonal_(torch.empty(4, 2, 1), 2.)], rtol=1e-4)


def test_gains_and_errors():
    def program(torch):
        init = torch.nn.init
        gains = [init.calculate_gain(n) for n in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu")]
        return gains + [init.calculate_gain("leaky_relu", .2)] + [raised(f) for f in (
            lambda: init.calculate_gain("x"), lambda: init.calculate_gain("leaky_relu", True), lambda: init.xavier_uniform_(torch.ones(3)),
            lambda: init.kaiming_uniform_(torch.ones(2, 2), mode="x"), lambda: init.eye_(torch.ones(2)), lambda: init.dirac_(torch.ones(2)),
            lambda: init.dirac_(torch.ones(3, 1, 1), 2), lambda: init.orthogonal_(torch.ones(2)), lambda: init.sparse_(torch.ones(2), .1))]

    same(program)


def test_what_the_functions_do_is_there_under_pytorchs_names():
    def program(torch):
        init, p = torch.nn.init, torch.nn.Parameter(torch.ones(3, 2))
        generator = torch.Generator().manual_seed(5)
        found = [init._no_grad_uniform_(p, -1, 2) is p, p.tolist(), init._no_grad_normal_(p, 1, 2, generator) is p, p.tolist()]
        found += [init._no_grad_trunc_normal_(p, 0, 1, -1, 1) is p, p.tolist()]
        found += [init._no_grad_trunc_normal_(p, 0, 1, .1, .2, generator) is p, p.tolist()]
        found += [init._no_grad_fill_(p, 3.) is p, p.tolist(), init._no_grad_zero_(p) is p, p.tolist(), p.requires_grad]
        return found

    close(program)
