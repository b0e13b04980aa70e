"""Strides of results for operands with the channels last: PyTorch's memory formats, carried through layers."""
import pytest

import jtensor

from .twin import same, torch

X = (2, 4, 6, 5)


@pytest.mark.parametrize("call", [
    "F.conv2d({}, b)", "F.conv2d(a, b.contiguous(memory_format=T.channels_last))", "F.conv2d({}, b, padding=1, stride=2)",
    "F.conv_transpose2d({}, b.transpose(0, 1))", "F.conv2d(a, b[..., :1, :1].contiguous(memory_format=T.channels_last))",
    "F.conv2d({}[0], b)",
    "F.batch_norm({}, None, None, training=True)", "F.group_norm({}, 2)", "F.instance_norm({})", "F.layer_norm({}, (5,))",
    "F.max_pool2d({}, 2, return_indices=True)", "F.avg_pool2d({}, 2)", "F.adaptive_avg_pool2d({}, (2, 3))", "F.adaptive_avg_pool2d({}, 1)",
    "F.adaptive_max_pool2d({}, 2)", "F.max_unpool2d(*F.max_pool2d({}, 2, return_indices=True), 2, output_size=(6, 5))",
    "F.lp_pool2d({}, 2., 2)",
    "F.interpolate({}, scale_factor=2)", "F.interpolate({}, size=(3, 3), mode='bilinear')", "F.interpolate({}, size=(3, 3), mode='area')",
    "F.interpolate({}, size=(9, 3), mode='bicubic', antialias=True)", "F.pad({}, (1, 1, 0, 2))", "F.pad({}, (-1, -1))",
    "F.pad({}, (1, 1, 1, 1), 'reflect')", "F.pad({}, (1, 1, 1, 1), 'circular')", "F.pad({}, (-1, 0, -1, 0), 'circular')",
    "F.pixel_shuffle({}, 2)", "F.pixel_unshuffle({}[..., :4], 2)", "F.channel_shuffle({}, 2)", "T.relu({}) + 1", "{} * T.ones(4, 1, 1)",
    "T.cat(({}, {}), 1)", "T.cat(({}, a), 1)", "T.cat(({}, {}[:, :1]), 1)", *(f"T.stack(({{}}, {{}}), {d})" for d in range(5)),
])
def test_channels_last_stay_last(call):
    same(call.replace("{}", "a.contiguous(memory_format=T.channels_last)"), X, (3, 4, 3, 3), tolerance=1e-4, nodes="circular" not in call)


@pytest.mark.parametrize("call", [
    "F.conv3d({}, b)", "F.conv3d({}[:1], b)", "F.conv3d({}.double(), b.double())",
    "F.conv3d(a, b.contiguous(memory_format=T.channels_last_3d))",
    "F.max_pool3d({}, 2)", "F.avg_pool3d({}, 2)", "F.adaptive_avg_pool3d({}, 1)", "F.adaptive_avg_pool3d({}, 2)",
    "F.adaptive_max_pool3d({}, 2)",
    "F.interpolate({}, scale_factor=2, mode='trilinear')", "F.batch_norm({}, None, None, training=True)",
    "F.pad({}, (1,) * 6, 'replicate')",
    "T.cat(({}, {}))",
])
def test_channels_last_of_volumes(call):
    same(call.replace("{}", "a.contiguous(memory_format=T.channels_last_3d)"), (2, 4, 3, 4, 3), (3, 4, 2, 3, 3), tolerance=1e-4,
         nodes="[:1]" not in call and "double" not in call)


@pytest.mark.parametrize("call", [
    "F.conv1d({a}, b)", "F.conv1d(a, {b})", "F.conv_transpose1d(a, {b}.transpose(0, 1))", "F.max_pool1d({a}, 2)",
    "F.max_pool1d({a}.detach(), 2)",
    "F.avg_pool1d({a}, 2)", "F.adaptive_avg_pool1d({a}, 2)", "F.interpolate({a}, scale_factor=2)",
    "F.batch_norm({a}, None, None, training=True)",
    "F.pad({a}, (-1, 0))", "T.cat(({a}, {a}), 1)",
])
def test_sequences_that_lie_transposed(call):
    transposed = {name: f"{name}.transpose(1, 2).contiguous().transpose(1, 2)" for name in "ab"}
    same(call.format(**transposed), (2, 4, 7), (3, 4, 3), tolerance=1e-4)


@pytest.mark.parametrize("size", [(2, 1, 3, 2), (2, 4, 1, 1)])
@pytest.mark.parametrize("weight", ["None", "T.ones(8)[:4]", "T.ones(8)[::2]"])
def test_batch_norm_of_what_lies_both_ways(size, weight):
    """One channel, or one pixel, that is row-major as well as channels last: row-major comes of it, unless an operand is not contiguous."""
    weight = weight.replace("8", str(2 * size[1])).replace("4", str(size[1]))
    same(f"F.batch_norm(a.clone(memory_format=T.channels_last), None, None, {weight}, training=True)", size, tolerance=1e-4)


def test_batch_norm_of_images_that_are_channels_last_but_for_a_dimension_of_one():
    same("F.batch_norm(a.transpose(1, 2), T.zeros(2), T.ones(2))", (1, 3, 2, 1), tolerance=1e-4)


def test_a_network_keeps_channels_last():
    def run(T):
        T.manual_seed(0)
        nn = T.nn
        net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 2),
                            nn.Upsample(scale_factor=2))
        net = net.to(memory_format=T.channels_last)
        out = net(T.ones(2, 3, 8, 8).to(memory_format=T.channels_last))
        out.sum().backward()
        return [t.stride() for t in (out, *net.parameters(), *(p.grad for p in net.parameters()))]
    assert run(jtensor) == run(torch)
