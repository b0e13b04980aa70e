"""Programs about graphs, written once for PyTorch and for jtensor: each answers the text that both must show.

``python tests/fx/programs.py`` stores what PyTorch shows in ``tests/goldens/fx.json``.
"""
# ruff: noqa: UP006, UP035, UP045 -- how the older annotations are shown is asked, too
import copy
import json
import operator
import pickle
import re
import types
from pathlib import Path
from typing import Dict, List, Optional, Tuple

GOLDENS = Path(__file__).resolve().parents[1] / "goldens" / "fx.json"
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def shown(torch, name):
    """The text of a program, without addresses and the library's name."""
    return re.sub(r"0x[0-9a-f]+", "0x", str(PROGRAMS[name](torch))).replace("jtensor", "torch")


def said(function, *args, **kwargs):
    """The type and the first line of an exception."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "nothing raised"


def net(torch):
    nn, F = torch.nn, torch.nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3, 4))
            self.linear = nn.Linear(4, 5)
            self.layers = nn.Sequential(nn.Linear(5, 5), nn.ReLU())
            self.register_buffer("shift", torch.ones(5))
            self.constant = torch.full((5,), 2.0)

        def forward(self, x, factor=2, *, unused=None):
            a = self.linear(x + self.scale).clamp(min=0.0, max=1.0)
            b = self.layers(a) * factor - self.shift + self.constant
            c = torch.relu(b) + F.gelu(b) + F.relu(b, inplace=False) + F.softmax(b, dim=-1) + F.max_pool2d(b[None], 1)[0]
            d = torch.cat([a, c], dim=1)[:, 1:3].view(-1, 2).sum(dim=-1, keepdim=True)
            e = d.reshape(d.shape[0], 1) / 2 ** 0.5
            return {"e": e, "rest": (d.size(0), [b.T, -b, ~(b > 0)])}, 2 ** e, 1 - e

    torch.manual_seed(0)
    return Net()


@program
def a_network(torch):
    traced = torch.fx.symbolic_trace(net(torch))
    traced.graph.lint()
    return f"{traced.graph}\n{traced}\n{list(traced.state_dict())}\n{traced.print_readable(print_output=False)}"


@program
def what_a_network_computes(torch):
    module = net(torch)
    traced, x = torch.fx.symbolic_trace(module), torch.arange(12.0).reshape(3, 4) / 10
    wanted = module(x)[1]
    found = [traced, copy.deepcopy(traced), copy.copy(traced), pickle.loads(pickle.dumps(traced)), torch.fx.Transformer(traced).transform()]
    same = [torch.equal(one(x)[1], wanted) and one.code == traced.code for one in found]
    traced(x)[1].sum().backward()
    return same, torch.equal(torch.fx.Interpreter(traced).run(x)[1], wanted), module.scale.grad is not None


@program
def a_function_with_all_kinds_of_arguments(torch):
    Pair = __import__("collections").namedtuple("Pair", "a b")
    Pair.__module__ = "pairs"

    def function(x: torch.Tensor, y: Optional[int] = None, *args, flag: bool = True, **more):
        x += 1
        x[0]
        z = x.add_(torch.tensor(2.0))
        pair = Pair(x, z)
        half = x.to(torch.float16).to(device=torch.device("cpu"))
        return (pair.a @ pair.b, x is None, float("inf"), float("nan"), x[..., None, ::2], -x, +x, abs(x), x // 2, 3 % x, 3 // x, x << 1,
                x & 1, 1 | x, x ^ x, x != x, x == 1, torch.zeros(3), half, x.missing, x.missing(1), args[0], more["k"])
    traced = torch.fx.symbolic_trace(function)
    return f"{traced.code}{traced.graph}"


@program
def annotations(torch):
    def first(x: int, y: Dict[str, List[float]], z: "Unknown" = None) -> torch.Tensor:              # noqa: F821
        return x + 1

    def second(x: torch.Tensor, y: Tuple[int, ...] = (1, 2), d=torch.float32, s="text") -> Tuple[torch.Tensor, int]:
        a, b = x.chunk(2)
        return a * b, 1

    def third(x: list[int], y: int | None, z: dict[str, torch.Tensor], w: torch.nn.Module, v: tuple[()] = ()) -> None:
        return x
    return "".join(f"{torch.fx.symbolic_trace(f).code}{torch.fx.symbolic_trace(f).graph}\n" for f in (first, second, third))


@program
def names(torch):
    graph, F = torch.fx.Graph(), torch.nn.functional
    made = [graph.placeholder(name) for name in ("x", "y_1", "for", "len", "y", "y_1", "x_7", "torch", "a.b", "1")]
    for function in (F.max_pool2d, F.linear, F.gelu, F.conv2d, F.layer_norm, torch.einsum, torch.split, torch.linalg.inv, torch.fft.fft,
                     torch.special.erf, torch.Tensor.add, torch.zeros, operator.abs, len, print, torch.Size, torch.nn.Linear):
        made.append(graph.call_function(function, (made[0],)))
    graph.output(made[0])
    return f"{made}\n{graph}\n{graph.python_code('self').src}"


@program
def rewriting(torch):
    F, lines = torch.nn.functional, []
    graph = torch.fx.Graph()
    a = graph.placeholder("a")
    b = graph.create_node("call_function", operator.add, (a, 1), name="named")
    c = graph.create_node("call_function", operator.add, (a, b), name="named")
    graph.output([c])
    lines += [graph, (b.next, b.prev, b < c, c.args, b.users, list(reversed(graph.nodes)), graph.find_nodes(op="placeholder"))]
    with graph.inserting_before(c):
        d = graph.call_function(operator.mul, (b, 3))
    c.update_arg(1, d)
    c.update_kwarg("k", a)
    c.insert_arg(0, 5)
    lines.append(graph)
    c.args, c.kwargs = (a, d), {}
    with graph.inserting_after(b):
        unused = graph.call_method("neg", (b,))
    b.append(graph.call_function(print, ("kept",)))
    lines += [graph, a.users, said(graph.erase_node, b), graph.eliminate_dead_code(), graph, unused.users]
    c.replace_all_uses_with(b)
    d.replace_input_with(b, a)
    other, places = torch.fx.Graph(), {}
    other.output(other.graph_copy(graph, places))
    lines += [graph, other, len(places), copy.deepcopy(graph), graph.output_node()]
    stranger = torch.fx.Graph().placeholder("q")
    graph.call_function(operator.neg, (stranger,))
    lines += [said(graph.lint), said(graph.create_node, "bogus", "x")]
    module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU()).eval())
    for node in module.graph.nodes:
        if node.op == "call_module" and isinstance(module.get_submodule(node.target), torch.nn.ReLU):
            with module.graph.inserting_before(node):
                new = module.graph.call_function(F.gelu, node.args, {"approximate": "tanh"})
            node.replace_all_uses_with(new)
            module.graph.erase_node(node)
    module.delete_all_unused_submodules()
    module.recompile()
    lines += [module, module.training, module(torch.ones(1, 3)).shape, module.add_submodule("x.y", torch.nn.ReLU()),
              module.delete_submodule("x.y"), module.delete_submodule("nope"), said(module.graph.call_module, "nope")]
    return "\n".join(map(str, lines))


@program
def patterns(torch):
    replace, lines = torch.fx.replace_pattern, []

    def chain(x):
        return torch.relu(torch.relu(torch.relu(x))) + torch.neg(torch.relu(x))

    def shared(x, y):
        a = x + y
        return a * 2, a.relu()

    def twice(x, w1, w2):
        return x + torch.cat([w1, w2]).sum().max() + torch.cat([w1, w2]).sum()
    for function, pattern, replacement in (
            (chain, lambda x: torch.relu(torch.relu(x)), lambda x: torch.sigmoid(x)),
            (shared, lambda x, y: (x + y) * 2, lambda x, y: x - y), (shared, lambda x: x * 2, lambda x: x.add(x)),
            (shared, lambda x: x * 3, lambda x: x), (lambda x: x * x, lambda a, b: a * b, lambda a, b: a + b),
            (lambda x: x.sin() * x.relu(), lambda a, b: a.sin() * b.relu(), lambda a, b: a),
            (twice, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]))):
        module = torch.fx.symbolic_trace(function)
        found = replace(module, pattern, replacement)
        lines += [module.code, [(match.anchor, list(match.nodes_map.items())) for match in found]]

    class Before(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.second(self.first(x).relu())

    class Pattern(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.first(x).relu()

    class After(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.other = torch.nn.Linear(2, 2, bias=False)

        def forward(self, x):
            return self.other(x)
    module = torch.fx.symbolic_trace(Before())
    replace(module, Pattern(), After())
    rewriter = torch.fx.subgraph_rewriter
    kept = rewriter.replace_pattern_with_filters(torch.fx.symbolic_trace(chain), lambda x: torch.relu(x), lambda x: torch.tanh(x),
                                                 [lambda match, graph, pattern: len(match.nodes_map) == 2])
    return "\n".join(map(str, [*lines, module, list(module.state_dict()), [found.replacements for found in kept]]))


@program
def what_cannot_be_traced(torch):
    trace = torch.fx.symbolic_trace

    def branch(x):
        return x if x.sum() > 0 else -x
    return "\n".join([said(trace, f) for f in (
        branch, lambda x: len(x), lambda x: list(x), lambda x: int(x), lambda x: float(x), lambda x: x in (1, 2), lambda x: range(x),
        lambda x: bool(x), lambda x: not x, lambda x: {**x}, lambda x: x.__class__)])


@program
def values_that_are_known(torch):
    def function(x, flag, factor=None):
        if flag:
            return x + 1
        return x if factor is None else x * factor

    class Nested(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, given, factor):
            return self.linear(given["a"]) * factor, given["b"]
    PH = torch.fx.PH
    first = torch.fx.symbolic_trace(function, concrete_args={"flag": True})
    nested = torch.fx.symbolic_trace(Nested(), concrete_args={"given": {"a": PH, "b": PH}, "factor": 2})
    lines = [first.code, first.graph, said(first, torch.ones(1), False), first(torch.ones(1), True),
             torch.fx.symbolic_trace(function, concrete_args={"flag": False, "factor": None}).code,
             nested.code, nested({"a": torch.ones(2), "b": 3}, 2)[1]]
    return "\n".join(map(str, lines))


@program
def wrapped_functions(torch):
    module = types.ModuleType("user")
    module.wrap = torch.fx.wrap
    exec("from math import sqrt\nimport math\n"
         "@wrap\ndef helper(a, b):\n    return a + b if a.shape[0] > 1 else b\n"
         "wrap('len')\nwrap('sqrt')\n"
         "def function(x):\n    return helper(x, 3) + len(x) + sqrt(x.size(0)) + math.floor(x)\n", vars(module))
    module.helper.__module__ = "user"
    traced = torch.fx.symbolic_trace(module.function)
    return f"{traced.code}{traced.graph}{said(lambda: torch.fx.wrap('x'))}{said(torch.fx.wrap, 3)}"


@program
def tracers_of_ones_own(torch):
    nn, fx = torch.nn, torch.fx

    class Leaves(fx.Tracer):
        def is_leaf_module(self, m, qualified_name):
            return isinstance(m, nn.Sequential) or super().is_leaf_module(m, qualified_name)

    class Decided(fx.Tracer):
        def to_bool(self, obj):
            return True
    module = nn.Module()
    module.inner = nn.Sequential(nn.ReLU())
    type(module).forward, before = lambda self, x: self.inner(x), type(module).forward
    try:
        stacks = [node.meta.get("nn_module_stack") for node in fx.Tracer().trace(module).nodes]
        # Python 3.12 shows an OrderedDict in other words.
        lines = [Leaves().trace(module), [type(stack).__name__ for stack in stacks], [stack and list(stack.items()) for stack in stacks]]
    finally:
        type(module).forward = before
    lines.append(Decided().trace(lambda x: x if x.sum() > 0 else -x))
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"), fx.proxy.GraphAppendingTracer(graph))
    graph.output((torch.sin(x) + x * 2).node)
    lines += [x, x.attr_of_mine.node, fx.GraphModule({}, graph, "Named"), fx.GraphModule({}, graph)(torch.zeros(2))]
    other = fx.Graph()
    other.output(other.call_module("l", (other.get_attr("s.w"),)))
    lines += [fx.GraphModule({"l": nn.Linear(1, 1), "s.w": torch.ones(1)}, other), said(fx.GraphModule, {}, other),
              said(fx.Interpreter(fx.symbolic_trace(lambda x: x.foo())).run, torch.ones(2))]
    return "\n".join(map(str, lines))


@program
def running_and_transforming(torch):
    fx = torch.fx

    class Swap(fx.Transformer):
        def call_method(self, target, args, kwargs):
            return super().call_method("relu" if target == "neg" else target, args, kwargs)

        def call_function(self, target, args, kwargs):
            return super().call_function(torch.mul if target is operator.add else target, args, kwargs)

    class Loud(fx.Interpreter):
        def run_node(self, node):
            result = super().run_node(node)
            lines.append(f"{node.name} {result}")
            return result
    lines = []
    traced = fx.symbolic_trace(lambda x, y=2: (x + y).neg())
    Loud(traced).run(torch.ones(2))
    lines += [Swap(traced).transform().code, said(fx.Interpreter(traced).run)]
    with traced.graph.on_generate_code(lambda before: lambda body: ["x = x * 10\n", *body]):
        traced.recompile()
    lines += [traced.code, traced(torch.ones(1))]
    return "\n".join(map(str, lines))


@program
def passes(torch):
    from importlib import import_module
    fx, nn, name = torch.fx, torch.nn, torch.__name__
    split_module = import_module(f"{name}.fx.passes.split_module").split_module
    ShapeProp = import_module(f"{name}.fx.passes.shape_prop").ShapeProp
    fuse = import_module(f"{name}.fx.experimental.optimization").fuse

    class Long(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.linear = nn.Parameter(torch.ones(2)), nn.Linear(2, 2)

        def forward(self, x, y):
            a = x + self.w
            return self.linear(a * y).relu() - a
    module = Long()
    traced, ones = fx.symbolic_trace(module), torch.ones(2)
    ShapeProp(traced).propagate(ones, ones)
    lines = [(node.name, node.meta["tensor_meta"], node.meta["type"].__name__) for node in traced.graph.nodes]
    parts = iter((0, 0, 1, 1, 1))
    split = split_module(traced, module, lambda node: next(parts))
    lines += [split, split.submod_0.code, split.submod_1.code, torch.equal(split(ones, ones), module(ones, ones))]
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()
    fused, picture = fuse(network), torch.ones(1, 1, 4, 4)
    lines += [fused, torch.allclose(fused(picture), network(picture), atol=1e-5)]
    return "\n".join(map(str, lines))


@program
def constants_beside_proxies(torch):
    lines, constant, foreign = [], torch.ones(2), torch.nn.Parameter(torch.ones(2))
    checkpoint = __import__("importlib").import_module(f"{torch.__name__}.utils.checkpoint").checkpoint

    def in_place(x):
        y = x.clone()
        y += 1
        assert y.shape[0] == 2
        with torch.no_grad():
            return y * x

    def sizes(x):
        b, n = x.shape
        return x[:, :x.size(1) // 2].view(b, -1) + torch.arange(n, device=x.device)
    for function in (lambda x: constant * x, lambda x: constant + x - 1, lambda x: constant @ x, lambda x: constant == x, lambda x: 1 - x,
                     lambda x: foreign * x, lambda x: torch.cat([constant, x]), lambda x: constant[x], lambda x: constant ** x,
                     lambda x: torch.where(x > 0, x, 1.0), lambda x: checkpoint(lambda y: y.sin(), x, use_reentrant=False), sizes,
                     in_place):
        try:
            lines.append(torch.fx.symbolic_trace(function).code)
        except Exception as error:
            lines.append(f"{type(error).__name__}: {error}")
    return "\n".join(lines)


@program
def immutable(torch):
    from importlib import import_module
    room = import_module(f"{torch.__name__}.fx.immutable_collections")
    numbers, names = room.immutable_list([1, 2]), room.immutable_dict(a=1)
    return "\n".join(map(str, [numbers, names, hash(numbers) == hash((1, 2)), said(numbers.append, 1), said(names.update, {}),
                               said(numbers.__setitem__, 0, 1), torch.fx.node.map_aggregate([1, (2, {"a": slice(3, None)})], str)]))


if __name__ == "__main__":
    import torch as pytorch
    GOLDENS.write_text(json.dumps({name: shown(pytorch, name) for name in PROGRAMS}, indent=0) + "\n")
