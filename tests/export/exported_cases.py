"""Modules to be exported, by PyTorch and by jtensor: ``cases(torch)`` with either of them gives {name: (module, args, kwargs)}.

All have the same numbers in both: parameters are set by hand (`fill`).
"""
import functools
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "jit"))
import traced_cases

sys.path.pop(0)


def fill(torch, module):
    """Numbers for parameters and buffers that do not depend on anybody's random stream."""
    with torch.no_grad():
        for at, (_, one) in enumerate(module.named_parameters()):
            one.copy_(torch.from_numpy((np.sin(np.arange(one.numel()) * 0.7 + at) * 0.5).astype(np.float32).reshape(one.shape)))
    return module


def of_function(torch, function):
    """A module that calls a function of one to three arguments."""
    class OneArgument(torch.nn.Module):
        def forward(self, x):
            return function(x)

    class TwoArguments(torch.nn.Module):
        def forward(self, x, y):
            return function(x, y)

    class ThreeArguments(torch.nn.Module):
        def forward(self, x, y, z):
            return function(x, y, z)
    return (OneArgument, TwoArguments, ThreeArguments)[function.__code__.co_argcount - 1]()


def functions(torch):
    """{name: (function, arguments)}."""
    F, nn = torch.nn.functional, torch.nn
    x, i = torch.arange(6.).reshape(2, 3) / 3 - 0.7, torch.tensor([[0, 1, 1]])
    n = torch.tensor([[1, 2, 3], [4, 5, 6]])
    image, series = torch.arange(32.).reshape(1, 2, 4, 4) / 9 - 1, torch.arange(12.).reshape(1, 3, 4) / 5
    kept = torch.tensor([1., 2., 3.])
    made = {name: case for name, case in traced_cases.functions(torch).items()
            if name not in ("rest", "indices", "operators", "activations", "seldom")}        # the last asserts what numbers say

    def aug(x):
        y = x.clone()
        y += 1
        y *= x
        y -= 2
        y /= 3
        z = y[0]
        z.mul_(3)
        return y, z

    def in_place_zoo(x):
        y = x.clone()
        y.clamp_(min=-0.5).abs_().sqrt_()
        y.add_(x, alpha=2).sub_(1).neg_()
        y.masked_fill_(x > 0, 1.5)
        y.zero_()
        y.fill_(2)
        y.copy_(x)
        y[:, 0] += 1
        return y.t_()

    def set_items(x):
        x = x.clone()
        x[[0, 1]] = 1
        x[0] = x[1]
        x[...] = 2
        x[0, :] = torch.tensor([1., 2, 3])
        x[:] = x * 2
        x[0] += 1
        x[:, 1] *= x[:, 0]
        x[x > 1] = 0.
        x[1:, 1:] = x[:1, :2]
        return x

    def closure(x):
        return x + kept * kept.sum(), x @ kept

    def sizes(x):
        return x * len(x) + x.shape[0] + x.numel() + x.dim() + x.size(-1), x.reshape(-1), x.view(x.shape[::-1])
    made |= {
        "indices": (lambda x: (x[0, 1], x[:, 1:], x[..., None], x[None], x[-1], x[:, i[0]], x[::2, 0], x[:], x[...], x[0:2], x[0:1, 0:3],
                               x[0, ..., None], x[:, None, :1], x[1:100]), (x,)),
        "operators": (lambda x: (x**2, 2**x, x // 2, x % 2, x == 1, x > x, -x, abs(x), ~(x > 0), 3 - x, 2 / x, x / 2, x**x, 3 // x), (x,)),
        "whole": (lambda n: (n & 1, n | n, n ^ 3, n << 1, n >> 1, n // 2, n % 2, -n, n + 1.5, n * n, n / 2, n == n, n ** 2, n.sum(),
                             n.float().mean(), n.bitwise_not()), (n,)),
        "pointwise": (lambda x: (torch.exp(x), x.log1p(), torch.sin(x), x.cos(), torch.tan(x), x.tanh(), torch.sigmoid(x), x.abs(),
                                 x.sign(), x.floor(), x.ceil(), x.round(), x.trunc(), x.frac(), x.square(), torch.rsqrt(x.abs()), x.erf(),
                                 torch.atan2(x, x), torch.maximum(x, -x), torch.minimum(x, -x), x.pow(3), x.reciprocal(), x.isnan(),
                                 torch.lerp(x, x * 2, 0.3), torch.addcmul(x, x, x, value=2), torch.addcdiv(x, x, x + 5),
                                 torch.logical_and(x > 0, x < 1), x.nan_to_num(), torch.hypot(x, x), x.exp2(), x.logit(0.1),
                                 torch.fmod(x, 2), torch.remainder(x, 2), torch.float_power(x.abs(), 2)), (x,)),
        "reduced": (lambda x: (x.sum(), x.sum(1), x.sum((0, 1), keepdim=True), x.mean(), x.mean(-1), x.mean(dim=1, keepdim=True), x.prod(1),
                               x.max(), x.amax(1), x.amin(), x.max(1)[0], x.min(dim=0).indices, x.argmax(), x.argmin(1), x.std(), x.var(),
                               x.std(1), x.var(1, unbiased=False), x.std(dim=1, correction=0), x.norm(), x.norm(dim=1), x.logsumexp(1),
                               x.cumsum(1), x.cumprod(0), x.any(), x.all(1), x.median(), x.median(1)[0], torch.var_mean(x, 1)[1],
                               x.count_nonzero(), x.sum(1, dtype=torch.float64)), (x,)),
        "views": (lambda x: (x.view(3, 2), x.reshape(6), x.permute(1, 0), x.transpose(0, 1), x.t(), x.T, x.mT, x.unsqueeze(0), x.squeeze(),
                             x[None].squeeze(0), x.expand(4, 2, 3), x.repeat(2, 1), x.flatten(), x.unflatten(1, (3, 1)), x.narrow(1, 0, 2),
                             x.select(0, 1), x.diagonal(), x.unfold(1, 2, 1), x.movedim(0, 1), torch.swapaxes(x, 0, 1), x.view_as(x),
                             x.expand_as(x), x.ravel(), x.tile(2), x.roll(1, 0), x.flip(0), x.rot90(), x.chunk(2)[0], x.split([1, 2], 1)[1],
                             x.contiguous(), x.t().contiguous(), x.view(torch.int32), torch.broadcast_to(x, (2, 2, 3)),
                             torch.atleast_3d(x)), (x,)),
        "joined": (lambda x, y: (torch.cat([x, y]), torch.stack([x, y], -1), torch.hstack((x, y)),
                                 torch.vstack([x, y]), torch.dstack((x, y)),
                                 torch.where(x > y, x, 0.), torch.cat((x, y), dim=-1), *torch.meshgrid(x[0], y[0], indexing="ij"),
                                 *torch.broadcast_tensors(x, y[:1]), torch.tensor_split(x, 2, 1)[0], torch.block_diag(x, y)), (x, x * 2)),
        "products": (lambda x, y: (x @ y, torch.mm(x, y), torch.matmul(x, y), torch.bmm(x[None], y[None]), torch.mv(x, y[:, 0]),
                                   torch.dot(x[0], x[1]), torch.outer(x[0], x[1]), torch.addmm(x[:, :2], x, y), torch.einsum("ij,jk", x, y),
                                   torch.baddbmm(x[None, :, :2], x[None], y[None]), torch.tensordot(x, y, 1), torch.kron(x, y),
                                   torch.linalg.inv(x @ y + torch.eye(2)), torch.trace(x @ y), torch.cross(x, x + 1, dim=1)),
                     (x, x.t().contiguous())),
        "chosen": (lambda x: (x.gather(1, i), x.index_select(1, i[0]), x.take(i), torch.take_along_dim(x, i, 1), x.sort()[0],
                              x.sort(1, descending=True)[1], x.argsort(1), x.topk(2)[1], x.kthvalue(1)[0], x.scatter(1, i[:, :1], 0.),
                              x.scatter_add(1, i, x), x.index_add(1, i[0], x), x.masked_fill(x > 0, 0.), x.tril(), x.triu(1), x.diag(),
                              torch.searchsorted(kept, x), torch.bucketize(x, kept), x.index_fill(1, i[0], 3.), x.clamp(0, 1),
                              x.clamp(max=0.3), F.one_hot(i, 3), x.scatter_reduce(1, i, x, "sum")), (x,)),
        "activations": (lambda x: (F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.elu(x), F.elu(x, 0.5), F.leaky_relu(x, 0.2),
                                   F.leaky_relu(x), F.hardtanh(x), F.relu6(x), F.softplus(x), torch.sigmoid(x), torch.tanh(x),
                                   F.hardswish(x), F.mish(x), F.selu(x), F.glu(x[:, :2]), F.hardsigmoid(x), F.hardshrink(x), F.softsign(x),
                                   F.softshrink(x), F.tanhshrink(x), F.celu(x), F.threshold(x, 0.1, 2.), F.logsigmoid(x), F.softmin(x, 1),
                                   F.softmax(x, -1), F.log_softmax(x, 1), F.normalize(x), F.relu(x), F.prelu(x, kept[:1])), (x,)),
        "losses": (lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.cross_entropy(x, i[0][:2]), F.nll_loss(x, i[0][:2]),
                                 F.binary_cross_entropy(x.sigmoid(), y.sigmoid()), F.binary_cross_entropy_with_logits(x, y),
                                 F.kl_div(x, y, reduction="sum"), F.huber_loss(x, y), F.cosine_similarity(x, y),
                                 F.cross_entropy(x, i[0][:2], label_smoothing=0.1, reduction="none"), F.hinge_embedding_loss(x, y),
                                 F.margin_ranking_loss(x, y, y), F.soft_margin_loss(x, y), F.poisson_nll_loss(x, y),
                                 F.pairwise_distance(x, y), F.kl_div(x, y, reduction="batchmean")), (x, x * 2)),
        "images": (lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 2, 1), F.adaptive_avg_pool2d(x, 1), F.interpolate(x, scale_factor=2),
                              F.interpolate(x, size=(3, 3), mode="bilinear"), F.pad(x, (1, 1, 0, 2)), F.pad(x, (1, 1), value=3.),
                              F.pad(x, (1, 1, 1, 1), mode="reflect"), F.unfold(x, 2), F.pixel_unshuffle(x, 2), F.max_pool2d(x, 3, 2, 1),
                              F.dropout(x, 0.5, False), F.adaptive_max_pool2d(x, 2), F.channel_shuffle(x, 2)), (image,)),
        "series": (lambda x: (F.conv1d(x, x[:, :, :2]), F.conv1d(x, x[:, :, :3], padding=1, stride=2), F.avg_pool1d(x, 2),
                              F.conv1d(x, x[:, :, :3], padding="same"), F.max_pool1d(x, 2), F.conv_transpose1d(x, x[0, :, None, :2]),
                              F.layer_norm(x, (4,)), F.group_norm(x, 3), F.batch_norm(x, None, None, training=True), F.instance_norm(x),
                              F.rms_norm(x, (4,)), F.interpolate(x, 8)), (series,)),
        "made": (lambda x: (torch.zeros(2, 3), torch.ones((2,)), torch.full((2, 2), 7), torch.arange(1, 4, 2), torch.linspace(0, 1, 3),
                            torch.eye(3), torch.zeros_like(x), torch.full_like(x, 2.), x.new_ones(2), x.new_full((2,), 1.5),
                            torch.empty_like(x).fill_(1), torch.arange(3, dtype=torch.float32), torch.tril_indices(2, 2),
                            torch.zeros(3, dtype=torch.int64), torch.ones(x.shape, dtype=x.dtype, device=x.device),
                            torch.scalar_tensor(2.), x.new_tensor([1., 2.]) if False else x, torch.hann_window(4)), (x,)),
        "written_out": (lambda x: (x + torch.tensor(2.), x * torch.tensor([1., 2, 3]), torch.as_tensor([1, 2, 3]) + x), (x,)),
        "cast": (lambda x: (x.double(), x.to(torch.float16), x.to("cpu"), x.to(x), x.to(torch.device("cpu"), torch.float64), x.bool(),
                            x.type(torch.int32), x.type_as(x), x.long().float(), x.to(dtype=torch.float64), x.int()), (x,)),
        "aug": (aug, (x,)), "in_place_zoo": (in_place_zoo, (x,)), "in_place_input": (lambda x: (x.add_(1), x * 2), (x,)),
        "closure": (closure, (x,)), "sizes_as_numbers": (sizes, (x,)), "twice": (lambda x, y: x * y + x, (x, x)),
        "complex": (lambda x: (torch.complex(x, x).abs(), torch.fft.rfft(x).real, torch.view_as_real(torch.fft.fft(x)),
                               torch.polar(x, x).angle()), (x,)),
        "nested_results": (lambda x, y, z: {"a": x, "b": [x + 1, (y["k"], None, 3, "s")], "c": z[0] * 2}, (x, {"k": x * 2}, [x, (x,)])),
        "attention": (lambda x: (F.scaled_dot_product_attention(x, x, x),
                                    F.scaled_dot_product_attention(x, x, x, is_causal=True)), (image,)),
        "checks": (lambda x: x + 1 if x.shape[0] == 2 and x.dtype is torch.float32 and not x.is_complex() else x, (x,)),
        "pooled_by_powers": (lambda x: F.lp_pool2d(x, 2, 2), (image,)), "responses": (lambda x: F.local_response_norm(x, 2), (series,)),
        "masked_out": (lambda x: x[x > 0], (x,)), "counted": (lambda x: x.nonzero(), (x,)), "numbers": (lambda x: x * x.sum().item(), (x,)),
        "without_gradient": (lambda x: x + torch.no_grad()(lambda: x * 2)(), (x,)),
        "aliases": (lambda x: (torch.multiply(x, 2), torch.absolute(x), torch.clip(x, 0), torch.greater(x, 0), torch.concat([x]),
                               torch.arctan(x), torch.true_divide(x, 2), torch.negative(x), torch.not_equal(x, 1), x.clone().clip_(0)),
                    (x,)),
        "lists_as_indices": (lambda x: (x[[0, 1]], x[:, [0, 2]], x[torch.tensor([0])]), (x,)), "set_items": (set_items, (x,)),
        "random": (lambda x: (x + torch.rand(2, 3), torch.randn_like(x), F.dropout(x, 0.3), torch.bernoulli(x.sigmoid())), (x,)),
    }
    return {name: (of_function(torch, function), given, {}) for name, (function, given) in made.items() if nn is not None}


def modules(torch, filled=fill):
    """{name: (module, args, kwargs)}."""
    nn, F = torch.nn, torch.nn.functional
    x = torch.arange(6.).reshape(2, 3) / 3 - 0.7
    image = torch.arange(96.).reshape(2, 3, 4, 4) / 50 - 1
    words = torch.tensor([[1, 2, 3], [4, 5, 6]])

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn, self.fc1 = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Linear(16, 5)
            self.drop, self.c = nn.Dropout(0.5), torch.ones(5)

        def forward(self, x):
            x = F.max_pool2d(torch.relu(self.bn(self.conv(x))), 2)
            x = x.flatten(1)
            return self.drop(self.fc1(x)) + self.c

    class Shared(nn.Module):
        """Tied weights, a buffer written in place and one that is replaced, tensors in lists and attributes."""

        def __init__(self):
            super().__init__()
            self.register_buffer("b", torch.zeros(3))
            self.register_buffer("unsaved", torch.zeros(3), persistent=False)
            self.l, self.k, self.n, self.listed = nn.Linear(3, 3), nn.Linear(3, 3), 5, [torch.ones(3)]
            self.k.weight = self.l.weight
            self.l.kept = torch.ones(3)

        def forward(self, x):
            self.n += 1
            self.b.add_(x.sum(0))
            self.unsaved = self.unsaved + 1
            return self.k(self.l(x)) + self.b + self.unsaved + self.listed[0] + self.l.kept

    class Named(nn.Module):
        def forward(self, x, n, *rest, k, d=None, **more):
            return x * n + rest[0] + k + more["z"] + (d["q"] if d else 0)

    class Clashing(nn.Module):
        def __init__(self):
            super().__init__()
            self.l, self.x = nn.Linear(3, 3), nn.Parameter(torch.ones(3))
            self.register_buffer("p_x", torch.ones(3))

        def forward(self, x, p_x, add, s=None):
            return self.l(x) * self.x + p_x + add + self.p_x

    class Constants(nn.Module):
        def forward(self, x, n, s, f, b, none):
            return (x * n + f if b else x), n, s, none

    class Spelled(nn.Module):
        """Names that PyTorch writes otherwise: large letters, what begins with self."""

        def __init__(self):
            super().__init__()
            self.W, self.self_x, self.C = nn.Parameter(torch.ones(3)), nn.Linear(3, 3), torch.ones(3)
            self.layers = nn.ModuleList([nn.Sequential(nn.Linear(3, 3))])

        def forward(self, X, self_y=None):
            return self.layers[0](self.self_x(X) * self.W) + self.C

    class Flexible(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
            self.table = nn.ParameterDict({"a": nn.Parameter(torch.ones(3))})
            self.choice = nn.ModuleDict({"relu": nn.ReLU(), "gelu": nn.GELU()})

        def forward(self, x, *, how="relu"):
            for layer in self.layers:
                x = self.choice[how](layer(x)) * self.table["a"]
            return x

    def layer(build, *given):
        return lambda: (build(), given, {})
    made = {name: (lambda name=name: (*traced_cases.modules(torch)[name], {})) for name in sorted(traced_cases.modules(torch))}
    made |= {
        "net": layer(Net, image), "net_eval": layer(lambda: Net().eval(), image), "shared": layer(Shared, x), "clashing": layer(
            Clashing, x, x * 2, x * 3), "named": lambda: (Named(), (x, 2, x * 2), {"k": x * 3, "z": x * 4, "d": {"q": x * 5}}),
        "constants": layer(Constants, x, 2, "s", 1.5, True, None), "spelled": layer(Spelled, x, x),
        "flexible": lambda: (Flexible(), (x,), {"how": "gelu"}),
        "layer_norm": layer(lambda: nn.LayerNorm(3), x), "embedding": layer(lambda: nn.Embedding(8, 3, padding_idx=0), words),
        "embedding_bag": layer(lambda: nn.EmbeddingBag(8, 3), words), "bilinear": layer(lambda: nn.Bilinear(3, 3, 2), x, x * 2),
        "attention": layer(lambda: nn.MultiheadAttention(4, 2, batch_first=True), image[0], image[0], image[0]),
        "encoder": layer(lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True), image[0]),
        "conv_zoo": layer(lambda: nn.Sequential(nn.Conv2d(3, 6, 2, groups=3), nn.ConvTranspose2d(6, 2, 2),
                                                nn.InstanceNorm2d(2, affine=True),
                                                nn.ZeroPad2d(1), nn.AdaptiveAvgPool2d((2, 2)), nn.Flatten(), nn.Linear(8, 2)), image),
        "conv3d": layer(lambda: nn.Sequential(nn.Conv3d(3, 2, 2), nn.BatchNorm3d(2), nn.ELU()), image[None].transpose(1, 2)),
        "lstm_cell": layer(lambda: nn.LSTMCell(3, 4), x), "gru_cell": layer(lambda: nn.GRUCell(3, 4), x),
        "rnn": layer(lambda: nn.RNN(3, 4, batch_first=True), image[:, 0, :, :3]), "bn_1d": layer(lambda: nn.BatchNorm1d(3), x),
        "bn_no_stats": layer(lambda: nn.BatchNorm1d(3, track_running_stats=False), x),
        "loss": layer(nn.CrossEntropyLoss, x, torch.tensor([0, 2])), "identity": layer(nn.Identity, x),
        "upsample": layer(lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), image),
        "weight_norm": layer(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)), x),
    }
    found = {}
    for name, build in made.items():
        torch.manual_seed(0)
        module, args, kwargs = build()
        found["module_" + name] = filled(torch, module), args, kwargs
    return found


def cases(torch):
    """All of them."""
    return functions(torch) | modules(torch)


@functools.cache
def ours():
    """All of them, of jtensor: made once for all tests that ask for one."""
    import jtensor
    return cases(jtensor)


def told(torch, case):
    """What is compared: {what: its text}; or the error's type and first line."""
    module, args, kwargs = case
    try:
        program = torch.export.export(module, args, kwargs)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    inner = program.module()
    parts = {
        "graph": program.graph, "signature": program.graph_signature, "nests": program.call_spec, "code": program.graph_module.code,
        "module": inner.code, "names": [list(program.state_dict), list(program.constants), [name for name, _ in inner.named_parameters()],
                                        [name for name, _ in inner.named_buffers()], list(inner.state_dict())],
        "shown": str(inner).partition("\n\n\n")[0], "calls": program.module_call_graph,
        "specs": [program.graph_signature.input_specs, program.graph_signature.output_specs],
        "values": [[str(node.meta["val"].dtype), list(node.meta["val"].shape), list(node.meta["val"].stride())]
                   for node in program.graph.nodes if hasattr(node.meta.get("val"), "stride")]}
    return {name: str(part).replace("jtensor", "torch") for name, part in parts.items()}


KEPT = "graph", "nests", "module"                                  # what is stored beside the tests; the rest is compared live


def main(name, only=()):
    """Prints what a library says of the cases, as JSON."""
    import json
    import logging
    import warnings
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch = __import__(name)
    print("\n" + json.dumps({case: told(torch, given) for case, given in cases(torch).items() if not only or case in only}))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "torch", sys.argv[2:])
