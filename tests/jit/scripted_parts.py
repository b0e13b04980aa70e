"""What programs of `torch.jit.script` are put together of: hooks, interfaces, methods of several signatures, functions of texts, lists and
dictionaries that are shared, layers. As in `scripted_cases`."""
# ruff: noqa: F811, F821, UP006, UP035
import io
from pathlib import Path
from typing import Dict, List, Tuple


def load(lib):
    """{name: what it is} of this file, whose ``torch`` is a library."""
    space = {"torch": lib, "__name__": "scripted_parts", "__file__": __file__}
    exec(compile(Path(__file__).read_text(), __file__, "exec"), space)
    return space


if "torch" in globals():
    Tensor, nn = torch.Tensor, torch.nn

    class One(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + 1

        @torch.jit.export
        def twice(self, x: Tensor) -> Tensor:
            return x * 2

    class Other(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor) -> Tensor:
            return x + self.w

        @torch.jit.export
        def twice(self, x: Tensor) -> Tensor:
            return x * 3

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.s = One()

        def forward(self, x: Tensor) -> Tensor:
            return self.s(x) * 2

    def alone(self, input: Tuple[Tensor]) -> Tensor:
        return input[0] * 3

    def whole(self, input: Tuple[Tensor]) -> Tuple[Tensor]:
        return (input[0] * 2,)

    def nothing(self, input: Tuple[Tensor]) -> None:
        pass

    def less(self, input: Tuple[Tensor], output: Tensor):
        return output - input[0]

    def pair(self, input: Tuple[Tensor], output: Tensor):
        return (output, output)

    def no_answer(self, input: Tuple[Tensor]):
        return input[0]

    def of_numbers(self, input: Tuple[int]) -> None:
        pass

    def two(self, input: Tuple[Tensor]) -> Tuple[Tensor, Tensor]:
        return (input[0], input[0])

    def one_number(self, input: Tuple[Tensor]) -> int:
        return 1

    def bare(self, input: Tensor) -> None:
        pass

    def few(self, input: Tuple[Tensor]) -> None:
        pass

    def number_given(self, input: Tuple[Tensor], output: int):
        pass

    def many_given(self, input: Tuple[Tensor, Tensor], output: Tensor):
        pass

    HOOKS = [((alone,), (less,)), ((whole, alone), (less, less)), ((nothing,), ()), ((), (pair,)), ((no_answer,), ()), ((of_numbers,), ()),
             ((two,), ()), ((one_number,), ()), ((bare,), ()), ((), (few,)), ((), (number_given,)), ((), (many_given,))]

    COUNT = [0]

    def fresh(make):
        """One of a class of its own, whose name PyTorch does not number."""
        COUNT[0] += 1
        return type(f"{make.__name__}{COUNT[0]}", (make,), {"__module__": "parts"})()

    def hooked(make, before, after):
        made = fresh(make)
        if make is Outer:
            made.s = fresh(One)
        for one in before:
            getattr(made, "s", made).register_forward_pre_hook(one)
        for one in after:
            getattr(made, "s", made).register_forward_hook(one)
        return made

    @torch.jit.interface
    class Twice(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            pass

        def twice(self, x: Tensor) -> Tensor:
            pass

    class Chosen(nn.Module):
        one: Twice

        def __init__(self, one):
            super().__init__()
            self.one = one
            self.list = nn.ModuleList([One(), Other()])
            self.dict = nn.ModuleDict({"a": One(), "b": Other()})

        def forward(self, x: Tensor, n: int, name: str) -> Tensor:
            first: Twice = self.list[n]
            second: Twice = self.dict[name]
            return self.one.twice(first.forward(x)) + second.twice(x)

    class Called(nn.Module):
        def __init__(self):
            super().__init__()
            self.list = nn.ModuleList([One(), Other()])

        def forward(self, x: Tensor, n: int) -> Tensor:
            return self.list[n](x)

    class Several(nn.Module):
        @torch.jit._overload_method
        def pick(self, x: Tensor) -> Tensor:
            pass

        @torch.jit._overload_method
        def pick(self, x: Tuple[Tensor, Tensor]) -> Tensor:
            pass

        def pick(self, x):
            if isinstance(x, Tensor):
                return x
            return x[0] + x[1]

        def forward(self, x: Tensor) -> Tensor:
            return self.pick(x) + self.pick((x, x))

    def put(d: Dict[str, int], n: List[int]) -> int:
        d["new"] = 5
        n.append(6)
        return len(d)

    TEXT = """
def outer(x):
    return inner(x) + 1

def inner(x: Tensor, n: int = 2):
    for i in range(n):
        x = x * 2
    return x
"""

    def told(ask):
        """What a call answers, or its exception."""
        try:
            return str(ask())
        except Exception as problem:
            return f"{type(problem).__name__}: {problem}"

    def saved(made, *args):
        file = io.BytesIO()
        torch.jit.save(made, file)
        return torch.jit.load(io.BytesIO(file.getvalue()))(*args).tolist()

    def of_hooks():
        for before, after in HOOKS:
            for make in (Outer, One):
                made = [None]

                def compiled(make=make, before=before, after=after, made=made):
                    made[0] = torch.jit.script(hooked(make, before, after))
                    return made[0].code
                yield told(compiled)
                if made[0] is not None:
                    x = torch.ones(2)
                    yield told(lambda made=made, x=x: (made[0](x), made[0].forward(x)))
                    if after != (pair,):
                        yield told(lambda made=made, x=x: saved(made[0], x))

    def of_interfaces():
        x = torch.ones(2)
        for one in (One(), Other(), nn.Identity()):
            made = [None]

            def compiled(one=one, made=made):
                made[0] = torch.jit.script(Chosen(one))
                return made[0].code
            yield told(compiled)
            if made[0] is not None:
                yield told(lambda made=made: (made[0](x, 0, "b").tolist(), made[0](x, 1, "a").tolist(), saved(made[0], x, 1, "b")))
                yield told(lambda made=made: made[0](x, 2, "a")).rpartition("RuntimeError")[2]
        yield told(lambda: torch.jit.script(Called()))

    def of_signatures():
        made = torch.jit.script(Several())
        yield made.code
        yield made.pick__1.code
        yield told(lambda: (made(torch.ones(2)).tolist(), saved(made, torch.ones(2)), hasattr(made, "pick")))

    def of_texts():
        unit = torch.jit.CompilationUnit(TEXT)
        yield unit.outer.code
        yield unit.inner.code
        yield told(lambda: (unit.outer(torch.ones(2)), unit.inner(torch.ones(1), 3), unit.inner.name, unit.find_function("inner").name))
        yield told(lambda: unit.other)
        yield told(lambda: unit.define("def more(x):\n    return x.relu()\n") or unit.more(torch.tensor([-1.0, 1.0])))
        yield told(lambda: torch.jit.CompilationUnit("def f(x):\n    return y\n"))
        yield told(lambda: unit.inner())

    def of_compiled_parts():
        x, outer = torch.ones(2), fresh(Outer)
        outer.s = torch.jit.script(fresh(One))
        made = torch.jit.script(outer)
        yield made.code
        yield told(lambda: (made(x).tolist(), saved(made, x), saved(made.s, x), made.s is outer.s))
        for part in (torch.jit.script(nn.ReLU()), nn.ReLU(), torch.jit.script(One())):
            yield told(lambda part=part: setattr(made, "s", part))
        made = torch.jit.script(Chosen(One()))
        made.one = torch.jit.script(Other())
        yield told(lambda: made(x, 0, "a").tolist())

    def of_containers():
        numbers, names, compiled = torch.jit.script([1, 2, 3]), torch.jit.script({"a": 1}), torch.jit.script(put)
        yield told(lambda: (compiled(names, numbers), names, numbers, type(numbers), type(names)))
        plain = [1], {"a": 1}
        yield told(lambda: (compiled(plain[1], plain[0]), plain))
        for ask in (lambda: numbers[7], lambda: numbers["a"], lambda: numbers.append("a"), lambda: numbers.remove(77),
                    lambda: numbers.pop(9),
                    lambda: (numbers[0], numbers[-1], numbers[1:]), lambda: numbers.__setitem__(slice(0, 2), [8, 9]),
                    lambda: numbers.__setitem__(slice(0, 2), [8]), lambda: numbers.insert(1, 7), lambda: numbers.extend([1]),
                    lambda: (numbers, numbers.count(7), 7 in numbers, numbers.pop(), list(numbers), bool(numbers), numbers == [1]),
                    lambda: names["q"], lambda: names.__setitem__("b", "x"), lambda: names.__delitem__("q"), lambda: 1 in names,
                    lambda: (list(names), list(names.items()), len(names), names.__delitem__("a"), names),
                    lambda: torch.jit.script([1, 2.5]), lambda: torch.jit.script({"a": 1, "b": "c"}), lambda: torch.jit.script([object()]),
                    lambda: [torch.jit.script(one) for one in ([[1], [2]], [(1, "a")], [0.1, 2.0], [True], {1: [2]}, {"a": {"b": 1}}, [])],
                    lambda: torch.jit.script({(1, 2): 2}), lambda: torch.jit.script([[1]])[0]):
            yield told(ask)

    def numbers(*sizes):
        return (torch.arange(float(torch.Size(sizes).numel())).reshape(sizes) * 0.7).sin()

    LINE, PICTURE = numbers(2, 3, 4), numbers(2, 3, 4, 4)
    # name: (layer, its arguments): those whose text is PyTorch's
    LAYERS = {
        "CircularPad2d": (nn.CircularPad2d(1), PICTURE), "Unfold": (nn.Unfold(2, stride=2), PICTURE),
        "EmbeddingBag": (nn.EmbeddingBag(4, 3, mode="sum"), torch.tensor([0, 1, 2]), torch.tensor([0, 2]), torch.tensor([0.5, 1.0, 2.0])),
        "Fold": (nn.Fold((4, 4), 2), numbers(1, 4, 9)), "CosineSimilarity": (nn.CosineSimilarity(), LINE, LINE + 1),
        "LocalResponseNorm": (nn.LocalResponseNorm(2), PICTURE), "InstanceNorm1d": (nn.InstanceNorm1d(3, affine=True), LINE),
        "Softmax2d": (nn.Softmax2d(), PICTURE), "LPPool2d": (nn.LPPool2d(2, 2), PICTURE.abs()),
        "CTCLoss": (nn.CTCLoss(), numbers(5, 2, 3).log_softmax(-1), torch.tensor([[1, 2], [2, 1]]), torch.tensor([5, 5]),
                    torch.tensor([2, 2])),
        "TripletMarginLoss": (nn.TripletMarginLoss(), LINE, LINE + 1, LINE * 2),
        "MultiLabelSoftMarginLoss": (nn.MultiLabelSoftMarginLoss(), LINE[0], (LINE[0] > 0).float()),
        "MarginRankingLoss": (nn.MarginRankingLoss(), LINE, LINE * 2, LINE.sign()), "RNNCell": (nn.RNNCell(4, 3), LINE[0]),
        "GRUCell": (nn.GRUCell(4, 3), LINE[0, 0]), "LSTMCell": (nn.LSTMCell(4, 3), LINE[0, 0])}
    MASK, PADDED = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1), torch.tensor([[False, False, True], [False, False, False]])
    MANY = numbers(3, 2, 4)
    # those whose text is not
    ATTENTION = {
        "self": (nn.MultiheadAttention(4, 2), MANY, MANY, MANY),
        "masked": (nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True), MANY, MANY, MANY, PADDED, True, MASK),
        "sizes": (nn.MultiheadAttention(4, 2, kdim=4, vdim=3, batch_first=True), MANY, MANY, MANY[..., :3]),
        "encoder": (nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1), MANY.transpose(0, 1), None, PADDED),
        "decoder": (nn.TransformerDecoderLayer(4, 2, 8, norm_first=True), MANY, MANY, MASK),
        "transformer": (nn.Transformer(4, 2, 1, 1, 8, batch_first=True), MANY, MANY)}

    def filled(layer):
        for at, one in enumerate(layer.parameters()):
            one.data = (torch.arange(float(one.numel())).reshape(one.shape) * (0.37 + at)).sin() * 0.5
        return layer.eval()
