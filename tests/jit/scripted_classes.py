"""More programs for `torch.jit.script`, with objects of classes, contexts, calls beside the program: as in `scripted_cases`."""
# ruff: noqa: F821, F841, UP006, UP035, UP045, B006, C416
import enum
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple


def load(lib):
    """{name: what it is} of this file, whose ``torch`` is a library."""
    space = {"torch": lib, "__name__": "scripted_classes", "__file__": __file__}
    exec(compile(Path(__file__).read_text(), __file__, "exec"), space)
    return space


if "torch" in globals():
    Tensor, nn, F = torch.Tensor, torch.nn, torch.nn.functional

    class Pair:
        """An object of a program."""

        def __init__(self, a: int, b: Tensor):
            self.a = a
            self.b = b
            self.items: List[int] = []

        def total(self, x, k: int = 2):
            return self.b * self.a + x * k

        def keep(self, n: int):
            self.items.append(n)

        @property
        def size(self) -> int:
            return len(self.items)

        @staticmethod
        def one_more(x: int):
            return x + 1

        def __len__(self) -> int:
            return len(self.items) + 1

        def __getitem__(self, at: int):
            return self.items[at]

        def __add__(self, other: Tensor):
            return self.b + other

        def __contains__(self, n: int) -> bool:
            return n in self.items

        def __call__(self, n: int):
            return self.a * n

    class Holder:
        def __init__(self, pair: Pair):
            self.pair = pair
            self.seen: Dict[str, Tensor] = {}

    def objects(x):
        p = Pair(2, x)
        p.a += 1
        for i in range(3):
            p.keep(i)
        h = Holder(p)
        h.seen["x"] = h.pair.total(x, k=3)
        h.pair.keep(9)
        return p.total(x), p + x, p.size, len(p), p[3], Pair.one_more(3), h.seen["x"], 2 in p, 3 not in p, p(4)

    def given_objects(p: Pair, more: List[Pair]) -> Tensor:
        found = p.total(p.b)
        for one in more:
            found = found + one.b
        return found

    class Number:
        def __init__(self, a: int):
            self.a = a

        def __iadd__(self, k: int):
            self.a += k
            return self

        def __sub__(self, k: int):
            return Number(self.a - k)

        def __neg__(self):
            return Number(self.a * -1)

    def changed(n: int):
        one = Number(n)
        one += 2
        one -= 4
        return (-one).a

    def answered(x, n: int):
        p = Pair(n, x)
        p.keep(1)
        return [p]

    def without_gradients(x, n: int):
        with torch.no_grad():
            for i in range(n):
                x = x + i
            if n > 2:
                z = x
            else:
                z = x * 3
        return z, torch.is_grad_enabled()

    def returned_within(x):
        with torch.no_grad() as g:
            return x * 2

    def raised_within(x, n: int):
        if n > 3:
            with torch.no_grad():
                raise ValueError("too many")
        return x * n

    class Counter:
        def __init__(self):
            self.depth = 0

        def __enter__(self):
            self.depth += 1
            return self.depth

        def __exit__(self, kind: Any, value: Any, trace: Any):
            self.depth -= 1

    def contexts(x):
        c = Counter()
        with c as depth:
            with c as deeper, torch.no_grad():
                x = x * (depth + deeper)
        with c:
            pass
        return x, c.depth

    def helper(x, n: int):
        return x * n

    def beside(x):
        a = torch.jit.fork(helper, x * 2, 3)
        b = torch.jit.fork(torch.relu, x)
        waiting: List[torch.jit.Future[Tensor]] = []
        for i in range(2):
            waiting.append(torch.jit.fork(helper, x, n=i))
        return torch.jit.wait(a), b.wait(), [torch.jit.wait(one) for one in waiting]

    def different(x):
        a, b = torch.unique(x, return_inverse=True)
        c, d, e = torch.unique(x, True, True, True)
        f, g = torch.unique(x, return_counts=True, dim=0)
        return (torch.unique(x), a, b, c, d, e, f, g, torch.unique_consecutive(x),
                torch.unique_consecutive(x, True, dim=1)[0])

    def norms(x):                                                 # which is written otherwise
        return (torch.norm(x), torch.norm(x, dim=1), torch.norm(x, 2), torch.norm(x, p=1, dim=[0], keepdim=True),
                torch.norm(x, 2, 1, True, dtype=torch.float64), torch.norm(x, "fro", [0, 1]))

    def pooled(x):
        y = x.reshape(1, 1, 2, 3)
        a, b = F.max_pool2d(y, 2, return_indices=True)
        c, d = F.adaptive_max_pool2d(y, [1, 1], True)
        return a, b, c, d, F.max_pool2d(y, 2), F.adaptive_max_pool2d(y, [1, 1])

    @torch.jit._overload
    def either(x, k=2):
        # type: (int, int) -> int
        pass

    @torch.jit._overload
    def either(x: str, k: int = 2) -> str: ...                    # noqa: F811

    def either(x, k=2):                                           # noqa: F811
        if isinstance(x, int):
            return x + k
        return x

    def overloaded(n: int):
        return either(n), either("a"), either(n, k=3)

    @torch.jit.unused
    def left_out(x) -> Tensor:
        return nothing_of_the_kind

    def with_left_out(x, n: int):
        if n > 2:
            x = left_out(x) + 1
        return x.type(torch.int32)

    class Colour(enum.Enum):
        RED = 1
        GREEN = 2

    class Named(NamedTuple):
        x: Tensor
        n: Optional[int] = None

    def enums_and_tuples(x, c: Colour, given: Named) -> Named:
        n = given.n
        if c == Colour.RED and n is not None:
            return Named(x, n + 1)
        return Named(x=given.x)

    def texts(d: Dict[str, List[Tensor]], keys: List[str]):
        out: Dict[str, Tensor] = {}
        for key in keys:
            if key not in d:
                continue
            out[key] = torch.cat(d[key], dim=0)
        assert len(out) > 0, f"none of {keys}"
        return out

    def anchors(feats: List[Tensor], size: Tuple[int, int], dtype: torch.dtype):
        found: List[Tensor] = []
        for f in feats:
            h, w = f.shape[-2:]
            xs = torch.arange(0, w, dtype=dtype, device=f.device) * (size[1] // w)
            ys = torch.arange(0, h, dtype=dtype) * (size[0] // h)
            yy, xx = torch.meshgrid(ys, xs, indexing="ij")
            found.append(torch.stack((xx.reshape(-1), yy.reshape(-1)), dim=1).clamp(min=0, max=size[0]))
        return found

    FUNCTIONS = {
        "objects": lambda x: (x,), "given_objects": lambda x: (Pair(3, x), [Pair(1, x + 1)]), "without_gradients": lambda x: (x, 3),
        "returned_within": lambda x: (x,), "raised_within": lambda x: (x, 2), "contexts": lambda x: (x,), "beside": lambda x: (x,),
        "different": lambda x: (x,), "changed": lambda x: (3,),
        "pooled": lambda x: (x,), "with_left_out": lambda x: (x, 1), "enums_and_tuples": lambda x: (x, Colour.RED, Named(x, 3)),
        "norms": lambda x: (x,), "overloaded": lambda x: (3,), "texts": lambda x: ({"a": [x, x]}, ["a", "b"]),
        "anchors": lambda x: ([x[None]], (4, 6), torch.float32),
    }

    # -- modules, and what is refused ----------------------------------------------------------------------------------------------------

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.pair, self.l = Pair(2, torch.ones(3)), nn.Linear(3, 2)
            self.register_buffer("steps", torch.zeros(1))
            self.pairs, self.parts = [Pair(1, torch.ones(2))], nn.ModuleList([nn.ReLU(), nn.Tanh()])

        @property
        def many(self) -> int:
            return self.pair.size

        def forward(self, x):
            self.pair.keep(3)
            self.steps += 1
            with torch.no_grad():
                y = self.l(x)
            waiting = [torch.jit.fork(part, y) for part in self.parts]
            y = y + torch.jit.wait(waiting[0]) + torch.jit.wait(waiting[1]) + self.pairs[0].a
            return y * self.many + len(self.pair)

    class Late:
        def __init__(self):
            self.a = 1

        def change(self):
            self.c = 2

    class Conditional:
        def __init__(self, n: int):
            if n > 1:
                self.a = n

    class Twice:
        def __init__(self):
            self.a = 1
            self.a = "s"

    class Nothing:
        def one(self):
            return 1

    class Asking(nn.Module):
        def forward(self, x):
            return self.helper(x)

        def helper(self, x):
            return super().forward(x)

    class Empty(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen: List[int] = []

        def forward(self, x):
            self.seen.append(1)
            return x

    def m_attribute(x): return Pair(1, x).nope

    def m_argument(x): return Pair(1)

    def m_new_attribute(x):
        p = Pair(1, x)
        p.other = 3
        return p.a

    def m_operator(x): return Pair(1, x) * 2

    def m_truth(x):
        if Pair(1, x):
            return 1
        return 2

    def m_class(x): return Pair

    def m_of_class(x): return Pair.nope

    def m_late(): return Late()

    def m_conditional(): return Conditional(1)

    def m_twice(): return Twice()

    def m_nothing(): return Nothing()

    def m_no_context(x):
        with Pair(1, x):
            pass
        return x

    def m_no_object(x: int):
        with x:
            pass
        return x

    def m_other_context(x):
        with torch.enable_grad():
            return x

    def m_reversed(x: List[int]): return [i for i in reversed(x)]

    def m_reversed_range(n: int): return list(reversed(range(n)))

    def m_flag(x, f: bool): return torch.unique(x, return_counts=f)

    def m_unique_method(x): return x.unique()

    def m_default(x, dims: List[int] = [0]):
        y = x
        return y

    def m_keyword_default(x, *, n: int = 2): return x

    def m_keywords(x, **more): return x

    def m_dots(x: Tuple[int, ...]): return x

    def m_star_of_list(x: List[int]):
        a, *b = x
        return b

    def m_list(x):
        found: List[Tuple[float, List[int]]] = [(0.0, [])]
        return found

    def m_list_of_numbers(x):
        found: List[float] = [1, 2]
        return found

    def m_overloaded(x: float): return either(x)

    def m_in_place(x):
        p = Pair(1, x)
        p -= 2
        return p.a

    def m_inverted(n: int): return ~Number(n)

    def m_called(x): return m_attribute(x) + 1

    def m_six_lines(x):
        a = 1
        b = (a +
             x.nope
             + 2)
        c = 3
        d = 4
        return c + d

    MISTAKES = {name: lambda one=one: one for name, one in list(globals().items()) if name.startswith("m_")}
    MISTAKES |= {"class_late": lambda: Late, "super": Asking, "empty_list": Empty,
                 "inherited": lambda: type("Inherited", (Late,), {"__module__": __name__})}
