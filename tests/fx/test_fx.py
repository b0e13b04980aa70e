"""Graphs of programs show and compute what PyTorch's do: against stored texts, and against PyTorch itself where it is installed."""
import copy
import difflib
import enum
import json
import operator
import re

import pytest

import jtensor

from .programs import GOLDENS, PROGRAMS, shown

STORED = json.loads(GOLDENS.read_text())


def differing(wanted, found):
    return [line for line in difflib.ndiff(wanted.splitlines(), found.splitlines()) if line[0] in "+-"]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_programs_show_what_is_stored(name):
    assert not differing(STORED[name], shown(jtensor, name))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_stored_is_pytorchs(name):
    torch = pytest.importorskip("torch")
    assert not differing(shown(torch, name), STORED[name])


def test_a_graph_module_is_trained_as_its_origin_is():
    def losses(wrap):
        jtensor.manual_seed(0)
        network = wrap(jtensor.nn.Sequential(jtensor.nn.Linear(3, 4), jtensor.nn.Tanh(), jtensor.nn.Linear(4, 1)))
        optimizer = jtensor.optim.SGD(network.parameters(), lr=0.1)
        x, found = jtensor.arange(6.0).reshape(2, 3), []
        for _ in range(3):
            loss = network(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found
    assert losses(jtensor.fx.symbolic_trace) == losses(lambda module: module)


def test_tracing_leaves_modules_and_functions_as_they_were():
    before = jtensor.nn.Module.__call__, jtensor.nn.Module.__getattr__
    with pytest.raises(jtensor.fx.proxy.TraceError):
        jtensor.fx.symbolic_trace(lambda x: 1 if x else 2)
    assert (jtensor.nn.Module.__call__, jtensor.nn.Module.__getattr__) == before
    assert not jtensor.fx._symbolic_trace.is_fx_tracing()


def test_hooks_see_what_happens_to_nodes():
    module = jtensor.fx.symbolic_trace(lambda x: (x + 1).neg())
    seen = []
    module._register_create_node_hook(lambda node: seen.append(("made", node.name)))
    module._register_erase_node_hook(lambda node: seen.append(("erased", node.name)))
    add, neg = [node for node in module.graph.nodes if node.op.startswith("call")]
    with module._set_replace_hook(lambda old, new, user: seen.append(("replaced", old.name, new, user.name))):
        with module.graph.inserting_before(neg):
            new = module.graph.call_function(operator.sub, add.args)
        add.replace_all_uses_with(new)
        module.graph.erase_node(add)
    assert seen == [("made", "sub"), ("replaced", "add", "sub", "neg"), ("erased", "add")]


def test_a_folder_has_the_program(tmp_path, monkeypatch):
    module = jtensor.fx.symbolic_trace(jtensor.nn.Sequential(jtensor.nn.Linear(2, 2), jtensor.nn.ReLU()))
    module.to_folder(tmp_path / "written")
    assert {"module.py", "__init__.py", "state_dict.pt"} <= {path.name for path in (tmp_path / "written").iterdir()}
    assert "self." in (tmp_path / "written" / "module.py").read_text()


def test_einsum_hands_on_its_operands_one_by_one():
    class Asked:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return args
    one = Asked()
    jtensor.overrides.has_torch_function((one,))
    assert jtensor.einsum("i,i", one, one) == jtensor.einsum("i,i", [one, one]) == ("i,i", one, one)
    assert jtensor._assert(one, "said") == (one, "said")


def test_the_table_of_nodes(capsys):
    def printed(torch):
        torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.ReLU())).graph.print_tabular()
        return capsys.readouterr().out
    found = printed(jtensor)
    assert [line.split()[:3] for line in found.splitlines()[2:]] == [
        ["placeholder", "input_1", "input"], ["call_module", "_0", "0"], ["call_module", "_1", "1"], ["output", "output", "output"]]
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.fx")
    assert found == printed(torch)


def test_table_asks_for_its_package(capsys, monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.raises(ImportError):
        jtensor.fx.Graph().print_tabular()
    assert "pip install tabulate" in capsys.readouterr().out


def test_a_tracer_whose_create_proxy_knows_no_factories():
    class Older(jtensor.fx.Tracer):
        def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *_):
            return super().create_proxy(kind, target, args, kwargs, name, type_expr)

    class Scaled(jtensor.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = jtensor.nn.Parameter(jtensor.ones(2))

        def forward(self, x):
            return x * self.scale

    assert [node.op for node in Older().trace(Scaled()).nodes] == ["placeholder", "get_attr", "call_function", "output"]


def test_transformed_nodes_know_where_they_come_from():
    def told(torch):
        traced = torch.fx.symbolic_trace(lambda x: torch.relu(x.neg()))
        for at, node in enumerate(traced.graph.nodes):
            node.meta.update(nn_module_stack={"at": at}, custom=[at], other=at, stack_trace=f"line {at}")

        class Twice(torch.fx.Transformer):
            def call_function(self, target, args, kwargs):
                return super().call_function(target, args, kwargs) + 1
        keys = "nn_module_stack", "custom", "other", "stack_trace"
        return [[node.meta.get(key) for key in keys] for node in Twice(traced).transform().graph.nodes]
    found = told(jtensor)
    assert found == [[None] * 4, [{"at": 1}, [1], None, "line 1"], *[[{"at": 2}, [2], None, "line 2"]] * 2, [{"at": 3}, [3], 3, "line 3"]]
    assert found == told(pytest.importorskip("torch"))


class Colour(enum.Enum):
    RED = 1


def test_what_arguments_of_a_trace_may_be():
    def found(torch):
        trace, PH = torch.fx.symbolic_trace, torch.fx.PH

        class Sum(torch.nn.Module):
            def forward(self, *args, **kwargs):
                return args[0] + args[1]

        def choose(b, a):
            return a["a"] if b else a["z"]
        chosen = trace(choose, concrete_args={"a": {"a": PH, "z": PH}, "b": True})
        again = trace(chosen)
        marked = trace(lambda a, b: a + b, concrete_args={"a": torch.fx._symbolic_trace.PHWithMeta("key"), "b": PH})
        return [trace(lambda x: [Colour.RED, x]).code.strip(), trace(Sum(), concrete_args=(PH, PH)).code.strip(), again.code.strip(),
                again(True, {"a": 3, "z": 4}), [getattr(node, "ph_key", None) for node in marked.graph.nodes]]
    mine = found(jtensor)
    assert mine[0] == "def forward(self, x):\n    return [Colour.RED, x]" and mine[1].startswith("def forward(self, input_0, input_1):")
    assert mine[3:] == [3, ["key", None, None, None]]
    assert mine == found(pytest.importorskip("torch"))


def test_nodes_arguments_are_nests():
    pytree, collections = jtensor.utils._pytree, jtensor.fx.immutable_collections
    args = jtensor.fx.symbolic_trace(lambda x: {"a": [x, 1], "b": 2}).graph.output_node().args[0]
    leaves, spec = pytree.tree_flatten(args)
    assert leaves[1:] == [1, 2] and str(leaves[0]) == "x"
    made = pytree.tree_unflatten([5, 6, 7], spec)
    assert made == {"a": [5, 6], "b": 7} and type(made) is collections.immutable_dict and type(made["a"]) is collections.immutable_list


def test_tracers_and_text_makers_of_ones_own():
    class Listing(jtensor.fx.CodeGen):
        def generate_output(self, output_args):
            return f"return list({output_args!r})"
    traced = jtensor.fx.symbolic_trace(lambda x: (x, x + 1))
    traced.graph.set_codegen(Listing())
    traced.recompile()
    assert traced(1) == [1, 2]
    tracer = jtensor.fx.Tracer()
    empty = copy.deepcopy(tracer)
    graph = tracer.trace(lambda x: x + 1)
    assert str(copy.deepcopy(tracer).graph) == str(graph) and empty.graph is None


def test_proxies_of_two_tracers():
    def said(library):
        proxies = [library.fx.Proxy(library.fx.Graph().placeholder(name)) for name in "ab"]
        with pytest.raises(RuntimeError) as refused:
            library.sin(library.add(*proxies))
        return re.sub(r" at 0x\w+|[\w.]+(?=\.GraphAppendingTracer)", "", str(refused.value)).partition("operations")[0]
    assert said(jtensor) == said(pytest.importorskip("torch"))
