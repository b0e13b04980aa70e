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
    "histories of integers": """
        i = torch.zeros(3, dtype=torch.int64)
        print(i.copy_(v).requires_grad, i.fill_(v[0]).grad_fn.name(), i.add_(1).grad_fn.name(), i.eq_(v).grad_fn.name())
        for f in (lambda: i + 1, lambda: i[0], lambda: i.view(3), lambda: i.pow_(2), lambda: i.max(0), lambda: v.sum(dtype=torch.int64),
                  lambda: (i > 0).requires_grad, lambda: (i // 2).requires_grad, lambda: i.int().requires_grad,
                  lambda: (i * 1.5).grad_fn.name(),
                  lambda: torch.where(i > 0, v, i).grad_fn.name(), lambda: i.clone(), lambda: v[i].grad_fn.name(), i.numpy):
            tried(f)
        mask = torch.tensor([True, False, True])
        for write in (lambda b: b.masked_fill_(mask, v[0]), lambda b: b.index_fill_(0, torch.tensor([1]), v[0]),
                      lambda b: b.__setitem__(mask, v[0]), lambda b: b.__setitem__(0, v[0]), lambda b: b.__setitem__(slice(2), v[0]),
                      lambda b: b.view(3, 1)[0].fill_(v[0])):
            b = torch.zeros(3, dtype=torch.bool)
            write(b)
            print(b.requires_grad, b.grad_fn and b.grad_fn.name(), b.detach().tolist())
        try:
            i.float().sum().backward()
        except RuntimeError as e:
            print(str(e)[:50])
    """,
    "what autograd knows nothing of": """
        y = v * 2
        y.logical_and_(v).logical_not_()
        print(y.grad_fn.name())
        tried(lambda: v.logical_not_())
        tried(lambda: v[:2].logical_or_(v[:2]))
        tried(lambda: torch.ones(3).logical_xor_(v).requires_grad)
    """,
    "activations in place are differentiated by their results": """
        F = torch.nn.functional
        for f in (F.elu_, F.selu_, F.celu_, F.leaky_relu_, lambda y: F.elu_(y, -1.), lambda y: F.leaky_relu_(y, -1.),
                  lambda y: F.elu_(y, 0.5)):
            y = f(v - 2)
            tried(lambda: torch.autograd.grad(y.sum(), v)[0])
            y = f(v - 2)
            y.data.neg_()
            tried(lambda: torch.autograd.grad(y.sum(), v)[0])
            print(y.grad_fn.name())
    """,
    "masks are saved": """
        for f in (lambda x, k: x.masked_select(k), lambda x, k: x.masked_scatter(k, v), lambda x, k: (x * 1).masked_scatter_(k, x * 3)):
            k = torch.tensor([True, False, True])
            y = f(v, k)
            k.zero_()
            tried(lambda: y.sum().backward())
        k, w = torch.tensor([True, False, True]), torch.ones(3, requires_grad=True)
        y = v.masked_scatter(k, w)
        k.data[1] = True
        print([g.tolist() for g in torch.autograd.grad(y, [v, w], torch.arange(3.))])
        g, = torch.autograd.grad((v.masked_select(k) ** 2).sum(), v, create_graph=True)
        print(torch.autograd.grad(g.sum(), v)[0].tolist())
    """,
    "roots that are not needed, and gradients of inference mode": """
        y, z = v * 1, torch.ones(2, requires_grad=True)
        y.retain_grad()
        y.register_hook(lambda g: print("hook", g.tolist()))
        torch.autograd.grad(y, z, torch.ones(3), allow_unused=True)
        print(y.grad)
        torch.autograd.grad(y.sum(), z, allow_unused=True)
        print(y.grad)
        with torch.inference_mode():
            z.backward(torch.ones_like(z))
        print(z.grad.is_inference())
        tried(lambda: z.sum().backward())
    """,
    "requires_grad of copies": """
        import copy, io, pickle
        with torch.no_grad():
            y = v[1:]
        print(copy.deepcopy(y).requires_grad, pickle.loads(pickle.dumps(v * 2)).requires_grad)
        for t, kw in ((v, {}), (v, dict(dtype=torch.float64)), (v * 2, {}), (v * 2, dict(copy=True)), (v * 2, dict(requires_grad=False))):
            r = torch.asarray(t, **kw)
            print(kw, r.requires_grad, r.is_leaf, r is t)
    """,
    "set_ has no derivative": """
        for give in ((v,), (torch.ones(3),), (torch.ones(4), 1, (3,), (1,)), (torch.ones(3).untyped_storage(),), ()):
            y = v * 2
            y.set_(*give)
            print(y.grad_fn.name(), [f and f.name() for f, _ in y.grad_fn.next_functions])
        y = torch.ones(3)
        y.set_(v)
        tried(lambda: torch.autograd.grad(y.sum(), v, allow_unused=True))
        print(torch.ones(3).set_(v, 0, (2,), (1,)).requires_grad)
    """,
    "views of nothing have no gradient, detached bases leave none": """
        y = torch.ones(3)
        w = y.narrow(0, 3, 0)
        y.copy_(v)
        print([g.requires_grad for g in torch.autograd.grad((w ** 2).sum(), [w, v], create_graph=True)])
        z = torch.tensor([1-3j, 2j], requires_grad=True)
        w = z.real
        z.detach_()
        with torch.no_grad():
            w[0] = 1.
        try:
            w.grad_fn
        except RuntimeError:
            pass
        print(w.requires_grad)
        for s in ((2, 3), (1, 3), (4, 2, 3)):
            y = torch.ones(s)
            y.copy_(v)
            show(torch.autograd.grad(y.sum(), v)[0])
    """,
    "a leaf of another shape takes a gradient": """
        p = torch.nn.Parameter(torch.ones(3, 4))
        y = torch.cat([p, torch.zeros(3, 4)], dim=1)
        p.data = p.data.as_strided((3, 3), (1, 1), 5)
        y.sum().backward()
        show(p.grad)
    """,
    "saved tensors of another shape": """
        news = {"row": lambda d: d[:1], "number": lambda d: d[0, 0].clone(), "more": lambda d: d.expand(2, 2, 3).clone(),
                "turned": lambda d: d.t(), "column": lambda d: d[:, :1]}
        for name, f in (("mul", lambda a, b: a * b), ("pow", lambda a, b: a ** 2), ("div", lambda a, b: b / a), ("", lambda a, b: a.abs()),
                        ("prod", lambda a, b: a.prod()), ("mm", lambda a, b: a @ b.t()), ("max", lambda a, b: a.max()),
                        ("cat", lambda a, b: torch.cat([a, b])), ("relu", lambda a, b: a.relu()), ("clamp", lambda a, b: a.clamp(2, 4))):
            for how, new in news.items():
                for create_graph in (False, True):
                    a, b = (m + 1).requires_grad_(), (m + 2).requires_grad_()
                    y = f(a, b)
                    a.data = new(a.data)
                    if name in ("prod", "max") and how == "more" and create_graph:
                        continue
                    print(name, how)
                    tried(lambda: y.backward(torch.ones_like(y), create_graph=create_graph))
                    print(a.grad is not None and [round(n, 4) for n in a.grad.flatten().tolist()], b.grad is not None and b.grad.tolist())
    """,
    "what the second backward has saved": """
        def second(f, wrote, weighted):
            a, b = v * 1, v + 1
            w = v * 3
            y = f(a, b)
            g = torch.autograd.grad((y * w).sum() if weighted else y.sum(), a, create_graph=True)[0]
            if not g.requires_grad:
                return "no history"
            with torch.no_grad():
                (a, b, y)[wrote].mul_(1)
            return torch.autograd.grad(g.sum(), v, allow_unused=True)[0] is None
        for f in (lambda a, b: a ** 2, lambda a, b: a ** 1, lambda a, b: a ** 0, lambda a, b: a.abs(), lambda a, b: a.log1p(),
                  lambda a, b: a.sgn(), lambda a, b: torch.nn.functional.mse_loss(a, b), lambda a, b: a.fmod(b), lambda a, b: a.clamp(0, 2),
                  lambda a, b: torch.nn.functional.hardtanh(a), lambda a, b: a @ b, lambda a, b: a.addcmul(a, b), lambda a, b: a.var(),
                  lambda a, b: a[None] @ b[:, None], lambda a, b: torch.div(a, b, rounding_mode="floor"), lambda a, b: a / b):
            for wrote in range(3):
                for weighted in (False, True):
                    try:
                        print(second(f, wrote, weighted))
                    except RuntimeError as e:
                        print(str(e)[:60])
    """,
    "a gradient that views its memory can be written to": """
        y = x[1, 0:]
        with torch.no_grad():
            x *= 2
        g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        show(g)
        g.mul_(3)
        show(g)
        print(torch.autograd.grad((g * g).sum(), x)[0].tolist())
    """,
    "a result that is saved twice is no input to what is known by heart": """
        for _ in range(12):
            y = 2 / v
            g, = torch.autograd.grad((y * y).sum(), v, create_graph=True)
            print(torch.autograd.grad(g.sum(), v)[0].tolist())
        tried(lambda: v.__iand__(True))
        tried(lambda: v[0].bitwise_not_())
    """,
    "topk of booleans": """
        for t in (torch.tensor([True, False]), torch.zeros(0, 2, dtype=torch.bool), torch.tensor(True)):
            for k in (0, 1, 5):
                tried(lambda: t.topk(k))
    """,
    "masked_scatter_ from what it writes over": """
        for n, s in ((5, slice(None)), (6, slice(1, 5)), (6, slice(0, 6, 2))):
            for mask in ([False, True, True, False, True, True], [True] * 6, [True, False, False, True, True, True]):
                for source in (lambda t: t, lambda t: t[s], lambda t: t[:4]):
                    t = torch.arange(float(n), requires_grad=n == 5)
                    with torch.no_grad():
                        tried(lambda: t[s].masked_scatter_(torch.tensor(mask[:len(t[s])]), source(t)))
                    print(t.tolist())
    """,
    "backward in inference mode, with create_graph": """
        y = v * v
        y.register_hook(lambda g: print(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), g.is_inference()))
        for old in (None, torch.ones(3)):
            v.grad = old
            for inference, graph in ((1, 1), (0, 0), (1, 1), (0, 1), (1, 0), (0, 0)):
                with torch.inference_mode(bool(inference)):
                    tried(lambda: y.backward(torch.ones(3), retain_graph=True, create_graph=bool(graph)))
                print(v.grad is old, v.grad.is_inference(), v.grad.requires_grad, v.grad.tolist())
        z = (x * 1).exp().sum(0)
        z.retain_grad()
        with torch.inference_mode():
            z.backward(torch.ones(3), create_graph=True, inputs=[x])
        print(x.grad.is_inference(), x.grad.requires_grad)
    """,
    "grad modes within inference mode": """
        said = lambda: print(torch.is_grad_enabled(), (v * 2).requires_grad)
        with torch.inference_mode():
            with torch.set_grad_enabled(True):
                said()
                with torch.no_grad():
                    said()
                said()
            torch.set_grad_enabled(True)
            for mode in (torch.no_grad(), torch.enable_grad(), torch.set_grad_enabled(False), torch.inference_mode(False),
                         torch.inference_mode()):
                with mode:
                    said()
                said()
        said()
    """,
    "numbers and their parts in one memory": """
        for n in ((), (1,), (2,)):
            c = torch.ones(n, dtype=torch.complex64) * 2j
            for target, source in ((c.imag, c), (c.real, c), (c.real, c.imag), (c, c.imag), (c[..., :1] if n else c, c.real)):
                tried(lambda: target.copy_(source))
                tried(lambda: target.__setitem__(..., source))
                tried(lambda: target.add_(source))
        c = torch.tensor([1+2j, 3+4j])
        for target, source in ((c.imag[0], c[0]), (c.imag[:1], c[:1]), (c.imag[0], c[1]), (c.imag[1:], c[:1]), (c[1], c.imag[0])):
            tried(lambda: target.copy_(source))
        i = torch.tensor([1, 2, 3, 4])
        f = i.view(torch.int32)
        for target, source in ((f[:4], i), (f[4:], i), (i, f[4:]), (f[::2], i), (f[1], i[0]), (f[0], i[1]), (i[0], f[1]), (i[0], f[2])):
            tried(lambda: target.copy_(source))
        print(c, i)
    """,
    "masked_scatter_ from what it writes over, with a history": """
        k = torch.tensor([False, True, True])
        for target, source in ((lambda y: y, lambda y: y), (lambda y: y.detach(), lambda y: v), (lambda y: y[:], lambda y: y),
                               (lambda y: y, lambda y: y.flip(0)), (lambda y: y[1:], lambda y: y)):
            v.grad, y = None, v * 1
            if source(y) is v:
                y = v
            t = target(y)
            t.masked_scatter_(k[:len(t)], source(y))
            show(t)
            t.backward(torch.arange(1., 4.)[:len(t)])
            print(v.grad)
    """,
    "data changed between two backwards of formulas of several operations": """
        b = torch.tensor([0.2, 0.6, 0.4], requires_grad=True)
        silu = torch.nn.functional.silu
        for f in (lambda a: a / b, lambda a: b / a, lambda a: a.atan2(b), lambda a: a.sqrt(), lambda a: a.rsqrt(), lambda a: a.exp2(),
                  lambda a: a.asin(), lambda a: a.acos(), lambda a: a.atan(), lambda a: a.asinh(), lambda a: (a + 1).acosh(),
                  lambda a: a.atanh(), lambda a: a.erf(), lambda a: a.erfc(), lambda a: a.erfinv(), lambda a: a.lgamma(), silu,
                  lambda a: a.digamma(), lambda a: a.logsumexp(0), lambda a: a.logsumexp((0,), True), lambda a: a.logit(), lambda a: a ** b,
                  lambda a: torch.addcdiv(b, a, b, value=2), lambda a: torch.lerp(a, b, b), lambda a: torch.hypot(a, b),
                  lambda a: torch.xlogy(a, b), lambda a: torch.fmod(a, b), lambda a: (a * 1).sqrt_(), lambda a: (a * 1).div_(b),
                  lambda a: a.mul(1j).sqrt().abs(), lambda a: (a.mul(1j) / (b + 1j)).real, lambda a: (a[:, None] / b).sum(0)):
            for change in (0, 1, 2):
                a, w = torch.tensor([0.3, 0.5, 0.7], requires_grad=True), torch.tensor(1.5, requires_grad=True)
                y = f(a)
                grads = torch.autograd.grad((y * w).sum(), [a, b], create_graph=True, allow_unused=True)
                total = sum(g.sum() for g in grads if g is not None)
                (a, b, y)[change].data.mul_(1.2)
                second = torch.autograd.grad(total, [a, b, w], allow_unused=True)
                print([None if g is None else [float(f"{n:.2e}") for n in g.reshape(-1).tolist()] for g in second])
                b.data.copy_(torch.tensor([0.2, 0.6, 0.4]))
    """,
    "numbers expanded, moved and repeated": """
        for n in ((), (2,)):
            t = torch.ones(n, requires_grad=True)
            for f in (lambda t: t.expand_as(t), lambda t: torch.broadcast_to(t, n), lambda t: t.sum_to_size(n), lambda t: t.movedim(0, 0),
                      lambda t: t.moveaxis((), ()), lambda t: t.repeat((1,) * t.ndim), lambda t: t.repeat(1, 1), lambda t: t.tile(1)):
                y = f(t)
                show(y)
                a, b = torch.autograd.grad((y * y).sum(), [t, y], allow_unused=True)
                print(a is b, b is not None and a.data_ptr() == b.data_ptr())
        for n in ((), (0,), (1,), (2,), (0, 3), (2, 1)):
            t = torch.ones(n, requires_grad=True)
            for f in (lambda t: t.cumsum(-1), lambda t: t.cumprod(-1), lambda t: t.logcumsumexp(-1),
                      lambda t: t.cumsum(0, dtype=torch.float64)):
                y, g = f(t), torch.ones(n, dtype=f(t).dtype)
                a, = torch.autograd.grad(y, [t], g)
                print(a is g, a.dtype, a.tolist())
        tried(lambda: torch.tensor(1.).movedim(1, 0))
        for shifts, dims in ((1, -2), ((1, 2), (0, 5)), ((1, 2), (0,)), ((), ())):
            for n in ((), (0,), (2, 0), (1,)):
                tried(lambda: torch.roll(torch.ones(n), shifts, dims))
        for t in (torch.tensor(2.), torch.ones(2)):
            for repeats in (2, -1, torch.tensor(2), torch.tensor([1, 2]), torch.tensor([1, 2, 3]), torch.tensor([1.5]), torch.ones(1, 2)):
                for d in (None, 0, -1, 1):
                    tried(lambda: t.repeat_interleave(repeats, d))
    """,
    "dimensions of what has no elements": """
        e, w, z = (torch.ones(n, requires_grad=True) for n in ((0,), (0, 3), (2, 3)))
        for n in ((0,), (0, 3), (2, 0), (3,), ()):
            for d in (0, 1, -2):
                for index in ([0], [], [0, 0], [-1], [5]):
                    tried(lambda: torch.ones(n).index_select(d, torch.tensor(index, dtype=torch.int64)).shape)
        for d in (0, -1, -2, 5):
            for parts in ([e, e], [e, torch.ones(2, 0)], [e, z], [w, z], [e, torch.tensor(1.)], [e, torch.ones(0, dtype=torch.int64)]):
                tried(lambda: torch.cat(parts, d).shape)
            for n in ((0,), (0, 2), ()):
                tried(lambda: torch.ones(n).cummax(d)[0].shape)
        for repeats in ((-1,), (-1, -2), (-1, 0)):
            tried(lambda: e.repeat(repeats).shape)
        for parts in ([e, e], [e, z], [z, e, w], [e]):
            for graph in (False, True):
                y = torch.cat(parts)
                for g in torch.autograd.grad((y ** 2).sum(), parts, create_graph=graph):
                    show(g)
    """,
    "data changed between two backwards": """
        F = torch.nn.functional
        for f in (lambda a: a ** 2, lambda a: a ** 3, lambda a: a.sin(), lambda a: a.exp(), lambda a: a * a, lambda a: a.sqrt(),
                  lambda a: a.log(), lambda a: a.tanh(), lambda a: a.prod(), lambda a: a.norm(), lambda a: a.clamp(0, 2), lambda a: a @ a,
                  lambda a: a.reciprocal(), lambda a: F.hardtanh(a, 0, 2), lambda a: a.softmax(0), lambda a: 2 ** a):
            for change in (0, 1):
                a, w = (v.detach() / 2).requires_grad_(), (v + 1).detach().requires_grad_()
                y = f(a)
                g, = torch.autograd.grad((y * w.sum()).sum(), a, create_graph=True)
                (a, y)[change].data.mul_(3)
                print([round(n, 2) + 0 for n in torch.autograd.grad(g.sum(), w)[0].tolist()])
        with torch.inference_mode():
            c = torch.ones(2, dtype=torch.complex64)
        z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
        z.data = c
        print(z[0].requires_grad, z.real.requires_grad, z.conj().requires_grad, (z * 2).requires_grad)
    """,
    "what is asked before a stale view is found out": """
        for f in ("unflatten(0, (5, 7))", "narrow(0, 5, 1)", "movedim(0, 5)", "split(-1)", "chunk(0)", "unbind(5)",
                  "as_strided((9, 9), (9, 9))", "view(7)", "select(0, 7)", "permute(0, 0)", "sum(7)", "__getitem__(7)", "hsplit(3)",
                  "flatten(3)"):
            y = x * 2
            w = y.split(2, 1)[0]
            y[:, None, 0] = torch.tensor(0.)
            tried(lambda: eval("w." + f, {"w": w}))
        y = v * 2
        w = y.cos()
        y /= 2
        y.detach_()
        tried(lambda: w.sum().backward())
    """,
    "small conversions": """
        for f in (lambda: int(torch.ones(2)), lambda: float(torch.tensor(1j)), lambda: torch.tensor(300, dtype=torch.int8),
                  lambda: torch.tensor([-1], dtype=torch.uint8), lambda: torch.tensor([1j], dtype=torch.float32), lambda: torch.zeros(-1),
                  lambda: torch.tensor(2 ** 63), lambda: torch.ones(3).view(torch.float64), lambda: torch.asarray(v) is v,
                  lambda: torch.ones(2).resize_(3)._version, lambda: torch.broadcast_tensors(v, v)[0] is v):
            tried(f)
    """,
    "of two of different types the choice has no history either": """
        for name in ("maximum", "fmin"):
            for kinds in ((torch.float32, torch.float64), (torch.float64, torch.float32)):
                a, b = [torch.tensor([1., k, 3.], dtype=kind, requires_grad=True) for k, kind in zip((2., 5.), kinds)]
                for lead in (1., a):
                    grads = torch.autograd.grad((getattr(torch, name)(a, b) * lead).sum(), [a, b], create_graph=True)
                    print(name, [(g.requires_grad, g.grad_fn and g.grad_fn.name(), g.dtype, g.tolist()) for g in grads])
    """,
    "the bytes of truth values stay bytes in another size": """
        b = torch.tensor([False])
        u = b.view(torch.uint8)
        b.resize_((2,)).fill_(True)
        print(u[0].sub_(torch.tensor(-4)), u.tolist(), b.tolist(), b.view(torch.uint8).tolist(), b.resize_(3)[:2].tolist())
    """,
    "a conjugate stays one in another size": """
        z = torch.zeros(2, dtype=torch.complex64)
        y = z.conj()
        print(y.resize_(3).fill_(-0.25).is_conj(), torch.view_as_real(y.conj()).tolist(), y.resize_(2).is_conj())
        n = z.conj().imag
        print(n.is_neg(), n.resize_(4).is_neg(), n.fill_(1).tolist(), torch.zeros(3).resize_(2).is_neg())
    """,
    # a number in a dtype's place, two numbers, lengths of complex numbers, contractions of all
    "numbers that are taken": """
        print(torch.ones(1).to(3.5).dtype, torch.ones(1).to(True).dtype, torch.ones(1).to(1j).dtype)
        print(torch.add(1, 2), torch.div(1, 2), torch.floor_divide(7, 2))
        print(torch.abs(torch.tensor([3 + 4j]), out=torch.zeros(1, dtype=torch.float64)))
        print(torch.tensordot(torch.ones(2), torch.ones(2), dims=torch.tensor(1)), torch.ones(2, 3).size(1), torch.atleast_2d())
    """,
    # PyTorch's names for arguments, where they are not the usual ones
    "names of arguments": """
        x, S, i = torch.ones(2, 2), torch.eye(2) * 2, torch.tensor([1, 2])
        print(torch.cat(tensors=[x, x], dim=1), torch.stack(tensors=[i, i]), torch.concat(tensors=[i]))
        print(torch.complex(real=x, imag=x), torch.polar(abs=i * 1., angle=i * 0.))
        print(torch.hsplit(x, sections=2), x.tensor_split(indices=(1,)), torch.isin(elements=i, test_element=1))
        print(x.clone().copy_(other=S), S.swapaxes(axis0=0, axis1=1), torch.zeros(4).resize_as_(the_template=S).shape)
        print(torch.linalg.cholesky(input=S), torch.linalg.solve_triangular(input=S, B=x, upper=True))
        print(torch.result_type(tensor=x, other=i), torch.result_type(scalar=2.5, tensor=i), torch.pow(self=2, exponent=i))
        print(torch.bucketize(self=1, boundaries=i), torch.bitwise_and(self=3, other=i))
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
