"""Convolutions, pools, normalisations, embeddings, padding, resizing, attention: PyTorch's values, gradients and nodes."""
import pytest

import jtensor

from .twin import same, torch

X = (2, 4, 6, 5)


@pytest.mark.parametrize("text, shapes", [
    ("F.conv2d(a, b, c, padding=1)", [X, (3, 4, 3, 3), (3,)]), ("F.conv2d(a, b, None, (2, 1), (1, 0), (1, 2), 2)", [X, (6, 2, 3, 2)]),
    ("F.conv2d(a, b, c, padding=1, groups=4)", [X, (4, 1, 3, 3), (4,)]), ("F.conv1d(a, b)", [(2, 3, 7), (2, 3, 3)]),
    ("F.conv2d(a, b, c, (1, 2), (1, 0))", [(2, 2, 12, 25), (3, 2, 3, 2), (3,)]), ("F.conv1d(a, b)", [(2, 1, 140), (9, 1, 3)]),  # patches
    ("F.conv2d(a, b, c)", [(2, 3, 12, 11), (4, 3, 1, 1), (4,)]), ("F.conv3d(a, b, padding=1)", [(2, 2, 5, 6, 5), (3, 2, 2, 3, 3)]),
    ("F.conv1d(a, b, c, 1, 4, 2)", [(3, 2, 5), (3, 2, 3), (3,)]), ("F.conv2d(a, b, None, 2, (5, 4))", [(2, 2, 3, 2), (3, 2, 3, 2)]),
    ("F.conv2d(a, b, None, (2, 3), (2, 0), (1, 2), 4)", [(2, 4, 9, 8), (4, 1, 3, 2)]),
    ("F.conv1d(a, b, None, 2, 3, 2, 3)", [(2, 3, 9), (3, 1, 3)]),
    ("F.conv3d(a, b, c, (1, 2, 1), (1, 0, 1), (1, 1, 2), 3)", [(2, 3, 3, 5, 5), (3, 1, 2, 2, 3), (3,)]),
    ("F.conv3d(a, b)", [(1, 2, 3, 4, 3), (2, 2, 2, 2, 2)]),
    ("F.conv3d(a, b, c, (2, 1, 2), (1, 0, 1), (1, 2, 1), 2)", [(2, 4, 4, 5, 3), (2, 2, 3, 2, 1), (2,)]),
    ("F.conv_transpose3d(a, b, None, (2, 1, 1), (1, 0, 1), (1, 0, 1), 2, (1, 1, 2))", [(1, 4, 2, 3, 2), (4, 1, 3, 2, 2)]),
    ("F.conv_transpose1d(a, b, c, 1, 1, 1, 1, 2)", [(2, 2, 5), (2, 3, 2), (3,)]),
    ("F.conv_transpose2d(a, b, c, 2, 1, 1, 2)", [X, (4, 3, 3, 3), (6,)]),
    ("F.interpolate(a, scale_factor=3.0, mode='bicubic')", [X]), ("F.interpolate(a, (18, 2))", [X]),   # evenly spaced, and not
    ("F.interpolate(a, (3, 10), mode='bilinear')", [X]), ("F.interpolate(a, (13, 7), mode='bilinear', align_corners=True)", [X]),
    ("F.interpolate(a, scale_factor=0.5, mode='nearest-exact')", [(2, 3, 9)]),
    *((f"T.cdist(a, b, {p}, 'donot_use_mm_for_euclid_dist')", [(36, 30), (2, 30, 30)]) for p in ("1.", "2.", "2.5", "float('inf')")),
    ("T.pdist(a, 3.)", [(34, 31)]),                                                                             # row after row
    ("F.max_pool2d(a, 2)", [X]), ("F.max_pool2d(a, 3, 2, 1, ceil_mode=True)", [X]),
    ("F.max_pool2d(a, (5, 4), return_indices=True)[0]", [X]),
    ("F.max_pool1d(a, 2)", [(1, 2, 5)]), ("F.avg_pool2d(a, 3, 2, 1, count_include_pad=False)", [X]),
    ("F.adaptive_avg_pool2d(a, (4, 2))", [X]),
    ("F.adaptive_max_pool2d(a, (4, 2))", [X]), ("F.batch_norm(a, None, None, b, c, True)", [X, (4,), (4,)]),
    ("F.batch_norm(a, T.ones(4), T.ones(4) * 2, b, c)", [X, (4,), (4,)]), ("F.layer_norm(a, (6, 5), b, c)", [X, (6, 5), (6, 5)]),
    ("F.group_norm(a, 2, b, c)", [X, (4,), (4,)]), ("F.instance_norm(a)", [X]), ("F.embedding(b, a)", [(5, 3), [[0, 1], [1, 4]]]),
    ("F.embedding(b, a)", [(5, 0), [[0, 1], [1, 4]]]),
    ("F.embedding(b, a, padding_idx=1)", [(5, 3), [[0, 1], [1, 4]]]), ("F.embedding_bag(b, a, c)", [(5, 3), [0, 1, 1, 4], [0, 2, 2]]),
    ("T.embedding_bag(a * 0, b, c, False, 2, False, None, False, 0)", [(5, 3), [3, 0, 1, 3, 4, 2, 1], [0, 0, 4]]),         # equal rows
    ("F.embedding_bag(b, a + T.tensor([[1.], [0.], [float('nan')]]), c, mode='max')", [(3, 2), [2, 0, 0, 2, 1, 2], [0, 2, 5]]),
    ("F.pad(a, (1, 2, -1, 1), value=3)", [X]), ("F.pad(a, (1, 2, 3, 1), 'reflect')", [X]), ("F.pad(a, (1, 2, 3, 1), 'replicate')", [X]),
    ("F.pixel_shuffle(a, 2)", [X]), ("F.unfold(a, (2, 3), padding=1)", [X]), ("F.fold(a, (4, 4), 2)", [(1, 8, 9)]),
    ("F.interpolate(a, scale_factor=2)", [X]), ("F.interpolate(a, size=(4, 9), mode='bilinear')", [X]),
    ("F.interpolate(a, size=(4, 9), mode='bicubic', align_corners=True)", [X]), ("T.cdist(a, b)", [(3, 4), (2, 4)]),
    ("F.scaled_dot_product_attention(a, b, c, is_causal=True)", [(1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)]),
    ("F.scaled_dot_product_attention(a, b, c)", [(2, 3, 4), (2, 5, 4), (2, 5, 4)]),
    ("F.scaled_dot_product_attention(a.transpose(1, 2), b, c).transpose(1, 2).view(1, 3, 8)", [(1, 3, 2, 4), (1, 2, 5, 4), (1, 2, 5, 4)]),
    ("F.scaled_dot_product_attention(a.mT, b, c)", [(1, 2, 4, 3), (1, 2, 5, 4), (1, 2, 5, 4)]),
    ("F.scaled_dot_product_attention(a, b, c, T.tensor([[True, False], [False, False]]))", [(2, 2, 3), (2, 2, 3), (2, 2, 4)]),
    ("F.scaled_dot_product_attention(a, b, c, a[0, :, :1].detach() - float('inf'))", [(2, 2, 3), (2, 2, 3), (2, 2, 4)]),  # nowhere
    ("F.scaled_dot_product_attention(a, b, c).grad_fn.next_functions[0][0].next_functions[0][0].next_functions[0][0].next_functions[0][0]"
     ".name() == 'SafeSoftmaxBackward0' and a", [(2, 3, 4), (2, 5, 4), (2, 5, 6)]),
    ("F.grid_sample(a, b, align_corners=False)", [X, (2, 3, 3, 2)]),
    ("F.grid_sample(a, b, 'bicubic', 'reflection', True)", [X, (2, 3, 3, 2)]),
    *((f"F.grid_sample(a, b / 3, 'bilinear', '{mode}', {corners})", [(1, 1, 3, 3), [[[[-3., 3.], [-2., 2.], [0., -5.], [5., 1.]]]]])
      for mode in ("border", "reflection") for corners in (True, False)),                                # on the border, just
    ("F.interpolate(a, (4, 9), mode='lanczos', antialias=True)", [(1, 2, 8, 7)]),
    ("F.fractional_max_pool2d(a, 2, (0, 1))", [X]), ("F.fractional_max_pool3d(a, 2, (1, 0, 1))", [(1, 2, 4, 4, 4)]),
])
def test_results(text, shapes):
    same(text, *shapes, strides=False, tolerance=1e-4)


@pytest.mark.parametrize("text, shapes", [
    ("F.conv2d(a, b)", [X, (3, 2, 3, 3)]), ("F.conv2d(a, b)", [X, (3, 4, 9, 9)]), ("F.conv2d(a, b, c)", [X, (3, 4, 3, 3), (4,)]),
    ("F.conv2d(a, b, stride=0)", [X, (3, 4, 3, 3)]), ("F.max_pool2d(a, 9)", [X]), ("F.max_pool2d(a, 2, padding=2)", [X]),
    ("F.layer_norm(a, (4,))", [X]), ("F.group_norm(a, 3)", [X]), ("F.batch_norm(a, b, b, training=True)", [X, (3,)]),
    ("F.pixel_shuffle(a, 3)", [X]), ("F.unfold(a, 2)", [(3, 4)]),
    ("T.native_batch_norm(a, None, None, None, None, True, .1, 1e-5)", [(0, 4)]),
    ("F.batch_norm(a, None, None, b)", [(2, 0, 3), (0,)]), ("F.fractional_max_pool2d(a, 2, 9)", [X]),
    ("F.fractional_max_pool3d(a, 2, 2)", [(1, 4, 4, 3)]), ("F.adaptive_avg_pool2d(a, ())", [X]),
    ("F.adaptive_max_pool2d(a, (2, -1))", [X]), ("F.adaptive_avg_pool2d(a, (2, -1))", [X]),
    ("F.max_unpool2d(a, T.zeros(2, 4, 6, 4).long(), 2)", [X]), ("F.max_unpool3d(a, a.int(), 2)", [X]),
    ("F.fractional_max_pool2d(a, 2, (-1, 1))", [X]), ("F.adaptive_max_pool2d(a, 2)", [(4, 5)]),
    ("F.adaptive_max_pool3d(a, 2)", [[[[[1, 2]]]]]), ("F.fold(a, (4, 5), 2, 8)", [(1, 12, 12)]),
    *((f"F.interpolate(a{dtype}, 3, mode='{mode}', antialias=True)", [X])
      for mode, dtype in [("bilinear", ".half()"), ("bicubic", ".long()"), ("lanczos", ".bool()")]),
    *((f"F.interpolate(a, scale_factor={factor}, mode='bilinear')", [X]) for factor in ("1e20", "-1e20", "float('nan')")),
    ("F.cosine_similarity(a, a, eps=-.25)", [(2, 3)]),
    ("setattr(a.detach(), 'data', a.detach().to_sparse())", [(2, 2)]),
    *((f"F.fractional_max_pool3d(a, 2, 2, _random_samples=b.detach(){dtype})", [(2, 4, 4, 4, 4), samples])
      for dtype, samples in [("", (1, 4, 3)), ("", (2, 3, 3)), ("", (2, 4, 2)), ("", (4, 3)), (".double()", (2, 4, 3))]),
])
def test_errors(text, shapes):
    same(text, *shapes)


@pytest.mark.parametrize("text", [
    "F.batch_norm(a, m, v, b, c, True)", "F.batch_norm(a, m, v, training=True)", "F.batch_norm(a, None, None, b)"])
def test_an_empty_batch_leaves_the_running_statistics(text):
    same(f"(lambda m, v: ({text}, m, v))(T.zeros(4), T.ones(4))", (0, 4, 3), (4,), (4,))


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_samples_of_a_larger_batch_serve_a_smaller_one(batch):
    places = f"F.fractional_max_pool3d(a, 2, 2, _random_samples=T.linspace(0, .9, {12 * batch}).view({batch}, 4, 3), return_indices=True)"
    same(places, (4, 5, 4, 4))
    if batch > 1:
        same(places, (2, 4, 5, 4, 4))


@pytest.mark.parametrize("pads", [(1, 2), (4, 4), (-1, 1), (1, -1), (-2, 3), (-3, 4), (-1, -1), (0, 0)])
def test_what_is_padded_goes_round(pads):
    once = pads[1] <= 4 + min(pads[0], 0)                          # in a second round PyTorch copies what overlaps itself
    same(f"F.pad(a, {pads}, 'circular')", (2, 3, 4), nodes=False, grad=once)
    same(f"F.pad(a, {(*pads, 1, -1)}, 'circular')", (2, 3, 4), nodes=False, grad=once)


@pytest.mark.parametrize("text", [
    "F.max_pool2d(a, 2)", "F.fractional_max_pool2d(a, 2, 2)", "F.adaptive_max_pool2d(a, (2, 4))", "F.adaptive_avg_pool2d(a, (4, 5))",
    "F.adaptive_max_pool2d(a[:, 0], 3)", "F.adaptive_avg_pool2d(a[:, 0], 4)",
    "F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2)"])
def test_pools_of_no_samples(text):
    same(text, (0, 4, 6, 6))


def test_means_of_no_channels():
    same("F.adaptive_avg_pool2d(a, 2)", (2, 0, 4, 4), grad=False)
    same("F.interpolate(a, 2, mode='area')", (1, 0, 3), grad=False)


@pytest.mark.parametrize("text, shapes", [
    ("F.conv2d(a, b, c)", [(0, 3, 16, 16), (4, 3, 3, 3), (4,)]), ("F.conv1d(a, b)", [(0, 2, 140), (3, 2, 1)]),
    ("F.conv1d(a, b, c, 2)", [(2, 0, 7), (3, 0, 2), (3,)]), ("F.conv3d(a, b, c)", [(2, 0, 3, 4, 3), (3, 0, 1, 2, 2), (3,)])])
def test_convolutions_of_no_samples_and_of_no_channels(text, shapes):
    same(text, *shapes, strides=False)


def test_running_statistics_move():
    same("(lambda m, v: (F.batch_norm(a, m, v, training=True, momentum=0.3), m, v)[1:])(T.zeros(4), T.ones(4))", X, nodes=False)


def test_a_window_of_lowest_values_points_at_its_first():
    same("F.max_pool2d(T.full((1, 1, 3, 3), float('-inf')), 2, 2, 1, return_indices=True)[1]", grad=False)
    same("F.max_pool2d(T.tensor([[[[1., float('nan')], [float('nan'), 2.]]]]), 2, return_indices=True)[1]", grad=False)


def test_a_threshold_is_the_same_however_often_it_is_written():
    same("F.threshold(a.expand(3, 4), .2, .5, inplace=True)", (1, 4), grad=False)
    same("F.relu_(a.expand(3, 4))", (1, 4), grad=False)


def test_the_gradient_of_a_target_changes_with_a_logit_of_zero():
    x, target = jtensor.zeros(2, requires_grad=True), jtensor.tensor([0.25, 0.5], requires_grad=True)
    loss = jtensor.nn.functional.binary_cross_entropy_with_logits(x, target, reduction="sum", pos_weight=jtensor.tensor([2.0, 3.0]))
    first, = jtensor.autograd.grad(loss, target, create_graph=True)
    assert jtensor.autograd.grad(first.sum(), x)[0].tolist() == [-1.5, -2.0]


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_places_of_a_grid_that_are_no_numbers(mode, padding):
    places = "T.tensor([[nan, 0.], [inf, 1.], [-inf, .3], [.2, nan]])".replace("nan", "float('nan')").replace("inf", "float('inf')")
    same(f"F.grid_sample(a, {places}.view(1, 4, 1, 2), '{mode}', '{padding}', False)", (1, 2, 3, 2), grad=False)
    if mode != "bicubic":
        rows = f"T.cat([{places}, T.zeros(4, 1)], 1).view(1, 4, 1, 1, 3)"
        same(f"F.grid_sample(a, {rows}, '{mode}', '{padding}', True)", (1, 2, 2, 3, 2), grad=False)


@pytest.mark.parametrize("corners, of_maps", [
    (False, [[-796.5, -32.5, 30], [-32.5, -796.5, 30]]), (True, [[-356.5, -58.5, -412.5], [-58.5, -356.5, -412.5]])])
def test_an_identity_samples_at_the_middles_of_pixels(corners, of_maps):
    """There a gradient is that of one side or the other, which the last bits of the grid decide: PyTorch's sums, on x86-64."""
    F = jtensor.nn.functional
    picture = (jtensor.arange(144.) ** 2 % 13).reshape(1, 1, 12, 12)
    maps = jtensor.tensor([[[1., 0, 0], [0, 1, 0]]], requires_grad=True)
    F.grid_sample(picture, F.affine_grid(maps, picture.shape, align_corners=corners), align_corners=corners).sum().backward()
    jtensor.testing.assert_close(maps.grad, jtensor.tensor([of_maps]), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("text, target", [
    ("F.nll_loss(a, b)", [0, 5]), ("F.nll_loss(a, b, ignore_index=5)", [0, 5]), ("F.nll_loss(a, b, ignore_index=-1)", [-1, -2]),
    ("F.cross_entropy(a, b)", [-100, 3]), ("F.cross_entropy(a, b, label_smoothing=.1, reduction='sum')", [4, 0]),
    ("F.cross_entropy(a[:, :, None, None], b[:, None, None], reduction='none')", [1, 3]), ("F.cross_entropy(a[0], b[1])", [0, 7]),
    ("F.cross_entropy(a[:, :, None], b)", [1, 9]), ("F.multi_margin_loss(a, b)", [0, 3]),
    ("F.multilabel_margin_loss(a, b)", [[0, 3, -1], [0, 1, 2]]), ("F.multilabel_margin_loss(a, b)", [[2, -1, -1], [0, 1, 2]]),
])
def test_classes_that_are_not_there(text, target):
    same(text, (2, 3), target, strides=False)


def test_targets_made_by_comparing_or_choosing_are_not_looked_at():
    x = jtensor.rand(4, 3).exp()
    before = sum(jtensor.report().flushes.values())
    for target in ((x.sum(1) > 4).long(), x.argmax(1), jtensor.arange(3).repeat(2)[:4]):
        jtensor.nn.functional.cross_entropy(x, target)
    assert sum(jtensor.report().flushes.values()) == before


@pytest.mark.parametrize("text", [
    "F.binary_cross_entropy({x}, {x} * 4)", "F.binary_cross_entropy(-{x}, {x})", "F.binary_cross_entropy({x}, {x}.double())",
    "F.binary_cross_entropy({x}, T.tensor([0, 1]))", "F.binary_cross_entropy({x} > 0, {x})", "F.binary_cross_entropy({x}, {x}, {x} * 9)",
    "F.binary_cross_entropy({x} * 1j, {x} * 1j)", "F.binary_cross_entropy_with_logits({x}, T.tensor([0, 1]))",
    "F.binary_cross_entropy_with_logits({x}, {x} > 0)", "F.binary_cross_entropy_with_logits(T.tensor([0, 1]), {x})",
    "F.binary_cross_entropy_with_logits({x}, {x}.half()).dtype", "F.kl_div({x}, T.tensor([0, 1]), reduction='sum')",
    "F.kl_div({x}, T.tensor([0, 1]) + 0j, reduction='sum')",
])
def test_what_losses_of_probabilities_take(text):
    theirs, ours = (_answer(T, text.format(x="T.tensor([0.5, 0.25])")) for T in (torch, jtensor))
    assert ours == theirs


def _answer(T, text):
    try:
        answer = eval(text, {"T": T, "F": T.nn.functional})
        return round(answer.item(), 6) if hasattr(answer, "item") else str(answer)
    except Exception as error:
        return type(error).__name__, str(error)


def test_probabilities_that_their_origin_vouches_for_are_not_looked_at():
    x, label = jtensor.randn(4, 3), jtensor.rand(4, 3)
    label.tolist()
    before = sum(jtensor.report().flushes.values())
    made = x.sigmoid()
    for target in (jtensor.full((4, 3), 0.9), jtensor.ones(12).view(4, 3), (x > 0).float(), label.fill_(0.5), label.zero_()):
        jtensor.nn.functional.binary_cross_entropy(made.view(-1), target.view(-1))
    label[1] = 1.5
    assert sum(jtensor.report().flushes.values()) == before
    with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
        jtensor.nn.functional.binary_cross_entropy(made, label)


@pytest.mark.parametrize("text, shapes", [
    ("F.max_unpool1d(a, b, 2)", [(1, 1, 1), [[[7]]]]), ("F.max_unpool2d(a, b, 2)", [(1, 1, 1, 1), [[[[-1]]]]]),
    ("F.max_unpool3d(a, b, 2)", [(1, 1, 1, 1, 1), [[[[[8]]]]]]), ("F.embedding_bag(b, a, c)", [(2, 2), [0, -1], [0]]),
    ("F.embedding_bag(b, a, c, mode='max')", [(2, 2), [0, 9], [0]]), ("F.embedding(b, a, max_norm=1.0)", [(2, 2), [7]]),
    ("F.embedding_bag(b, a, c)", [(2, 2), [0, 1], [1]]), ("F.embedding_bag(b, a, c)", [(2, 2), [0, 1], [0, 3]]),
    ("F.embedding_bag(b, a, c, include_last_offset=True)", [(2, 2), [0, 1], [0, 1, 4]]),
    ("F.embedding_bag(b, a, c[:0], include_last_offset=True)", [(2, 2), [0], [0]]),
    ("F.embedding_bag(b, a, c, padding_idx=2)", [(2, 2), [0], [0]]), ("F.embedding_bag(b, a, c.float())", [(2, 2), [0], [0]]),
    ("F.embedding_bag(b, a, c, mode='sum', per_sample_weights=T.ones(1).double())", [(2, 2), [0], [0]]),
    ("T.histc(T.tensor([float('nan')]))", [(3,)]),
    ("T.histc((T.arange(200.) / 16).bfloat16(), 100, 0, 10)", [(3,)]),
    ("T.histc((T.arange(200.) / 16).half(), 7, 0.3, 9.1)", [(3,)]),
    ("T.histc(a, 3, 0, float('inf'))", [(3,)]),
    ("T.histogram(T.tensor([float('nan')]), 3)", [(3,)]),
    ("T.histogram(a, T.empty(0))", [(3,)]), ("T.histogram(a, 2, out=(T.empty(0).double(), T.empty(0)))", [(3,)]),
    ("T.histogram(a, 2, out=(T.empty(0), T.empty(0).double()))", [(3,)]),
])
def test_places_that_are_not_there(text, shapes):
    same(text, *shapes, grad=False)


def test_offsets_that_go_back_are_refused():
    """What PyTorch does of them depends on what lies behind the indices: mostly this error, zeros at times."""
    indices, weight = jtensor.tensor([0, 1]), jtensor.ones(2, 2)
    with pytest.raises(RuntimeError, match="Expected i < index_size to be true"):
        jtensor.nn.functional.embedding_bag(indices, weight, jtensor.tensor([0, 2, 1]))


def test_places_of_a_pool_are_not_looked_at():
    x = jtensor.randn(1, 2, 4, 4)
    before = sum(jtensor.report().flushes.values())
    made = jtensor.nn.functional.max_unpool2d(*jtensor.nn.functional.max_pool2d(x, 2, return_indices=True), 2)
    assert made.shape == x.shape and sum(jtensor.report().flushes.values()) == before


LOGITS, LABELS, JOINED, LONG, SHORT = (7, 3, 4), [[1, 2, 2], [3, 1, 0], [2, 0, 0]], [1, 2, 2, 3, 1, 2], [7, 6, 5], [3, 2, 1]


@pytest.mark.parametrize("text, shapes", [
    ("F.ctc_loss({lp}, b, c, d)", [LOGITS, LABELS, LONG, SHORT]),
    ("F.ctc_loss({lp}, b, c, d, reduction='none')", [LOGITS, JOINED, LONG, SHORT]),
    ("F.ctc_loss({lp}, b % 3, c, d, blank=3, reduction='sum')", [LOGITS, LABELS, LONG, SHORT]),
    ("F.ctc_loss({lp}, b, (7, 6, 5), [3, 2, 1])", [LOGITS, LABELS]),
    ("F.ctc_loss({lp}, b, c, d, reduction='none')", [LOGITS, LABELS, [2, 6, 5], SHORT]),
    ("F.ctc_loss({lp}, b, c, d, zero_infinity=True)", [LOGITS, LABELS, [2, 6, 5], SHORT]),
    ("F.ctc_loss({lp}, b, c, d, reduction='none')", [LOGITS, LABELS, [0, 6, 5], [0, 2, 0]]),
    ("F.ctc_loss({lp}[:, 0], b[0], c[0], d[0])", [LOGITS, LABELS, LONG, SHORT]),
    ("F.ctc_loss({lp}, T.zeros(0).long(), b, c)", [LOGITS, LONG, [0, 0, 0]]), ("F.ctc_loss({lp}[:, :0], b[:0], (), ())", [LOGITS, LABELS]),
    ("F.ctc_loss({lp}, b, c, d)", [LOGITS, LABELS, LONG, [4, 2, 1]]), ("F.ctc_loss({lp}, b, c, d)", [LOGITS, LABELS, [8, 6, 5], SHORT]),
    ("F.ctc_loss({lp}, b, c[:2], d)", [LOGITS, LABELS, LONG, SHORT]), ("F.ctc_loss({lp}, b, c, d[:2])", [LOGITS, LABELS, LONG, SHORT]),
    ("F.ctc_loss({lp}, b, c, d, blank=9)", [LOGITS, LABELS, LONG, SHORT]), ("F.ctc_loss({lp}, b[:2], c, d)", [LOGITS, LABELS, LONG, SHORT]),
    ("F.ctc_loss({lp}, b[:4], c, d)", [LOGITS, JOINED, LONG, SHORT]), ("F.ctc_loss({lp}, b, c.float(), d)", [LOGITS, LABELS, LONG, SHORT]),
    ("F.ctc_loss({lp}, b, c, d)", [LOGITS, LABELS, LONG, [3, -1, 1]]), ("F.ctc_loss({lp}.half(), b, c, d)", [LOGITS, LABELS, LONG, SHORT]),
])
def test_ctc_loss(text, shapes):
    same(text.format(lp="a.log_softmax(2)"), *shapes, tolerance=1e-4)


def test_gradient_of_log_probabilities_is_that_of_what_they_were_made_from():
    found = []
    for T in (torch, jtensor):
        p = T.linspace(-2, 1, 84).view(LOGITS).log_softmax(2).detach().requires_grad_()
        T.nn.functional.ctc_loss(p, T.tensor(LABELS), T.tensor([2, 6, 5]), T.tensor(SHORT), reduction="none").sum().backward()
        found.append(torch.tensor(p.grad.tolist()))
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("text, shapes", [
    ("F.interpolate(a.double(), scale_factor=1.7, mode='linear')", [(1, 1, 4)]),
    ("F.interpolate(a.double(), size=(3, 5), mode='bilinear')", [(1, 1, 4, 4)]),
    ("F.interpolate(a.double(), size=(3, 5), mode='bicubic', align_corners=True)", [(1, 1, 4, 4)]),
    ("F.interpolate(a.double(), size=(3, 5), mode='bicubic', antialias=True)", [(1, 1, 4, 4)]),
    ("F.interpolate(a, scale_factor=(1.3, 1.7), mode='bilinear')", [(1, 1, 2, 3)]),           # sizes that stay, whatever the scale
    ("F.interpolate(a, scale_factor=(1.3, 1.7), mode='bilinear', antialias=True)", [(1, 1, 2, 3)]),
    ("F.interpolate(a, scale_factor=(1.3, 1.3), mode='bicubic')", [(1, 1, 2, 2)]),
])
def test_images_are_resized_in_their_own_precision(text, shapes):
    same(text, *shapes, strides=False, nodes=False, tolerance=1e-12 if "double" in text else 1e-6)


@pytest.mark.parametrize("mode, n", [("linear", 1), ("nearest", 1), ("nearest", 2), ("bicubic", 2), ("trilinear", 3), ("nearest", 3)])
def test_images_of_no_size(mode, n):
    same(f"F.interpolate(a, scale_factor=0.2, mode={mode!r})", (1, 1, *(3,) * n))


@pytest.mark.parametrize("kind", ["int64", "bool", "complex64"])
@pytest.mark.parametrize("text", [
    "F.layer_norm(x, (4,))", "F.group_norm(x, 2)", "F.batch_norm(x, None, None, training=True)", "F.instance_norm(x)",
    "F.prelu(x, x[0, 0, :1])", "F.adaptive_avg_pool1d(x, 2)", "F.adaptive_avg_pool2d(x, 1)", "F.adaptive_avg_pool3d(x[None], 2)",
    "F.interpolate(x, scale_factor=2)", "F.interpolate(x[None], scale_factor=2)", "F.interpolate(x[None], scale_factor=2, mode='bilinear')",
    "F.interpolate(x[None], scale_factor=2, mode='bicubic')", "F.interpolate(x[None].repeat(1, 2, 1, 1), scale_factor=2)",
])
def test_types_without_a_kernel(kind, text):
    found = []
    for lib in (torch, jtensor):
        x = lib.ones(1, 2, 4).to(getattr(lib, kind))
        try:
            found.append(str(eval(text, {"F": lib.nn.functional, "x": x}).dtype))
        except (RuntimeError, NotImplementedError) as error:
            found.append((type(error).__name__, str(error)))
    assert found[0] == found[1]


@pytest.mark.parametrize("how", ["mode='bilinear'", "mode='bicubic'", "mode='bilinear', antialias=True", "mode='bicubic', antialias=True",
                                 "mode='bilinear', align_corners=True", "mode='nearest'"])
def test_images_of_bytes_are_resized_with_whole_numbers(how):
    for size in ((5, 4), (14, 20), (3, 12)):
        same(f"F.interpolate((a * 70 + 128).clamp(0, 255).to(T.uint8), {size}, {how})", (1, 3, 7, 9), grad=False)


@pytest.mark.parametrize("kernel, shape", [
    (2, (2, 3, 7, 9)), ((3, 2), (3, 6, 4)), (1, (1, 2, 3, 3)), ((2, 1, 3), (1, 2, 5, 2, 6)), (4, (2, 1, 16))])
def test_the_gradient_of_windows_side_by_side_goes_to_the_maxima(kernel, shape):
    """It is what unpooling makes of it: ties go to the first, NaN is a maximum, what is in no window gets nothing, -0.0 is 0.0."""
    F, n = jtensor.nn.functional, len(kernel) if isinstance(kernel, tuple) else len(shape) - 2
    jtensor.manual_seed(2)
    x = jtensor.randn(shape).mul(2).round()
    x.view(-1)[3] = float("nan")
    pool, back = getattr(F, f"max_pool{n}d"), getattr(F, f"max_unpool{n}d")
    out, where = pool(x.requires_grad_(), kernel, return_indices=True)
    grad = jtensor.randn(out.shape)
    grad.view(-1)[0] = -0.0
    out.backward(grad)
    expected = back(grad, where, kernel, output_size=shape[-n:]) + 0.0
    assert x.grad.numpy().tobytes() == expected.numpy().tobytes()
