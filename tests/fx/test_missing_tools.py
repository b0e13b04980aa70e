"""Tools for a compiler of Python code that is not here: PyTorch's errors, and an honest word."""
import pytest

import jtensor as torch
from jtensor.base.errors import MissingFeature


@pytest.mark.parametrize("settings, kind, text", [
    ({"zork": 1}, TypeError, r"set_logs\(\) got an unexpected keyword argument 'zork'"),
    ({"modules": {"zork": 10}}, ValueError, "Unrecognized log or artifact name passed to set_logs: zork"),
    ({"dynamo": "x"}, ValueError, "Unrecognized log level for log dynamo: x, valid level values are: 50,40,30,20,10,0"),
    ({"all": 15}, ValueError, "Unrecognized log level for log torch: 15"),
    ({"graph_breaks": 3}, ValueError, "Expected bool to enable artifact graph_breaks, received 3")])
def test_logs_that_pytorch_refuses(settings, kind, text):
    with pytest.raises(kind, match=text):
        torch._logging.set_logs(**settings)
    try:
        import torch._logging as theirs
    except ImportError:
        return
    with pytest.raises(kind, match=text):
        theirs.set_logs(**settings)


def test_logs_are_warned_of_if_asked_for():
    torch._logging.set_logs()
    torch._logging.set_logs(graph=False, dynamo=None)
    with pytest.warns(UserWarning, match=r"none of PyTorch's logs \(graph, inductor\); jtensor.report"):
        torch._logging.set_logs(graph=True, modules={"inductor": 10})


def test_what_is_missing_says_so():
    from jtensor.fx.passes.graph_drawer import FxGraphDrawer
    with pytest.raises((RuntimeError, MissingFeature), match="pydot|pictures of graphs"):
        FxGraphDrawer(torch.fx.symbolic_trace(torch.nn.ReLU()), "x")
    with pytest.raises(MissingFeature, match="report"):
        torch._dynamo.explain(len)([1])
