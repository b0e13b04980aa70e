"""Counts of operations: PyTorch's numbers, stored, and of PyTorch itself where it is installed."""
import pytest

import jtensor
import jtensor.utils.flop_counter


def real():
    """PyTorch with its counter; the test is skipped where it is not installed."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.utils.flop_counter")
    return torch


def networks(torch):
    nn = torch.nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), nn.Linear(8, 3)

        def forward(self, x):
            return self.head(self.layer(x))
    return {"mlp": (nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2)), (5, 6)),
            "pictures": (nn.Sequential(nn.Conv2d(2, 4, 3, groups=2, stride=2), nn.ConvTranspose2d(4, 3, 2), nn.Flatten(), nn.Linear(48, 2)),
                         (2, 2, 7, 7)),
            "encoder": (Encoder(), (2, 5, 8))}


STORED = {"mlp": (640, 1440, 1920), "pictures": (3408, 10224, 11520), "encoder": (12320, 33120, 36960)}


def counts(torch, name, gradients, of_the_input=False):
    network, size = networks(torch)[name]
    x = torch.ones(size, requires_grad=of_the_input)
    with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
        found = network(x)
        if gradients:
            found.sum().backward()
    return counter.get_total_flops(), {module: {str(operator): count for operator, count in counts.items()}
                                       for module, counts in counter.get_flop_counts().items()}


@pytest.mark.parametrize("name", STORED)
def test_networks_without_data(name):
    with jtensor.device("meta"):
        assert tuple(counts(jtensor, name, *way)[0] for way in [(False,), (True,), (True, True)]) == STORED[name]


@pytest.mark.parametrize("name", STORED)
def test_networks(name):
    ways = [(False,), (True,), (True, True)]
    found = [counts(jtensor, name, *way) for way in ways]
    assert tuple(total for total, _ in found) == STORED[name]
    torch = real()
    assert found == [counts(torch, name, *way) for way in ways]


def products(torch):
    a, b, c = torch.ones(5, 6), torch.ones(6, 7), torch.ones(4, 5, 6)
    F = torch.nn.functional
    return {"vector": lambda: a @ b[:, 0], "dot": lambda: a[0] @ a[1], "batch": lambda: c @ b, "batches": lambda: c @ c.mT,
            "einsum": lambda: torch.einsum("bij,jk->bik", c, b), "linear": lambda: F.linear(c, a),
            "added": lambda: torch.addmm(a[:, :1], a, b),
            "baddbmm": lambda: torch.baddbmm(c[:, :, :5], c, c.mT), "outer": lambda: torch.outer(a[0], a[0]),
            "tensordot": lambda: torch.tensordot(c, b, 1), "chain": lambda: torch.linalg.multi_dot([a, b, b.T]),
            "attention": lambda: F.scaled_dot_product_attention(c, c, c), "sum": lambda: a.exp().sum(),
            "gru": lambda: torch.nn.GRU(6, 4, num_layers=2)(c)}


def of_products(torch):
    found = {}
    for name, product in products(torch).items():
        with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
            product()
        found[name] = counter.get_total_flops(), [str(operator) for operator in counter.get_flop_counts().get("Global", {})]
    return found


def test_products():
    found = of_products(jtensor)
    assert found["batch"] == (1680, ["aten.mm"]) and found["einsum"] == (1680, ["aten.bmm"]) and found["vector"] == (0, [])
    torch = real()
    assert found == of_products(torch)


def test_the_table():
    torch = real()

    def table(torch, depth):
        network, size = networks(torch)["encoder"]
        with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
            network(torch.ones(size))
        return counter.get_table(depth)
    assert [table(jtensor, depth) for depth in (1, 3)] == [table(torch, depth) for depth in (1, 3)]


def test_formulas_of_ones_own():
    network = jtensor.nn.Sequential(jtensor.nn.Linear(2, 3), jtensor.nn.ReLU())
    relu = jtensor.ops.aten.relu
    counter = jtensor.utils.flop_counter.FlopCounterMode(display=False, custom_mapping={relu: lambda x, out_shape=None: x[0] * x[1] * 100})
    with counter:
        network(jtensor.ones(2, 2))
    assert counter.get_flop_counts()["Sequential.1"] == {relu: 600}
    shapes = []
    linear = {jtensor.ops.aten.addmm: lambda bias, x, w, out_shape=None: shapes.append((bias, x, w)) or 7}
    with jtensor.utils.flop_counter.FlopCounterMode(display=False, custom_mapping=linear) as counter:
        network(jtensor.ones(4, 2))
    assert counter.get_total_flops() == 7 and shapes == [((3,), (4, 2), (2, 3))]
    with pytest.raises(NotImplementedError, match="formulas of shapes"):
        jtensor.utils.flop_counter.register_flop_formula(relu, get_raw=True)


def test_nothing_stays_on_after_it():
    from jtensor.trace import executor
    from jtensor.trace.tape import LOCAL
    before = executor._run
    with pytest.raises(KeyError), jtensor.utils.flop_counter.FlopCounterMode(display=False):
        raise KeyError
    assert executor._run is before and not LOCAL.eager
