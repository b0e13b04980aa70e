"""What the differential fuzzer found, each as a small script that must print under jtensor what it prints under PyTorch.

The scripts use ``torch``, ``np`` and ``show``; `show` prints what is compared beyond values: version, strides, history, view and base.
"""
import contextlib
import io
import warnings

import numpy as np
import pytest

import jtensor

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

SCRIPTS = {
    "an in-place operator with itself as the second operand": """
        y = v + 1
        y.div_(y)
        tried(lambda: y.sum().backward())
    """,
    "an operand that shares the counter is saved before the write": """
        y = v * 1
        y[:].mul_(y[:])
        tried(lambda: y.sum().backward())
    """,
    "comparisons written into a float tensor cut the gradient": """
        reshaped = torch.ones(2, requires_grad=True)
        reshaped.data = torch.ones(3)                # from now on gradients are looked at
        y = v * 1
        y.gt_(2.)
        show(y)
        y.sum().backward()
        show(v.grad)
    """,
    "a view of a leaf made in no_grad leads nowhere": """
        with torch.no_grad():
            y = v[1:]
        (y * y).sum().backward()
        print(v.grad)
        tried(lambda: y[0].backward())
        with torch.no_grad():
            z = v[0]
        tried(lambda: z.backward())
    """,
    "the gradient of a view whose history may not be refreshed can be asked for": """
        with torch.no_grad():
            y = v.view(3)
        v.detach().mul_(2)
        print(y.grad, y.retains_grad, y.requires_grad)
        tried(lambda: y.grad_fn)
        tried(lambda: y.is_leaf)
    """,
    "a view without history gets one when its base does": """
        t = torch.ones(2, 3)
        y = t[:]
        t[1] = 2.
        t.requires_grad_()
        show(y)
    """,
    "data = leaves the counter with the tensor and its views": """
        y = v[::2]
        v.data = v.data * 2
        with torch.no_grad():
            v.neg_()
        print(v._version, y._version, type(y.grad_fn).__name__)
    """,
    "gradients are taken, copied or summed": """
        for f in (lambda: (x * 2).sum(), lambda: (x * x).sum(), lambda: x.sum(), lambda: (x + x).sum(), lambda: x.T.sum()):
            x.grad = None
            f().backward()
            show(x.grad)
            f().backward()
            show(x.grad)
        g = torch.ones(2, 3)
        for f in (lambda: x * 1, lambda: x + 1, lambda: x.view(2, 3)):
            x.grad = None
            f().backward(g)
            print(x.grad.data_ptr() == g.data_ptr(), x.grad._version)
        x.grad = None
        (x * x).sum().backward(create_graph=True)
        show(x.grad)
    """,
    "gradients that are views": """
        for f in (lambda: x.expand(4, 2, 3), lambda: x.view(6), lambda: x.T, lambda: x[None], lambda: x.squeeze(),
                  lambda: x.T.reshape(6), lambda: x.as_strided((2,), (1,), 1), lambda: torch.cat([x, m]),
                  lambda: torch.stack([x, m]), lambda: x - 1, lambda: x.max(0)[0], lambda: x[[0]], lambda: x.sort()[0]):
            g, = torch.autograd.grad((f() * 1.).sum(), x)
            show(g)
            g, = torch.autograd.grad(f().sum(), x)
            show(g)
        g, = torch.autograd.grad((m + v).sum(), v)
        show(g)
    """,
    "PyTorch's gradient of a product sees a later data write": """
        y = v.prod()
        v.data[:2] = 5.
        print(torch.autograd.grad(y, v)[0].tolist())
        w = torch.tensor([0., 2., 3.], requires_grad=True)
        print(torch.autograd.grad(w.prod(), w)[0].tolist())
    """,
    "views in place have names of their own": """
        for name, args in (("t_", ()), ("transpose_", (0, 1)), ("squeeze_", ()), ("squeeze_", (0,)), ("unsqueeze_", (0,)),
                           ("swapaxes_", (0, 1))):
            y = x * 2
            getattr(y, name)(*args)
            show(y)
    """,
    "fills and copies by index": """
        s = torch.tensor(2., requires_grad=True)
        for value in (2., s, torch.ones(3), torch.ones(1, 1, 3), torch.ones(1, 2, 3, requires_grad=True)):
            for index in (..., slice(None), 0, (0, 1)):
                y = x * 1
                tried(lambda: y.__setitem__(index, value))
                print(type(y.grad_fn).__name__)
    """,
    "indices out of bounds": """
        z = torch.tensor(1.)
        for t in (z, m):
            for index in (0, 2, -7, (0, 9), (..., 9), (None, 5), (0, 0, 0), slice(0, 1), "a", 1.5, slice(0, 2, 0),
                          slice(0, 2, -1), (0, [9])):
                tried(lambda: t[index])
                tried(lambda: t.clone().__setitem__(index, 1.))
    """,
    "slices of everything": """
        for y in (x[:], x[0:5], x[:,], x[0:5,], x[...], x[None], x[()]):
            show(y)
    """,
    "memory that overlaps": """
        i = torch.tensor([0, 1])
        flat = m.flatten()
        for f in (lambda: m.__setitem__(m > 2, m), lambda: m.__setitem__(m > 2, m[0, 0]), lambda: m.__setitem__(i, m),
                  lambda: m[1:].copy_(m[:1]), lambda: m.index_add_(0, i, m), lambda: m.index_copy_(0, i, m),
                  lambda: m.scatter_(0, i.expand(1, 2), m), lambda: m.mul_(m), lambda: m[:, 1:].add_(m[:, :-1]),
                  lambda: torch.add(flat[1:], 1, out=flat[:-1]), lambda: m.expand(2, 2, 3).zero_(),
                  lambda: m.expand(2, 2, 3).add_(1), lambda: m.fill_(m[0, 0])):
            tried(f)
    """,
    "numbers that do not fit": """
        for kind in (torch.float32, torch.int32, torch.int8, torch.uint8, torch.bool):
            for number in (1e40, 300, -1, 1j, float("inf"), 2.7):
                tried(lambda: torch.ones(1, dtype=kind).fill_(number))
                tried(lambda: torch.full((1,), number, dtype=kind))
                tried(lambda: torch.ones(1, dtype=kind).masked_fill_(torch.tensor([True]), number))
    """,
    "view(dtype) is no differentiable view": """
        y = v.view(torch.int32)
        print(y._is_view(), y._version, y.requires_grad)
        v.detach().add_(1)
        print(y._version)
        w = v.view(torch.float32)
        print(w._is_view(), w.grad_fn)
    """,
    "complex views get their history anew": """
        z = torch.tensor([1+2j, 3-1j], requires_grad=True) * 1
        views = [z.conj(), torch.view_as_real(z), z.conj().imag, z.real, torch.view_as_real(z)[0]]
        z.mul_(2)
        for y in views:
            print(type(y.grad_fn).__name__, y.tolist())
    """,
    "strides of pointwise results": """
        y, z = torch.ones(1, 3).permute(1, 0), torch.ones(4)[::2][:1]
        for t in (y, z, torch.ones(3).expand(2, 3)[2:], torch.ones(2, 1, 4).permute(2, 0, 1)):
            print((t * 2).stride(), (t + t).stride(), t.exp().stride(), t.clone().stride(), (t > 0).stride(), t.clamp(min=0.1).stride())
        print(torch.tensor(np.ones((2, 3)).T).stride(), torch.ones(2, 3).nonzero().stride())
    """,
    "inference tensors outside their mode": """
        with torch.inference_mode():
            t = torch.ones(2)
        d = t.detach()
        d.mul_(2)
        print(d._version, d.is_inference(), t.tolist())
        tried(lambda: t.mul_(2))
        tried(lambda: t[0].mul_(2))
        tried(lambda: t._version)
    """,
    "small conversions": """
        for f in (lambda: int(torch.ones(2)), lambda: float(torch.tensor(1j)), lambda: torch.tensor(300, dtype=torch.int8),
                  lambda: torch.tensor([-1], dtype=torch.uint8), lambda: torch.tensor([1j], dtype=torch.float32), lambda: torch.zeros(-1),
                  lambda: torch.tensor(2 ** 63), lambda: torch.ones(3).view(torch.float64), lambda: torch.asarray(v) is v,
                  lambda: torch.ones(2).resize_(3)._version, lambda: torch.broadcast_tensors(v, v)[0] is v):
            tried(f)
    """,
}


def printed(module, script):
    """What a script prints; 'jtensor' in texts is shown as 'torch'."""
    import textwrap
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
