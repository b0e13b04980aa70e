"""Programs for `torch.jit.script`, run with PyTorch's ``torch`` and with jtensor's: ``load(lib)`` answers this file's names with either."""
# ruff: noqa: F821, UP006, UP007, UP032, UP035, UP045, B007, C416, F841, UP031
import enum
import math
from pathlib import Path
from typing import Any, Dict, Final, List, NamedTuple, Optional, Tuple, Union


def load(lib):
    """{name: what it is} of this file, whose ``torch`` is a library."""
    space = {"torch": lib, "__name__": "scripted_cases", "__file__": __file__}
    exec(compile(Path(__file__).read_text(), __file__, "exec"), space)
    return space


if "torch" in globals():
    Tensor, nn, F = torch.Tensor, torch.nn, torch.nn.functional

    # -- functions ------------------------------------------------------------------------------------------------------------------------

    def straight(x, y):
        z = x + y * 2
        unused = x + 1
        w = z
        return w - 1

    def defaults(x, n: int = 3, flag: bool = False, s: str = "a", f: float = 2, o: Optional[int] = None):
        if flag:
            x = x + 1
            q = 3
        else:
            q = 4
            x = x * n
        return x * q * f

    def early(x: Tensor) -> Tensor:
        if x.sum() > 100:
            return x
        y = x * 2
        for i in range(3):
            if bool(y.sum() > i):
                return y + i
            y = y + i
        return y - 1

    def leaving(x, n: int):
        i = 0
        while i < n:
            i += 1
            if i == 2:
                continue
            if i > 5:
                break
            x = x + i
        return x

    def nested_loops(x, n: int):
        total = 0
        for i in range(n):
            for j in range(i, n, 2):
                if j == 3:
                    break
                total += i * j
            else_ = total
        return x * total

    def containers(xs: List[Tensor], d: Dict[str, int], o: Optional[Tensor] = None):
        s = 0
        for k, v in d.items():
            s += v
        for key in d:
            s += d[key]
        for x in xs:
            s += x.size(0)
        if o is not None:
            xs.append(o + 1)
        r = [x * 2 for x in xs]
        m = {str(i): i * 2 for i in range(3)}
        return torch.cat(xs, 0), s, r[0], len(xs), f"a{s}b {s}", "{} {}".format(s, 2), m, "%d-%s" % (s, "x")

    def indices(x):
        a, b = x.shape[0], x.size(1)
        y = x[0, 1:, ..., None]
        z = x[:, 1]
        x = x.clone()
        x[0] = 1
        x[:, 1] = x[:, 0]
        x[x > 2] = 0.5
        x[0, 0] += 2
        w = x[x > 0]
        i = torch.tensor([0, 1])
        return (y, z, w, a // b, a / b, -a, not (a > b and b > 1), a if a > b else b, x[-1], x[:], x[1:3], x[:, :2], x[i], x[:, i],
                x[[0, 1]], x[::2], x[..., 0], x[None, :, 1])

    def checks(x):
        # type: (Tensor) -> Tensor
        assert x.dim() == 2, "two dims"
        assert x.dim() == 2
        if x.dim() > 3:
            raise ValueError("bad" + str(x.dim()))
        return F.relu(x) + F.dropout(x, 0.5, False) + torch.zeros(2, 3, dtype=torch.float, device=x.device) + x.to(torch.float32)

    def numbers(x: Tuple[int, float], l: List[int]):
        a, b = x
        l2 = l[1:]
        l.append(3)
        l[0] = 4
        d = {"a": 1}
        d["b"] = l[-1]
        e: List[int] = []
        e2: Dict[str, Tensor] = {}
        f = torch.jit.annotate(List[float], [])
        for i, q in enumerate(l):
            e.append(i * q)
        for q, r in zip(l, e):
            a += q * r
        return (x[0], a, l2, d, "a" in d, e, max(a, 1), min(l), sum(l), abs(a), int(b), float(a), bool(a), round(b), e2, f, 1e-5,
                float("inf"), a ** 2, a % 2, math.sqrt(2.0), math.pi * b, a // 3, a / 3, b // 2, -7 // 2, -7 % 3, 2 ** 3, 7 & 3, 1 << 4,
                5 ^ 1, divmod(7, 2), l * 2, [1] + l, sorted(l), math.floor(b), math.ceil(b), 1 if a > 2 else 3)

    def texts(s: str, n: int):
        parts = s.split(",")
        return (parts, s.upper(), s[1:3], s[0], len(s), s + "!", "-".join(parts), s.startswith("a"), s.replace("a", "b"), str(n),
                s == "a,b", [c for c in s], s.find("b"), "a" in s, s.strip())

    def helper(x: Tensor, k: float = 2.0):
        return x * k

    def helping(x):
        return helper(x) + helper(x, 3.0) + helper(x=x, k=1.5)

    def optional(x, p: Optional[int]):
        if p is None:
            p = 3
        y = x.view(-1, 1).sum(dim=1, keepdim=True).mean((0, 1), True).transpose(0, 1).permute(1, 0).permute([0, 1])
        if p is not None and p > 2:
            y = y + p
        return y.item(), y.shape, y.dtype, y.requires_grad, y.T, x.max(dim=1)[0], x.max(1).values, y.shape == [2], list(y.shape)

    def refined(x: Optional[Tensor], y: Union[int, str]) -> Tensor:
        if x is None or x.dim() == 0:
            return torch.ones(1)
        if isinstance(y, int):
            z = x + y
        else:
            z = x * len(y)
        return z

    def several(x) -> Tuple[Tensor, Tensor]:
        a, (b, c) = x, (x + 1, x + 2)
        a, b = b, a
        first, *rest = [x, x + 1], x, x
        return a + c, b

    def in_place(x):
        y = x.clone()
        y += 1
        y *= 2
        y.add_(3)
        y -= x
        y /= 2
        return y

    def reversed_operators(x):
        return 1 - x, 2 / (x + 3), 2 * x, 3 + x, 2 ** x, 1 < x, 2 >= x, x // 2, x % 2, ~(x > 0), (x > 0) & (x < 1), -x, abs(x), x @ x.t()

    def tensors(x):
        a = torch.arange(3) + torch.ones(3, 3) + torch.full([3], 2.0) + torch.zeros_like(x)[0] + torch.eye(3) + torch.linspace(0, 1, 3)
        b = torch.stack([x, x], dim=0).flatten(1).softmax(-1) + torch.cat((x, x), 1).chunk(2, 1)[0].sum()
        c, d = torch.max(x, 1)
        v, i = x.topk(2, dim=1)
        s = torch.split(x, 1)
        return a, b, c, d, v, i, x.masked_fill(x > 1, -math.inf), torch.where(x > 0, x, -x), x.reshape(3, 2), x.expand(2, 3), s[0], \
            x.squeeze(0).unsqueeze(-1), torch.einsum("ij,kj->ik", x, x), x.norm(), x.std(), torch.clamp(x, 0.0, 1.0), x.clamp(min=0)

    def complexes(x: complex) -> List[complex]:
        return [x * 2 + 1j, -2j - x, x * complex(1.5, -2), 3j]

    def whatever(x: Any) -> str:
        r = "a"
        if isinstance(x, int):
            return str(x + 1)
        elif isinstance(x, (float, List[int])):
            r += "f"
        if not isinstance(x, str):
            return r
        return r + x

    def functions(x):
        y = F.softmax(x, dim=-1) + F.log_softmax(x, 1) + F.gelu(x) + F.silu(x) + F.elu(x) + F.leaky_relu(x, 0.1) + F.layer_norm(x, [3])
        return y, F.mse_loss(x, x + 1), F.cross_entropy(x, torch.tensor([0, 1])), F.normalize(x), F.pad(x, [1, 1]), F.linear(x, x), \
            F.hardtanh(x), F.softplus(x), F.l1_loss(x, x * 2, reduction="sum"), F.one_hot(torch.tensor([0, 2]), 3)

    class Point(NamedTuple):
        x: Tensor
        y: int

    class Colour(enum.Enum):
        RED = 1
        BLUE = 2

    def points(x):
        p = Point(x, 3)
        q = Point(x=p.x + 1, y=p.y)
        a, b = q
        return q, a * b, p.y

    def colours(c: Colour, x):
        if c == Colour.RED:
            x = x + 1
        return x * c.value, c.name, Colour.BLUE

    def scripting(x):
        if torch.jit.is_scripting():
            return x + 1
        else:
            return x.nonsense()

    def whiles(x, n: int):
        while True:
            n -= 1
            if n < 0:
                break
            x = x * 2
        while bool(x.sum() > 100):
            x = x / 2
        return x

    def shadowed(x, n: int):
        found: Optional[Tensor] = None
        for i in range(n):
            if found is None:
                found = x + i
            else:
                found = found * 2
        if found is None:
            raise RuntimeError("nothing")
        return found

    def many_lists(n: int):
        out: List[List[int]] = []
        for i in range(n):
            out.append([i] * i)
        pairs: List[Tuple[int, str]] = [(1, "a")]
        d: Dict[int, List[str]] = {1: ["x"]}
        d[1].append("y")
        pairs.append((2, "b"))
        out[0] = [5]
        d2 = {"a": 1}
        del d2["a"]
        return out, pairs, d, d.get(3), d.get(1, ["z"]), list(d.keys()), list(d.values()), len(d), out.pop(), d2

    def any_all(xs: List[bool], x: Any):
        if isinstance(x, int):
            return all(xs), any(xs), x + 1
        return all(xs), any(xs), 0

    def long_lines(x):
        return torch.sigmoid(torch.tanh(torch.relu(x + x * x - x))) * torch.sigmoid(torch.tanh(torch.relu(x - 1))) + torch.exp(torch.neg(x))

    def long_text(x: int):
        if x > 3:
            raise ValueError("a text that is longer than forty characters in all of its parts: {}".format(x))
        return "a text that is longer than forty characters in all of its parts: {}".format(x)

    def if_expressions(x, a: int, b: Optional[float] = None):
        c = b if b is not None else 1.0
        d = "x" if a > 1 else ("y" if a > 0 else "z")
        return x * c, d, (a > 0) or (a < -1 and c > 0.5), a if not a else 3

    def nothing(x: List[int]) -> None:
        x.append(1)

    def chained(a: int, b: int):
        return 0 < a < b < 10, a == b != 3, a in [1, 2], a not in [3], a is None

    def shapes(x):
        b, n = x.shape
        y = x.view(b, n, 1).expand(b, n, 4).reshape(b * n, -1)
        if x.size(-1) % 2 == 0:
            y = y[: x.shape[0] // 2]
        return y, x.numel(), x.dim(), x.shape[-1], len(x), x.new_zeros(b, n), x.is_floating_point(), x.size()

    def iterated(x):
        total = torch.zeros(3)
        for row in x:
            total = total + row
        for i, row in enumerate(x):
            total += row * i
        return total

    def formatted(a: float, b: int, c: bool):
        return f"{a} {b} {c}", str(a), str([1.0, 2.5]), "{} {}".format([a], ["x"]), str({"a": (1, "x")}), "%s %d" % (a, b), str(None), 1e-7

    FUNCTIONS = {
        "complexes": lambda x: (1 - 2j,), "whatever": lambda x: (x.tolist()[0],),
        "straight": lambda x: (x, x + 1), "defaults": lambda x: (x, 2, True), "early": lambda x: (x,), "leaving": lambda x: (x, 9),
        "nested_loops": lambda x: (x, 5), "containers": lambda x: ([x, x], {"a": 1, "b": 2}, x), "indices": lambda x: (x,),
        "checks": lambda x: (x,), "numbers": lambda x: ((1, 2.5), [1, 2]), "texts": lambda x: ("a,b", 3), "helping": lambda x: (x,),
        "optional": lambda x: (x, None), "refined": lambda x: (x, "abc"), "several": lambda x: (x,), "in_place": lambda x: (x,),
        "reversed_operators": lambda x: (x,), "tensors": lambda x: (x,), "functions": lambda x: (x,), "points": lambda x: (x,),
        "colours": lambda x: (Colour.RED, x), "scripting": lambda x: (x,), "whiles": lambda x: (x, 9), "shadowed": lambda x: (x, 3),
        "many_lists": lambda x: (3,), "any_all": lambda x: ([True, False], 3), "long_lines": lambda x: (x,), "long_text": lambda x: (2,),
        "if_expressions": lambda x: (x, 1), "nothing": lambda x: ([1],), "chained": lambda x: (1, 2), "shapes": lambda x: (x,),
        "iterated": lambda x: (x,), "formatted": lambda x: (2.0, 3, True),
    }

    # -- modules --------------------------------------------------------------------------------------------------------------------------

    class Net(nn.Module):
        """Most of what a module may have."""

        scale: Final[float]
        seen: List[int]

        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)
            self.c = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.BatchNorm1d(3))
            self.k, self.fs, self.name, self.scale, self.seen = 3, [1, 2], "a", 0.5, []
            self.opt: Optional[int] = None
            self.ml = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
            self.d = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Tanh()})
            self.register_buffer("b", torch.ones(3))
            self.register_parameter("nothing", None)
            self.w = nn.Parameter(torch.full((3,), 2.0))
            self.none, self.drop, self.pair, self.table = None, nn.Dropout(), (1, 2.0), {"x": 1}

        def forward(self, x, flag: Optional[bool] = None):
            x = self.c(self.l(x))
            for m in self.ml:
                x = m(x)
            for i, m in enumerate(self.ml):
                x = m(x) + i
            for k, m in self.d.items():
                x = m(x)
            self.k += 1
            if self.none is not None:
                x = x + self.none
            if self.training:
                x = x * 2
            self.b = self.b + 1
            self.seen.append(self.k)
            if self.nothing is not None:
                x = x + self.nothing
            if flag is not None and flag:
                x = -x
            return self.foo(x) * self.scale + self.b + self.k + self.fs[0] + self.d["a"](x) + self.ml[0](x) + self.pair[1] + self.table["x"]

        def foo(self, x):
            return self.drop(x + self.l.weight[0, 0]) * self.w + len(self.ml)

        @torch.jit.export
        def bar(self, x: int):
            return x + len(self.seen)

        @torch.jit.unused
        def never(self, x: int) -> int:
            return eval("x")

        @property
        def twice(self) -> int:
            return self.k * 2

    class Block(nn.Module):
        def __init__(self, width: int, heads: int):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads
            self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

        def attend(self, x, mask: Optional[Tensor]):
            batch, length, width = x.shape
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            q, k, v = [t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v)]
            scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
            if mask is not None:
                scores = scores.masked_fill(mask[:length, :length] == 0, float("-inf"))
            return self.out((F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(batch, length, width))

        def forward(self, x, mask: Optional[Tensor] = None):
            x = x + self.attend(self.norm1(x), mask)
            return x + self.mlp(self.norm2(x))

    class Language(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.blocks, self.head = nn.Embedding(20, 8), nn.ModuleList([Block(8, 2)]), nn.Linear(8, 20)
            self.register_buffer("mask", torch.tril(torch.ones(6, 6)))

        def forward(self, tokens):
            x = self.embed(tokens)
            for block in self.blocks:
                x = block(x, self.mask)
            return self.head(x)

        @torch.jit.export
        def generate(self, tokens, count: int) -> Tensor:
            for _ in range(count):
                last = self.forward(tokens[:, -6:])[:, -1]
                tokens = torch.cat([tokens, last.argmax(-1, keepdim=True)], dim=1)
                if bool((last.argmax(-1) == 0).all()):
                    break
            return tokens

    class Pictures(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True),
                                          nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, stride=2), nn.GroupNorm(2, 4), nn.SiLU(),
                                          nn.Upsample(scale_factor=2.0))
            self.pool, self.up = nn.AdaptiveAvgPool2d((1, 1)), nn.ConvTranspose2d(4, 2, 2)
            self.fc = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(4, 3), nn.LogSoftmax(dim=1))

        def forward(self, x):
            x = self.features(x)
            return self.fc(self.pool(x)), self.up(x)

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.gru = nn.LSTM(3, 4, batch_first=True), nn.GRU(4, 2, bidirectional=True)
            self.cell = nn.LSTMCell(4, 4)

        def forward(self, x):
            y, (h, c) = self.lstm(x)
            z, g = self.gru(y)
            state = self.cell(y[:, 0])
            return z, g, h, c, state[0]

    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList([nn.ELU(), nn.LeakyReLU(0.2), nn.Hardtanh(), nn.Softplus(), nn.Sigmoid(), nn.Hardswish(), nn.PReLU(),
                                        nn.Mish(), nn.SELU(), nn.CELU(), nn.Softsign(), nn.Tanhshrink(), nn.LogSigmoid(), nn.ReLU6(),
                                        nn.Softmax(-1), nn.Identity(), nn.Threshold(0.1, 2.0), nn.RMSNorm(3)])
            self.pad, self.conv, self.pool, self.glu = nn.ConstantPad1d(1, 0.5), nn.Conv1d(2, 4, 2), nn.AvgPool1d(2), nn.GLU(1)
            self.mse, self.ce = nn.MSELoss(), nn.CrossEntropyLoss(label_smoothing=0.1)
            self.huber, self.bce = nn.HuberLoss(reduction="sum"), nn.BCEWithLogitsLoss()

        def forward(self, x):
            found = []
            for part in self.parts:
                found.append(part(x))
            y = self.glu(self.pool(self.conv(self.pad(x[None]))))
            target = torch.tensor([0, 1])
            return found, y, self.mse(x, x * 2), self.ce(x, target), self.huber(x, x + 2), self.bce(x, torch.zeros_like(x))

    class Calls(nn.Module):
        """A function of Python among those that are compiled."""

        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)

        def forward(self, x):
            return self.outside(self.l(x))

        @torch.jit.ignore
        def outside(self, x):
            return sum([x, x])

    def modules():
        """{name: (module, inputs)}."""
        made = {}
        x = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
        for name, build, given in (("net", lambda: Net().eval(), (x, True)),
                                   ("language", Language, (torch.tensor([[1, 2, 3], [4, 5, 6]]),)),
                                   ("pictures", lambda: Pictures().eval(), (torch.arange(128.0).reshape(2, 1, 8, 8) / 64,)),
                                   ("recurrent", Recurrent, (torch.arange(24.0).reshape(2, 4, 3) / 24,)), ("layers", Layers, (x,))):
            one = build()
            with torch.no_grad():
                for at, p in enumerate(one.parameters()):
                    p.copy_(torch.arange(float(p.numel())).reshape(p.shape).add(at).sin() / 2)
            made[name] = one, given
        return made
