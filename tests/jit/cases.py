"""Modules for PyTorch to make TorchScript of, and what they are called with. jtensor reads what PyTorch has written."""
# ruff: noqa: UP006, UP007, UP032, UP045, B007 - TorchScript's own way to write types and texts
import enum
from typing import Any, Dict, List, NamedTuple, Optional, Union  # noqa: UP035

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    """Layers, a loop, an optional number, a dictionary, methods beside ``forward``."""

    def __init__(self):
        super().__init__()
        self.c, self.bn, self.l, self.drop = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Linear(4 * 3 * 3, 10), nn.Dropout(0.3)
        self.n, self.names, self.scale = 3, ["a", "b"], 0.5

    def forward(self, x, flag: Optional[int] = None):
        x = F.max_pool2d(torch.relu(self.bn(self.c(x))), 2)
        x = self.drop(x)
        if flag is not None:
            x = x * flag
        for i in range(self.n):
            x = x + i
        kept: List[torch.Tensor] = []
        for name in self.names:
            if name == "a":
                kept.append(x)
        return self.l(torch.flatten(torch.cat(kept, 1), 1)), {"k": x.mean(dim=(2, 3))}

    @torch.jit.export
    def tail(self, x):
        return x[:, 1:, None] + self.twice(x.size(0))

    @torch.jit.export
    def twice(self, k: int):
        return k * 2

    @torch.jit.export
    def count(self):
        self.n += 1
        return self.n


class Point(NamedTuple):
    x: torch.Tensor
    y: int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.n = start
        self.seen: List[int] = []

    def add(self, k: int):
        self.n += k
        self.seen.append(k)
        return self.n


def helper(x, k: int = 3):
    if k > 2:
        return x * k
    return x - k


class Language(nn.Module):
    """What there is of Python: numbers, texts, lists, tuples, dictionaries, loops, classes, enumerations."""

    def __init__(self):
        super().__init__()
        self.colour = Colour.BLUE
        self.table = {"one": 1, "two": 2}
        self.pairs = [(1, 2.5), (3, 4.5)]
        self.register_buffer("b", torch.arange(4.0))

    def forward(self, x):
        return helper(x) + helper(x, 1) + self.b

    @torch.jit.export
    def numbers(self, a: int, b: float):
        c = a // 2 + a % 3 - a ** 2 + int(b) + round(b)
        d = a / 3 + b * 2.0 - abs(-b) + float(a) + min(a, 7) + max(b, 0.5)
        return c, d, a > 2 and b < 1.0, not (a == 3), -a, [a, a + 1], divmod(a, 2), a << 2, a & 6, a | 1

    @torch.jit.export
    def texts(self, s: str):
        parts = s.split(" ")
        parts.append("end".upper())
        return "-".join(parts), len(s), s[1:3], s[0], s + "!", "{}:{}".format(s, len(parts)), s.startswith("a"), "b" in s, f"<{s}>"

    @torch.jit.export
    def lists(self, items: List[int]):
        items.append(5)
        doubled = [2 * k for k in items]
        doubled.sort()
        last = doubled.pop()
        doubled[0] = 9
        total = 0
        for k, item in enumerate(items):
            if item == 2:
                continue
            total += k * item
        for a, b in zip(items, doubled):
            total += a * b
        return doubled, last, items[::2], items[-1], len(items), total, 3 in items, sum(items), items + [1], [0] * 2, items == [1]

    @torch.jit.export
    def dictionaries(self, d: Dict[str, int]):
        d["new"] = 4
        total = 0
        for key in d:
            total += d[key]
        for key, value in self.table.items():
            total += value
        found = d.get("a", 0)
        return d, total, found, "a" in d, list(d.keys()), len(d), {k: v + 1 for k, v in d.items()}

    @torch.jit.export
    def loops(self, n: int):
        total, k = 0, 0
        while k < n:
            k += 1
            if k == 3:
                continue
            if k > 6:
                break
            total += k
        for i in range(10, 0, -3):
            total += i
        return total, k

    @torch.jit.export
    def objects(self, x):
        p = Point(x, 3)
        c = Counter(1)
        c.add(2)
        c.add(4)
        return p, p.x + p.y, c.n, c.seen, self.colour == Colour.BLUE, self.pairs[1][0]

    @torch.jit.export
    def unions(self, x: Optional[torch.Tensor], u: Union[int, List[int]], a: Any):
        n = 0
        if x is None:
            n = 1
        else:
            n = x.size(0)
        if isinstance(u, int):
            n += u
        else:
            n += len(u)
        return n, isinstance(a, str)

    @torch.jit.export
    def refuses(self, x):
        if x.size(0) > 1:
            raise ValueError("too many: {}".format(x.size(0)))
        return x


class Tensors(nn.Module):
    """Operators as PyTorch's compiler writes them."""

    def forward(self, x, i):
        n, m = x.shape
        y = x.view(-1, 2).to(torch.float64).to(x.dtype) + x.reshape(n * m // 2, 2).type_as(x)
        y = y.permute(1, 0).contiguous().softmax(-1, dtype=torch.float32) + x.new_zeros([2, 1]) + torch.zeros(2, n * m // 2)
        z = torch.where(x > 0, x, -x).masked_fill(x > 1, 0.5).clamp(min=0.1)
        z[0] = 1.0
        z[:, 1] += 2
        w = x[i] + torch.full([1, 1], 2.0, dtype=x.dtype) + torch.ones_like(x[i])
        x = x.clone()
        x[i] = torch.arange(4.0) + x[i]
        a, b = torch.split(x, 2, dim=1)[0:2]
        v, k = x.topk(2, dim=1)
        s, _ = x.sort(dim=1, descending=True)
        e = torch.einsum("ij,kj->ik", x, x)
        t = torch.tensor([1.5, 2.5], dtype=torch.float32) + float(x.sum().item() > 0) + torch.arange(2) + torch.linspace(0, 1, 2)
        u = x.unbind(0)[1] + torch.stack([x[0], x[1]]).mean(0) + x.std(dim=0, unbiased=False) + x.amax(dim=0)
        out = torch.empty([2, 2], dtype=torch.float32).fill_(3).add_(1).unsqueeze(0).expand(3, 2, 2).transpose(1, 2).sum(dim=[0])
        return y, z, w, a - b, v, k, s, e, t, u, out, x.dtype == torch.float32, x.device.type, x.dim(), x.is_contiguous(), list(x.size())


class Layers(nn.Module):
    """Many layers, one after the other."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(12, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm, self.group = nn.LayerNorm(8), nn.GroupNorm(2, 8)
        self.stack = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8, bias=False), nn.SiLU(), nn.ELU(0.5), nn.Hardswish(),
                                   nn.LeakyReLU(0.1), nn.Softplus(), nn.PReLU(), nn.Tanh(), nn.Softmax(-1), nn.Dropout(0.2))
        self.list = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.table = nn.ModuleDict({"a": nn.Conv1d(8, 8, 3, padding=1), "b": nn.ConvTranspose1d(8, 8, 3, padding=1)})

    def forward(self, ids):
        x, _ = self.lstm(self.embed(ids))
        x, h = self.gru(x)
        x = self.norm(x + self.attention(x, x, x)[0])
        x = self.stack(x)
        for layer in self.list:
            x = layer(x)
        for layer in self.table.values():
            x = layer(x.transpose(1, 2)).transpose(1, 2)
        return self.group(x.transpose(1, 2)), h


class Pictures(nn.Module):
    """Convolutions, pools, padding and resizing."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 6, 3, stride=2, padding=1, groups=3, padding_mode="reflect")
        self.b = nn.ConvTranspose2d(6, 4, 2, stride=2)
        self.n = nn.InstanceNorm2d(4, affine=True)

    def forward(self, x):
        x = self.n(self.b(self.a(x)))
        up = F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        near = F.interpolate(x, size=[5, 7], mode="nearest")
        cubic = F.interpolate(x, size=(9, 9), mode="bicubic", align_corners=True)
        padded = F.pad(F.pad(x, (1, 1, 0, 0), "reflect"), [1, 0, 2, 0], value=0.5)
        grid = F.affine_grid(torch.eye(2, 3).unsqueeze(0).repeat(x.size(0), 1, 1), [x.size(0), 4, 6, 6], align_corners=False)
        sampled = F.grid_sample(x, grid, align_corners=False, padding_mode="border")
        pooled = F.adaptive_avg_pool2d(x, (2, 3)), F.avg_pool2d(x, 2), F.max_pool2d(x, 3, 2, ceil_mode=True), F.adaptive_max_pool2d(x, 2)
        return up, near, cubic, padded, sampled, pooled, F.unfold(x, 2), F.pixel_shuffle(x, 2), F.normalize(x, dim=1)


class Losses(nn.Module):
    """Losses, whose reductions are numbers."""

    def forward(self, x, y, k):
        p = torch.sigmoid(x)
        return (F.mse_loss(x, y), F.l1_loss(x, y, reduction="sum"), F.smooth_l1_loss(x, y, beta=0.5), F.huber_loss(x, y, delta=0.7),
                F.cross_entropy(x, k, label_smoothing=0.1), F.nll_loss(F.log_softmax(x, 1), k, reduction="none"),
                F.binary_cross_entropy(p, torch.sigmoid(y)), F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)),
                F.kl_div(F.log_softmax(x, 1), torch.softmax(y, 1), reduction="batchmean"), F.cosine_similarity(x, y),
                F.hinge_embedding_loss(x, y.sign()), F.triplet_margin_loss(x, y, x - y), F.margin_ranking_loss(x[0], y[0], y[1].sign()),
                F.poisson_nll_loss(x, p), F.soft_margin_loss(x, y.sign()), F.multi_margin_loss(x, k),
                F.cosine_embedding_loss(x, y, torch.ones(x.size(0))))


class Algebra(nn.Module):
    """Names of other rooms: ``linalg``, ``fft``, ``special``."""

    def forward(self, x):
        s = x @ x.t() + 3 * torch.eye(3)
        f = torch.fft.rfft(x, dim=1)
        return (torch.linalg.inv(s), torch.linalg.norm(x), torch.linalg.det(s), torch.fft.irfft(f, n=4, dim=1), f.abs(),
                torch.special.expit(x), torch.bmm(x.unsqueeze(0), x.t().unsqueeze(0)), torch.addmm(s, x, x.t(), alpha=0.5),
                torch.cumsum(x, 1), torch.logsumexp(x, 1), torch.view_as_real(f),
                torch.stft(x[0].repeat(4), 4, hop_length=2, window=torch.hann_window(4), return_complex=True).real)


def inputs():
    """{name: (module, what its ``forward`` is called with)}, from the same seed each time."""
    torch.manual_seed(0)
    made = {
        "net": (Net(), [torch.randn(2, 1, 8, 8)]),
        "language": (Language(), [torch.arange(4.0)]),
        "tensors": (Tensors(), [torch.randn(2, 4), torch.tensor([1])]),
        "layers": (Layers(), [torch.tensor([[1, 2, 3], [4, 0, 6]])]),
        "pictures": (Pictures(), [torch.randn(2, 3, 6, 6)]),
        "losses": (Losses(), [torch.randn(3, 4), torch.randn(3, 4), torch.tensor([0, 3, 1])]),
        "algebra": (Algebra(), [torch.randn(3, 4)]),
    }
    return {name: (module.eval(), given) for name, (module, given) in made.items()}


METHODS = [
    ("net", "tail", ["torch.ones(2, 3)"]), ("net", "twice", ["4"]), ("net", "count", []), ("net", "count", []),
    ("language", "numbers", ["5", "2.5"]), ("language", "numbers", ["3", "1"]), ("language", "texts", ["'a bc d'"]),
    ("language", "lists", ["[1, 2, 3]"]), ("language", "lists", ["(4, 2)"]), ("language", "dictionaries", ["{'a': 1, 'b': 2}"]),
    ("language", "loops", ["20"]), ("language", "objects", ["torch.ones(2)"]), ("language", "unions", ["None", "3", "'s'"]),
    ("language", "unions", ["torch.ones(4)", "[1, 2]", "2"]), ("language", "refuses", ["torch.ones(1)"]),
    ("language", "refuses", ["torch.ones(3)"]), ("language", "numbers", ["'a'", "1.0"]), ("language", "numbers", ["1"]),
    ("language", "numbers", ["1", "2.0", "3"]), ("language", "lists", ["[1.5]"]), ("language", "numbers", ["1", "c=2.0"]),
    ("net", "forward", ["torch.ones(2)"]), ("net", "nothing", []),
]
"""(module, method, arguments) of calls beside the modules' own."""
