"""What the differential fuzzer found, each as a small script that must print under jtensor what it prints under PyTorch.

The scripts use ``torch``, ``np``, what is defined in `HEADER`, and ``show``, which prints what is compared beyond values: version, strides,
history, view and base.
"""
import contextlib
import io
import textwrap
import warnings

import numpy as np
import pytest

import jtensor

from . import history_scripts, memory_scripts, value_scripts

torch = pytest.importorskip("torch")

HEADER = '''
def show(t):
    fn = t.grad_fn
    print(t.tolist(), t._version, t.stride(), None if fn is None else type(fn).__name__, t._is_view(),
          None if t._base is None else tuple(t._base.shape), t.requires_grad)
def tried(f):
    try:
        r = f()
        print("fine", r.tolist() if hasattr(r, "tolist") else r)
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
x = torch.ones(2, 3, requires_grad=True)
v = torch.tensor([1., 2., 3.], requires_grad=True)
m = torch.arange(6.).view(2, 3)
'''

SCRIPTS = history_scripts.SCRIPTS | memory_scripts.SCRIPTS | value_scripts.SCRIPTS


def printed(module, script):
    """What a script prints; 'jtensor' in texts is shown as 'torch'."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(HEADER + textwrap.dedent(script), {"torch": module, "np": np})
    return out.getvalue().replace("jtensor.", "torch.").splitlines()


@pytest.mark.parametrize("name", SCRIPTS)
def test_prints_what_pytorch_prints(name):
    expected, found = printed(torch, SCRIPTS[name]), printed(jtensor, SCRIPTS[name])
    assert expected
    assert found == expected


def test_the_comparison_can_fail():
    assert printed(torch, "print(x._version)") != printed(jtensor, "print(x.add(1)._version + 1)")
