"""Functions of tensors, for each operator that can be written as ONNX: ``cases(torch)`` with PyTorch or jtensor.

A case: (name, function, inputs, {(which input, axis): (name, another size)} of the axes that may change).
"""
import math


def _numbers(torch, *shape, low=-2.0, high=2.0):
    count = math.prod(shape)
    x = torch.arange(float(count)) * 0.7548776662
    return (low + (high - low) * (x - torch.floor(x))).reshape(shape)


ROWS = {(0, 0): ("n", 5)}
BOTH = {(0, 0): ("n", 5), (1, 0): ("n", 5)}
ALL = {(0, 0): ("n", 4), (0, 1): ("m", 6)}
IMAGES = {(0, 0): ("n", 3)}
PLACES = {(0, 0): ("n", 3), (0, 2): ("h", 11), (0, 3): ("w", 12)}


def pointwise(torch):
    x, y = _numbers(torch, 3, 4), _numbers(torch, 3, 4, low=0.3, high=2.5)
    inside, above = _numbers(torch, 3, 4, low=-0.9, high=0.9), _numbers(torch, 3, 4, low=1.1, high=3)
    i, j = torch.tensor([[7, -7, 5, -5], [1, 2, -3, 9], [0, 4, 6, -8]]), torch.tensor([[2, 2, -3, -3], [1, -2, 2, 4], [3, 3, -4, 3]])
    for name in ("abs neg ceil floor exp sin cos tan sinh cosh tanh asinh atan erf sigmoid sign square exp2 expm1 trunc round frac erfc "
                 "deg2rad rad2deg relu").split():
        yield name, getattr(torch, name), (x,), ROWS
    for name in "sqrt log rsqrt reciprocal log2 log10 log1p".split():
        yield name, getattr(torch, name), (y,), ROWS
    for name in "asin acos atanh".split():
        yield name, getattr(torch, name), (inside,), ROWS
    yield "acosh", torch.acosh, (above,), ROWS
    yield "sinc", torch.sinc, (x,), ROWS
    yield "logit", lambda x: (torch.logit(x), torch.logit(x - 0.4, eps=0.1)), (_numbers(torch, 3, 4, low=0.1, high=0.9),), ROWS
    yield "rounds", lambda x: torch.round(x * 3, decimals=1), (x,), ROWS
    for name in "add sub mul div maximum minimum atan2 logaddexp hypot pow fmod remainder".split():
        yield name, getattr(torch, name), (y, y.flip(1)), BOTH
    yield "signed", lambda x, y: (torch.remainder(x, y), torch.fmod(x, y), x // y, torch.div(x, y, rounding_mode="trunc"), x - 2 * y,
                                  torch.add(x, y, alpha=3), torch.sub(x, y, alpha=0.5), 1 - x, torch.rsub(x, y), torch.atan2(x, y)), (x,
                                  x.flip(0)), BOTH
    yield "whole", lambda i, j: (i + j, i * 2, i - j, i // j, i % j, torch.fmod(i, j), torch.div(i, j, rounding_mode="trunc"), i / j,
                                 i ** 2, -i, abs(i), torch.maximum(i, j), i.clamp(-3, 3), i + 0.5, torch.sqrt(i * i), i.floor()), (
                                     i, j), BOTH
    yield "small", lambda i: (i.to(torch.int32) * 2, i.to(torch.float64) / 3, (i > 0) + (i > 2), (i > 0) * (i > 2), i.to(torch.int8) > 3), (
        i,), ROWS
    yield "compared", lambda x, y: (x == y, x != y, x > y, x >= 1, x < y, x <= 0.5, (x > 0) == (y > 0)), (x, x.flip(0)), BOTH
    yield "logic", lambda i, j: ((i > 0) & (j > 0), (i > 0) | (j > 0), (i > 0) ^ (j > 0), ~(i > 0), torch.logical_and(i, j),
                                 torch.logical_or(i, j), torch.logical_xor(i, j), torch.logical_not(i)), (i, j), BOTH
    yield "bits", lambda i, j: (i & j, i | j, i ^ j, ~i), (i, j), BOTH
    odd = torch.tensor([[1.0, float("nan"), float("inf"), -float("inf")]] * 3)
    yield "odd", lambda x: (torch.isnan(x), torch.isinf(x), torch.isfinite(x), torch.nan_to_num(x, nan=2.0, posinf=9.0)), (odd,), ROWS
    yield "chosen", lambda x, y: (torch.where(x > 0, x, y), torch.where(x > 0, x, 2.5), x.masked_fill(x > 1, -7), x.clamp(min=0),
                                  x.clamp(max=y), torch.clamp_min(x, 0.5), torch.clamp_max(x, 0.5)), (x, y), BOTH
    yield "mixed", lambda x, y: (torch.lerp(x, y, 0.3), torch.addcmul(x, x, y, value=0.5), torch.addcdiv(x, x, y, value=2)), (x, y), BOTH
    yield "scalars", lambda x: (x + 1, 2 * x, x / 3, 1 / (x + 3), x ** 3, 2 ** x, x.float() * True, x + torch.tensor(2)), (x,), ROWS


def activations(torch):
    F, x = torch.nn.functional, _numbers(torch, 3, 4, low=-4, high=4)
    for name in ("relu relu6 elu selu celu leaky_relu gelu silu mish softplus logsigmoid hardsigmoid hardswish hardtanh softsign "
                 "tanhshrink hardshrink softshrink").split():
        yield name, getattr(F, name), (x,), ROWS
    yield "set_activations", lambda x: (F.elu(x, 0.3), F.celu(x, 0.7), F.leaky_relu(x, 0.3), F.gelu(x, approximate="tanh"), F.softplus(x,
              3),
                                        F.hardtanh(x, -0.2, 0.4), F.threshold(x, 0.5, -1), F.rrelu(x), F.hardshrink(x, 1.5)), (x,), ROWS
    yield "glu", lambda x: (F.glu(x), F.glu(x.repeat(2, 1), 0)), (x,), ROWS
    yield "prelu", lambda x: F.prelu(x, torch.tensor([0.1, 0.2, 0.3, 0.4])), (x,), ROWS
    yield "prelu_images", lambda x: F.prelu(x, torch.tensor([0.1, 0.2])), (_numbers(torch, 2, 2, 3, 3),), IMAGES
    yield "softmaxes", lambda x: (F.softmax(x, 1), F.log_softmax(x, 0), F.softmin(x, 1), x.softmax(-1, dtype=torch.float64)), (x,), ROWS
    yield "no_dropout", lambda x: (F.dropout(x, 0.5, False), F.alpha_dropout(x, 0.5, False)), (x,), ROWS


def reductions(torch):
    x = _numbers(torch, 3, 4, 2)
    i = torch.arange(24).reshape(3, 4, 2) % 5
    yield "sums", lambda x: (x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), x.mean(), x.mean(-1), x.prod(), x.prod(1),
                             x.sum(dtype=torch.float64)), (x,), ROWS
    yield "counts", lambda i: (i.sum(), i.sum(0), (i > 2).sum(1), i.float().mean(0), torch.count_nonzero(i), torch.count_nonzero(i, 1)), (
              i,), ROWS
    yield "extremes", lambda x: (x.max(), x.min(), *x.max(1), *x.min(2, keepdim=True), x.amax(1), x.amin((0, 2)), x.amax()), (x,), ROWS
    yield "whole_extremes", lambda i: (i.max(), i.amin(1), *i.max(2)), (i,), ROWS
    yield "places", lambda x: (x.argmax(), x.argmin(1), x.argmax(2, keepdim=True)), (x,), ROWS
    yield "quantifiers", lambda i: ((i > 0).any(), (i > 0).all(), (i > 0).any(1), (i < 4).all(2, keepdim=True), i.any()), (i,), ROWS
    yield "deviations", lambda x: (x.std(), x.var(), x.std(1), x.var(0, unbiased=False), x.var((0, 1), keepdim=True), x.std(2,
              correction=0),
                                   *torch.var_mean(x, 1), *torch.std_mean(x, 0)), (x,), ROWS
    yield "norms", lambda x: (x.norm(), x.norm(dim=1), x.norm(1, 1), torch.linalg.vector_norm(x, 3, (0, 1)), x.norm(float("inf"), 2),
                              torch.linalg.norm(x), torch.linalg.vector_norm(x, 0, 1), torch.nn.functional.normalize(x, dim=1)), (x,), ROWS
    yield "sums_of_exponentials", lambda x: (torch.logsumexp(x, 1), torch.logsumexp(x, (0, 2), keepdim=True)), (x,), ROWS
    yield "cumulated", lambda x: (x.cumsum(0), x.cumsum(2)), (x,), ROWS
    yield "of_a_number", lambda x: (x.sum().sum(0), x.sum().max(), x.sum().cumsum(0), x.mean().argmax()), (x,), ROWS


def shapes(torch):
    F, x = torch.nn.functional, _numbers(torch, 3, 4, 2)
    yield "views", lambda x: (x.view(-1, 2), x.reshape(x.size(0), -1), x.flatten(), x.flatten(1), x.flatten(0, 1), x.view(x.shape[0], 2,
              2, 2),
                              x.unflatten(1, (2, -1)), x.reshape(x.shape[0] * x.shape[1], 2), x.view_as(x)), (x,), ROWS
    yield "turned", lambda x: (x.permute(2, 0, 1), x.transpose(0, -1), x.mT, x[0].t(), x.movedim(0, 2), x.swapaxes(1, 2), x.contiguous()), (
        x,), ROWS
    yield "ones", lambda x: (x.unsqueeze(0).squeeze(0), x[:, :1].squeeze(), x[:, :1].squeeze(1), x.unsqueeze(-1), x.squeeze(1)), (x,), ROWS
    yield "widened", lambda x: (x[:, :1].expand(-1, 4, 2), x[:, :1].expand_as(x), x.repeat(2, 1, 1), x.repeat(2, 1, 1, 1), x.tile(2),
                                torch.broadcast_to(x[0], (2, 4, 2)), x.repeat_interleave(2, 1), x.repeat_interleave(3, 0)), (x,), ROWS
    yield "parts", lambda x: (x[0], x[-1], x[:, 1:3], x[:, ::2], x[..., -1], x.narrow(1, 1, 2), x.select(2, 1), x[1:], x[:-1], x[:, -2:]), (
        x,), ROWS
    yield "turned_round", lambda x: (x.flip(1), x.flip(0, 2), x.roll(1, 1), x.roll((1, -1), (0, 2)), x.roll(2)), (x,), ROWS
    yield "triangles", lambda x: (x.tril(), x.triu(1), x.tril(-1), x.triu(-1)), (x,), ROWS
    yield "diagonals", lambda x: (torch.diagonal(x, 0, 1, 2), torch.diagonal(x, 1, 1, 2), torch.diagonal(x, -1, 1, 2)), (x,), ROWS
    yield "windows", lambda x: (x.unfold(1, 2, 1), x.unfold(1, 3, 2)), (x,), ROWS
    yield "joined", lambda x: (torch.cat((x, x), 1), torch.cat((x, x + 1)), torch.stack((x, x), 1), torch.hstack((x, x)), torch.vstack((x,
              x)),
                               torch.cat((x, x.long()), -1)), (x,), ROWS
    yield "split", lambda x: (*x.split(3, 1), *x.chunk(2, 1), *x.unbind(1), *x.split((1, 3), 1), *torch.tensor_split(x, 3, 1)), (x,), ROWS
    yield "changing_split", lambda x: (*x.chunk(2), *x.transpose(0, 1).chunk(2, 1)), (_numbers(torch, 4, 3),), {(0, 0): ("n", 6)}
    yield "meshes", lambda x: (*torch.meshgrid(x[:, 0, 0], x[0, :, 0], indexing="ij"), *torch.meshgrid(x[:, 0, 0], x[0, :, 0],
              indexing="xy"),
                               *torch.broadcast_tensors(x, x[:1])), (x,), ROWS
    yield "padded", lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 0, 0, 2), value=3.0), F.pad(x, (-1, 0)), F.pad(x, (0, 1), "reflect"),
                               F.pad(x, (1, 1), "replicate"), F.pad(x, (1, 1), "circular")), (x,), ROWS
    c = _numbers(torch, 2, 4, 4, 6)
    yield "shuffled", lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 2)), (c,), {
        (0, 0): ("n", 3), (0, 2): ("h", 6), (0, 3): ("w", 8)}
    yield "columns", lambda x: F.unfold(x, (2, 3), padding=1, stride=2), (c,), IMAGES
    yield "made", lambda x: (torch.zeros(x.shape), torch.ones(x.size(0), 2), torch.full((x.shape[0],), 2.5), torch.arange(x.size(0)),
                             torch.arange(1, x.size(0) + 1, 2), torch.zeros_like(x), torch.full_like(x, 3), x.new_zeros(x.size(0), 3),
                             x.new_full((2, 2), 7), torch.eye(x.shape[0]), torch.ones_like(x, dtype=torch.int64),
                             torch.linspace(0, 1, x.shape[0]), torch.arange(5), torch.tensor([1.0, 2.0]) + x), (x,), ROWS
    yield "sizes", lambda x: (x / x.size(0), x.sum(0) / x.shape[0], x * x.numel(), x.mean() + x.shape[0] // 2), (x,), ROWS
    yield "types", lambda x: (x.long(), x.double(), x.to(torch.float16), x.bool(), x.int(), x.type_as(x.long()), x.to(x.long()),
              x.half().float()), (
        x,), ROWS


def images(torch):
    F, x = torch.nn.functional, _numbers(torch, 2, 4, 8, 9)
    w, b = _numbers(torch, 6, 4, 3, 3), _numbers(torch, 6)
    yield "conv2d", lambda x: (F.conv2d(x, w, b), F.conv2d(x, w, stride=2, padding=1), F.conv2d(x, w, dilation=2, padding=(1, 2)),
                               F.conv2d(x, w[:, :2], groups=2), F.conv2d(x, w, padding="same")), (x,), PLACES
    yield "conv1d", lambda x: F.conv1d(x[:, :, 0], w[..., 0], b, padding=1), (x,), PLACES
    yield "conv3d", lambda x: F.conv3d(x[:, :, None], w[:, :, None]), (x,), PLACES
    t = _numbers(torch, 4, 3, 3, 2)
    yield "conv_transposed", lambda x: (F.conv_transpose2d(x, t), F.conv_transpose2d(x, t, stride=2, padding=1, output_padding=1),
                                        F.conv_transpose2d(x, t[:, :2], groups=2, dilation=2)), (x,), PLACES
    yield "pooled", lambda x: (F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1),
                               F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.max_pool2d(x, 2, ceil_mode=True),
                               F.max_pool1d(x[:, :, 0], 3, 1, dilation=2), F.avg_pool1d(x[:, :, 0], 2), F.max_pool3d(x[:, None], 2),
                               F.avg_pool2d(x, 2, ceil_mode=True)), (x,), PLACES
    yield "pooled_without_a_batch", lambda x: (F.max_pool2d(x[0], 2), F.avg_pool2d(x[0], 2), F.adaptive_avg_pool2d(x[0], 1)), (x,), PLACES
    yield "adaptive", lambda x: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (1, 1)), F.adaptive_max_pool1d(x[:, :, 0], 1),
              F.adaptive_max_pool2d(x, 1),
                          *F.adaptive_max_pool1d(x[:, :, 0], 1, return_indices=True)), (x,), PLACES
    yield "adaptive_parts", lambda x: (F.adaptive_avg_pool2d(x, (4, 3)), F.adaptive_avg_pool2d(x, (3, 5)), F.adaptive_avg_pool1d(x[:, 0],
              4),
                                F.adaptive_max_pool2d(x, (4, 3))), (
        x,), IMAGES
    yield "normalized", lambda x: (F.batch_norm(x, b[:4], b[:4] ** 2, b[:4], b[:4]), F.batch_norm(x, b[:4], b[:4] ** 2),
                                   F.instance_norm(x, weight=b[:4], bias=b[:4]), F.group_norm(x, 2, b[:4], b[:4]), F.group_norm(x, 4),
                                   F.instance_norm(x)), (x,), PLACES
    yield "normalized_rows", lambda x: (F.layer_norm(x, (9,)), F.layer_norm(x, (8, 9), x[0, 0], x[0, 1]), F.rms_norm(x, (9,), x[0, 0, 0]),
                                        F.layer_norm(x, (9,), x[0, 0, 0])), (x,), IMAGES
    yield "resized", lambda x: (F.interpolate(x, scale_factor=2), F.interpolate(x, scale_factor=2, mode="bilinear"),
                                F.interpolate(x, (5, 7), mode="bilinear", align_corners=True), F.interpolate(x, (5, 13)),
                                F.interpolate(x, scale_factor=1.5, mode="bicubic"), F.interpolate(x[:, 0], scale_factor=3, mode="linear"),
                                F.interpolate(x, size=x.shape[2:], mode="bilinear")), (x,), PLACES
    grid = _numbers(torch, 2, 3, 5, 2, low=-1.2, high=1.2)
    yield "sampled", lambda x, g: (F.grid_sample(x, g, align_corners=False), F.grid_sample(x, g, "nearest", "border", True),
                                   F.grid_sample(x, g, padding_mode="reflection", align_corners=True)), (x, grid), {
                                       (0, 0): ("n", 3), (1, 0): ("n", 3)}
    yield "affine", lambda t: F.affine_grid(t, (2, 1, 3, 4), False), (_numbers(torch, 2, 2, 3),), {}


def products(torch):
    F, a, b, m = torch.nn.functional, _numbers(torch, 2, 3, 4), _numbers(torch, 2, 4, 5), _numbers(torch, 4, 4)
    yield "products", lambda a, b: (a @ b, torch.bmm(a, b), torch.matmul(a[0], b[0]), a @ b[0, :, 0], torch.mm(a[0], b[0]), torch.mv(a[0],
              b[0, :, 0]),
                                    torch.dot(a[0, 0], b[0, :, 0]), torch.outer(a[0, 0], b[0, :, 0])), (a, b), BOTH
    yield "added_products", lambda a, b: (torch.addmm(a[0, :, :1], a[0], b[0], beta=0.5, alpha=2), torch.baddbmm(a[:, :, :1], a, b,
              beta=2)), (a, b), BOTH
    yield "layers", lambda a: (F.linear(a, m), F.linear(a, m, m[0]), F.linear(a[:, 0], m, m[0]), F.linear(a[:, 0], m),
                               F.bilinear(a[:, 0], a[:, 1], _numbers(torch, 3, 4, 4), m[0, :3])), (a,), ROWS
    yield "sums_of_products", lambda a, b: (torch.einsum("bij,bjk->bik", a, b), torch.einsum("bij->ij", a), torch.einsum("bij,bij->b", a,
              a),
                                            torch.tensordot(a, b, ([2], [1])), torch.tensordot(a, m, 1)), (a, b), BOTH
    yield "whole_products", lambda a: a.long() @ a.long().mT, (a,), ROWS
    yield "distances", lambda a: (torch.cdist(a, a + 1), torch.cdist(a, a + 1, p=1), F.pairwise_distance(a[0], a[1]),
              F.cosine_similarity(a, a.flip(0), -1)), (
        a,), ROWS
    yield "crossed", lambda a: torch.linalg.cross(a[..., :3], a[..., 1:]), (a,), ROWS
    q, k, v = [_numbers(torch, 2, 2, n, 4) + at for at, n in enumerate((3, 5, 5))]
    changing = {(0, 0): ("n", 3), (1, 0): ("n", 3), (2, 0): ("n", 3), (0, 2): ("l", 4), (1, 2): ("s", 7), (2, 2): ("s", 7)}
    yield "attention", lambda q, k, v: (F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, scale=0.3),
                                        F.scaled_dot_product_attention(q, k, v, is_causal=True)), (q, k, v), changing
    yield "masked_attention", lambda q, k, v: (F.scaled_dot_product_attention(q, k, v, (q @ k.mT) > 0.1),
                                               F.scaled_dot_product_attention(q, k, v, q @ k.mT)), (q, k, v), changing


def places(torch):
    x, i = _numbers(torch, 3, 4, 2), torch.tensor([[0, 2, 1], [1, -1, 0]])
    table = _numbers(torch, 7, 3)
    yield "embedded", lambda i: torch.nn.functional.embedding(i % 7, table), (i,), ROWS
    yield "indices", lambda x: (x[[0, 2]], x[:, i], x[i], x[i[0], i[1]], x[:, i[0], i[0] % 2], x[i[0], :, i[0] % 2], x[i[0][:, None], i[1]],
                                x[:, -1, [0, 1]], x[0, [1, 2]]), (x,), ROWS
    yield "masks", lambda x: (x[x > 0], x[x[:, 0, 0] > 0], x[:, x[0, :, 0] > -1], torch.masked_select(x, x > 1), torch.nonzero(x > 0),
                              x[x > 0].sum(), x[x > 0].unsqueeze(0) * 2), (x,), ROWS
    yield "rows", lambda x: (torch.index_select(x, 1, i[0]), torch.gather(x, 0, i[:1, :, None]), torch.take(x, i % 24), x.gather(1,
              x.argsort(1))), (
        x,), ROWS
    yield "sorted", lambda x: (*x.topk(2, 1), *x.sort(1), *x.sort(0, descending=True), x.argsort(2), *x.topk(1, 0, largest=False),
              x.msort()), (
        x,), ROWS
    yield "one_hot", lambda i: torch.nn.functional.one_hot(i % 5, 5), (i,), ROWS
    yield "buckets", lambda x: (torch.bucketize(x, table[:3, 0].sort()[0]), torch.searchsorted(table[:3, 0].sort()[0], x, right=True)), (
              x,), ROWS
    yield "unique", lambda i: (torch.unique(i), *torch.unique(i, return_inverse=True, return_counts=True)), (i,), ROWS
    r = _numbers(torch, 3, 4)
    j = torch.tensor([[0, 1, 2, 0], [2, 2, 1, 1], [1, 0, 0, 2]])
    yield "scattered", lambda r, j: (r.scatter(1, j, r + 9), r.scatter(1, j, 7.0), r.scatter_add(1, j, r), r.scatter(1, j[:, :2], r),
                                     r.index_add(1, j[0, :2], r[:, :2]), r.index_fill(1, j[0, :1], 5), r.index_copy(1, j[0, :3], r[:, 1:]),
                                     r.scatter_reduce(1, j, r, "amax"), r.scatter_reduce(1, j, r, "sum")), (r, j), BOTH
    yield "put", lambda r, j: (r.index_put((j[0, :3],), r[:3]), r.index_put((j[0, :2], j[1, :2]), torch.tensor(3.0)),
                               r.index_put((j[0],), r[:1], accumulate=True)), (r, j), {}


def writes(torch):
    x = _numbers(torch, 3, 4)

    def some(x):
        x = x.clone()
        x[0] = 1
        x[:, 2:] = x[:, :2]
        x[x > 1] = 0.5
        x[0, 0] = 2
        x[:, 1] += 3
        x[1:, ::2] *= 2
        return x

    def through(x):
        y = x * 1
        first, flat = y[0], y.view(-1)
        first.add_(1)
        flat[5:7] = 9
        y.t()[1].mul_(3)
        return y, first, flat, y.sum(0)

    def lists(x):
        y = x + 0
        a, b = y.chunk(2, 1)
        a.fill_(7)
        y[torch.tensor([0, 2])] = 0
        y[[1], [3]] = x[0, 0]
        return y, a, b

    def in_place(x):
        y = x.clone()
        y.add_(1).mul_(2).clamp_(min=0).sub_(x)
        torch.relu_(y)
        z = torch.zeros(x.size(0), 4)
        z[:, 1:3] = y[:, :2]
        z.masked_fill_(z > 2, -1)
        return y, z
    for function in (some, through, lists, in_place):
        yield function.__name__, function, (x,), ROWS


def losses(torch):
    F, x, y = torch.nn.functional, _numbers(torch, 3, 4), _numbers(torch, 3, 4, low=0.1, high=0.9)
    target = torch.tensor([1, 3, 0])
    yield "regression", lambda x, y: tuple([f(x, y, reduction=r) for f in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss)
                                            for r in ("mean", "sum", "none")]) + (F.smooth_l1_loss(x, y, beta=0.5), F.huber_loss(x, y,
                                            delta=2.0)), (x, y), BOTH
    yield "binary", lambda x, y: (F.binary_cross_entropy(y, y), F.binary_cross_entropy_with_logits(x, y, reduction="none"),
                                  F.binary_cross_entropy_with_logits(x, y, pos_weight=y[0]), F.kl_div(x, y, reduction="sum"),
                                  F.soft_margin_loss(x, y)), (x, y), BOTH
    yield "classes", lambda x, t: (F.cross_entropy(x, t), F.cross_entropy(x, t, reduction="none"), F.nll_loss(F.log_softmax(x, 1), t),
                                   F.cross_entropy(x, t, weight=torch.tensor([1.0, 2.0, 3.0, 4.0]), ignore_index=0)), (x, target), BOTH


def others(torch):
    F, x, images = torch.nn.functional, _numbers(torch, 3, 4), _numbers(torch, 2, 2, 4, 6, 4)
    i = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6]])
    yield "names", lambda x: (x.T, x.mH, x.adjoint(), x[...] + 1, x.detach() * 2, torch.sgn(x), torch.positive(x), x.reshape_as(x.clone()),
                              x.resolve_conj().resolve_neg(), torch.dstack((x, x)), torch.constant_pad_nd(x, (1, 2), 0.5),
                              x.new_ones(x.size(0), 2), torch.scalar_tensor(x.size(0)) + x), (x,), ROWS
    yield "filled", lambda x: (torch.empty(x.size(0), 4).fill_(2), torch.empty_like(x).zero_(), x.new_empty(x.size(0), 2).copy_(x[:, :2])),\
        (x,), ROWS
    yield "bitwise", lambda i: (torch.bitwise_and(i, 6), torch.bitwise_or(i, 8), torch.bitwise_xor(i, i // 2)), (i,), ROWS
    yield "volumes", lambda x: (F.avg_pool3d(x, 2), F.adaptive_avg_pool3d(x, 1), F.adaptive_avg_pool3d(x, (2, 3, 2)),
                                F.adaptive_max_pool3d(x, 2),
                                F.interpolate(x, scale_factor=2), F.interpolate(x, scale_factor=2, mode="trilinear"),
                                F.interpolate(x[:, 0, 0], scale_factor=2), F.dropout2d(x[:, 0], training=False),
                                F.feature_alpha_dropout(x, training=False)), (images,), IMAGES
    yield "convolved", lambda x: torch.convolution(x, images[:, :, :2, :3, 0], None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), (
        images[..., 0],), IMAGES
    yield "multiplied", lambda x: (torch.inner(x, x + 1), torch.inner(x, x[0]), torch.vdot(x[0], x[1]),
                                   torch.addmv(x[:, 0], x, x[0], alpha=2),
                                   torch.cross(x[:, :3], x[:, 1:], -1), torch.det(x[:, :3].mT @ x[:, :3]),
                                   torch.linalg.det(x[:, :2].mT @ x[:, :2]), F.margin_ranking_loss(x, x.flip(1), x.sign())), (x,), ROWS


def cases(torch):
    """All cases."""
    for family in (pointwise, activations, reductions, shapes, images, products, places, writes, losses, others):
        for name, *rest in family(torch):
            yield f"{family.__name__}-{name}", *rest
