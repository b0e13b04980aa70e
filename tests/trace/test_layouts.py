"""Channels last between layers: transposes wait, meet their opposites, and no number changes."""
import jax
import numpy as np
import pytest
from jax import lax

import jtensor as torch
from jtensor.trace.lowering import fences, flat, layouts

F = torch.nn.functional
X, W = jax.ShapeDtypeStruct((2, 3, 8, 8), "float32"), jax.ShapeDtypeStruct((3, 3, 3, 3), "float32")


def conv(x, w):
    """As the operator does it: with the channels last."""
    out = lax.conv_general_dilated(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), (1, 1), [(1, 1)] * 2,
                                   dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return out.transpose(0, 3, 1, 2)


def rewritten(function, *avals):
    graph = layouts.channels_last(flat.flattened(jax.make_jaxpr(function)(*avals)))
    images = [e for e in graph.equations if len(e.avals[0].shape) > 3 and e.inputs[0] != graph.inputs[1]]
    return [e.name for e in images if e.name != "broadcast_in_dim"], graph


def test_between_two_layers_there_is_no_transpose():
    names, _ = rewritten(lambda x, w: conv(abs(conv(x, w) * 2), w), X, W)
    assert names == ["transpose", "conv_general_dilated", "mul", "abs", "conv_general_dilated", "transpose"]


def test_windows_and_repetitions_go_before_the_transpose():
    def pooled(x, w):
        y = conv(x, w)
        best = jax.numpy.maximum(*[lax.slice(y, (0, 0, k, 0), (2, 3, 7 + k, 8), (1, 1, 2, 1)) for k in (0, 1)])
        spread = lax.broadcast_in_dim(best, (2, 3, 4, 2, 8), (0, 1, 2, 4)).reshape(2, 3, 8, 8)
        return lax.pad(spread, np.float32(0), [(0, 0, 0), (0, 0, 0), (1, 0, 0), (0, 2, 0)])
    names, graph = rewritten(pooled, X, W)
    assert names == ["transpose", "conv_general_dilated", "slice", "slice", "max", "reshape", "pad", "transpose"]
    assert graph.equations[-2].avals[0].shape == (2, 9, 10, 3)


def test_sums_and_products_get_the_tensors_order():
    names, _ = rewritten(lambda x, w: (conv(x, w) + 1).sum((0, 2, 3)), X, W)
    assert names == ["transpose", "conv_general_dilated", "add", "transpose"]
    names, _ = rewritten(lambda x, w: jax.numpy.exp(conv(x, w).reshape(2, 192)), X, W)
    assert names == ["transpose", "conv_general_dilated", "transpose"]


def test_as_much_again_is_not_turned():
    names, _ = rewritten(lambda x, w, a, b: lax.select_n(a, conv(x, w), b), X, W, jax.ShapeDtypeStruct(X.shape, "bool"), X)
    assert names == ["transpose", "conv_general_dilated", "transpose", "select_n"]


def test_without_convolutions_nothing_changes():
    graph = flat.flattened(jax.make_jaxpr(lambda x: x.transpose(0, 2, 3, 1) + 1)(X))
    before = list(graph.equations)
    assert layouts.channels_last(graph).equations == before


def test_the_programs_give_the_same_bits():
    def step(x, w):
        y = conv(x, w)
        z = jax.numpy.where(y > 0, y, 0.1 * y) + x.mean((0, 2, 3), keepdims=True)
        q = lax.concatenate([z, y, x * 2], 1)
        return q, conv(z, w), lax.rev(z, (2,)), jax.numpy.cumsum(z, 1), z.reshape(2, 3, 64) @ z.reshape(2, 64, 3)
    random = np.random.default_rng(1)
    x, w = (random.standard_normal(aval.shape).astype("float32") for aval in (X, W))
    graph = flat.flattened(jax.make_jaxpr(step)(x, w))
    got = jax.jit(fences.of_graph(graph).program)(np.uint32(0), x, w)
    for a, b in zip(got, jax.jit(step)(x, w), strict=True):
        np.testing.assert_allclose(a, b, 1e-5, 1e-5)


ACTIVATIONS = [F.relu, torch.tanh, F.gelu, F.silu, lambda x: F.leaky_relu(x, 0.3), torch.sigmoid, F.softplus, lambda x: x.clamp(-0.5, 1.5)]


class Net(torch.nn.Module):
    """Layers of pictures that a seed chooses: ``(n, 3, side, side)`` to a number."""

    def __init__(self, seed):
        super().__init__()
        choose = np.random.default_rng(seed)
        self.steps, self.layers, channels = [], torch.nn.ModuleList(), 3
        for _ in range(choose.integers(3, 6)):
            out = int(choose.integers(2, 6))
            self.layers.append(torch.nn.Conv2d(channels, out, int(choose.choice([1, 3])), padding="same", bias=bool(choose.integers(2))))
            kind = choose.integers(6)
            if kind == 0:
                self.layers.append(torch.nn.BatchNorm2d(out))
            elif kind == 1:
                self.layers.append(torch.nn.GroupNorm(1, out))
            else:
                self.layers.append(torch.nn.Identity())
            self.steps.append((ACTIVATIONS[choose.integers(len(ACTIVATIONS))], int(choose.integers(6)), int(choose.integers(4))))
            channels = out
        self.head = torch.nn.LazyLinear(2)

    def forward(self, x):
        for at, (activation, pool, join) in enumerate(self.steps):
            y = activation(self.layers[2 * at + 1](self.layers[2 * at](x)))
            if join == 0:
                y = y + y.flip(2) * y.mean((2, 3), keepdim=True)
            elif join == 1 and x.shape[1] == y.shape[1]:
                y = y + x
            elif join == 2:
                y = torch.cat([y, y * 0.5], 1)[:, ::2]
            if pool == 0 and y.shape[-1] > 3:
                y = F.max_pool2d(y, 2)
            elif pool == 1 and y.shape[-1] > 3:
                y = F.avg_pool2d(y, 2)
            elif pool == 2:
                y = F.max_pool2d(y, 3, 1, 1)
            elif pool == 3:
                y = F.dropout(y, 0.3)
            elif pool == 4:
                y = F.pad(y, (1, 0, 0, 1))
            x = y
        return self.head(x.flatten(1)).square().mean()


def trained(seed, side):
    torch.manual_seed(seed)
    net = Net(seed)
    x = torch.randn(2, 3, side, side, requires_grad=True)
    net(x.detach())
    optimizer, found = torch.optim.SGD(net.parameters(), lr=0.05), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(x)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found + [np.asarray(t.detach()).tobytes() for t in (x.grad, *net.parameters())]


@pytest.mark.parametrize(("seed", "side"), [(0, 12), (1, 12), (4, 32), (5, 33)])
def test_nets_have_the_bits_of_their_operations(seed, side):
    fused = trained(seed, side)
    with torch.eager():
        assert trained(seed, side) == fused
