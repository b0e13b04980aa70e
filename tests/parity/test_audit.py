"""What a user's audit found: scripts of mixed features that print under jtensor what they print under PyTorch.

``tried(f)`` prints the result, or the exception's type and text; what is to be seen beside values is printed by the scripts themselves.
"""
import contextlib
import io
import textwrap
import warnings

import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")


def tried(f, *args):
    try:
        r = f(*args)
        print("fine", r.tolist() if hasattr(r, "tolist") else r)
    except Exception as e:
        print(type(e).__name__, str(e))


SCRIPTS = {
    "arguments of a custom function given by name": """
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, k=1, y=None):
                print(ctx.needs_input_grad, type(k).__name__)
                return x * k + (0 if y is None else y)
            @staticmethod
            def backward(ctx, g):
                return tuple([g if n else None for n in ctx.needs_input_grad])
        for args, kwargs in (((x,), dict(k=2)), ((x, 2), dict(y=x * 2)), ((), dict(k=3, x=x)), ((x,), dict(y=x)), ((x,), dict(z=1)),
                             ((x, 1), dict(k=1))):
            x.grad = None
            tried(lambda: F.apply(*args, **kwargs).sum().backward())
            print(x.grad)
    """,
    "what a custom backward answers for a real input": """
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * y
            @staticmethod
            def backward(ctx, g):
                return answer
        for answer in (g * 1j, None), (None, g * 1j), (g.double(), g.int()), (g.int(), None):
            r = F.apply(x, torch.ones(2))
            r.grad_fn.register_hook(lambda gi, go: print([i if i is None else i.dtype for i in gi]))
            x.grad = None
            tried(lambda: r.sum().backward())
            print(x.grad)
    """,
    "hooks of modules: inputs without a gradient, and the name in messages": """
        class Two(torch.nn.Module):
            def forward(self, a, b):
                return a * 2, b * 3, "x"
        m = Two()
        h = m.register_full_backward_hook(lambda m, gi, go: print([i if i is None else i.tolist() for i in gi], go[1:]))
        r = m(x, torch.ones(1)); (r[0].sum() + r[1].sum()).backward()
        h.remove()
        for register, hook in ((m.register_full_backward_hook, lambda m, gi, go: (gi[0][:1], None)),
                               (m.register_full_backward_pre_hook, lambda m, go: (go[0][:1], None, None))):
            h = register(hook)
            tried(lambda: m(x, 1)[0].sum().backward())
            h.remove()
    """,
    "saved tensors: what hooks are given, and hooks given twice": """
        log = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append((t.requires_grad, t.is_leaf)) or t, lambda t: t):
            y = (x.exp() * x).sigmoid()
        y.sum().backward()
        print(log, x.grad)
        y = x * g
        raw = y.grad_fn._raw_saved_other
        raw.register_hooks(lambda t: t * 2, lambda t: t)
        tried(lambda: raw.register_hooks(lambda t: t, lambda t: t))
        y.sum().backward()
        print(x.grad, {"_saved_self", "_saved_other", "_raw_saved_other"} < set(dir(y.grad_fn)))
    """,
    "backward into what is no tensor": """
        tried(lambda: torch.autograd.grad((x * x).sum(), "a"))
        tried(lambda: (x * x).sum().backward(inputs=[3]))
    """,
    "`.data` of another kind of device, or deleted": """
        m = torch.ones(2, device="meta")
        def put(a, b):
            a.data = b
        def drop():
            del x.data
        tried(put, x, m); tried(put, m, x); tried(drop)
        print(x, m.device)
    """,
    "devices are values": """
        def put():
            torch.device("cpu").type = "cuda"
        for f in put, lambda: torch.device(None), lambda: torch.device(1.5), lambda: torch.device(""):
            tried(f)
        print(torch.device("cpu"))
        tried(torch.int32.to_complex); tried(torch.bool.to_complex); print(torch.complex64.to_complex(), torch.float64.to_complex())
    """,
    "memory formats": """
        cl, c3, keep, plain = torch.channels_last, torch.channels_last_3d, torch.preserve_format, torch.contiguous_format
        print(cl, type(cl))
        t = torch.arange(48.).reshape(2, 2, 3, 4).requires_grad_()
        y = t.contiguous(memory_format=cl)
        print(y.stride(), y.grad_fn.name(), y._is_view(), y.is_contiguous(memory_format=cl), y.is_contiguous())
        print(y.contiguous(memory_format=cl) is y)
        (y * y).sum().backward(); print(t.grad.stride(), torch.equal(t.grad, 2 * t))
        for f in (lambda: t.clone(memory_format=cl), lambda: y.clone(memory_format=plain), lambda: y.clone(), lambda: y.double(),
                  lambda: t.double(memory_format=cl), lambda: y.double(memory_format=plain), lambda: t.to(memory_format=cl),
                  lambda: y.to(memory_format=plain), lambda: torch.zeros_like(t, memory_format=cl), lambda: torch.ones_like(y),
                  lambda: torch.empty(2, 2, 3, 4, 1, memory_format=c3), lambda: torch.ones(1, 1, 2, 3).to(memory_format=cl),
                  lambda: torch.ones(1, 1, 2, 3).contiguous(memory_format=cl),
                  lambda: torch.ones(1, 2, 3, 4, 5).contiguous(memory_format=c3),
                  lambda: torch.arange(8.).resize_(1, 2, 2, 2, memory_format=cl),
                  lambda: torch.arange(8.).resize_as_(y[:1, :, :2, :2], memory_format=keep),
                  lambda: torch.zeros(24).resize_as_(torch.ones(1, 2, 2, 3, 2).contiguous(memory_format=c3), memory_format=keep)):
            r = f(); print(r.stride(), r.is_contiguous(memory_format=c3))
        for f in (lambda: g.contiguous(memory_format=cl), lambda: g.clone(memory_format=c3), lambda: torch.empty(2, memory_format=cl),
                  lambda: torch.empty(2, memory_format=keep), lambda: g.resize_(1, memory_format=keep), lambda: g.resize_()):
            tried(f)
    """,
    "a tensor on a read-only array": """
        a = np.arange(6.); r = a.view(); r.flags.writeable = False
        t = torch.from_numpy(r); t[0] = 9; u = torch.from_numpy(r[::2]); u.add_(1)
        print(a, t, torch.from_numpy(np.broadcast_to(np.arange(3.), (2, 3))).stride())
        del r; t.mul_(2); print(a)
    """,
    "types of tensor that `out=` takes": """
        o, l = torch.ones, torch.tensor([0])
        for f in (lambda: torch.mm(o(2, 2), o(2, 2), out=o(2, 2).double()), lambda: torch.mv(o(2, 2), o(2), out=o(2).double()),
                  lambda: torch.dot(o(2), o(2), out=o(()).double()), lambda: torch.sort(o(2), out=(o(2).double(), o(2))),
                  lambda: torch.gather(o(2), 0, l, out=o(1).double()), lambda: torch.softmax(o(2), 0, out=o(2).double()),
                  lambda: torch.index_select(o(2), 0, l, out=o(1).double()), lambda: torch.cat([o(2)], out=o(2).int()),
                  lambda: torch.max(o(2, 2), 1, out=(o(2).double(), o(2).long())),
                  lambda: torch.where(o(2) > 0, o(2), o(2), out=o(2).double()),
                  lambda: torch.clamp(o(2), 0, out=o(2).double()), lambda: torch.clamp(o(2), o(2), out=o(2).double()),
                  lambda: torch.take(o(2), l, out=o(1).double()), lambda: torch.complex(o(2), o(2), out=o(2)),
                  lambda: torch.masked_select(o(2), o(2) > 0, out=o(2).double()), lambda: torch.amax(o(2, 2), 0, out=o(2).double()),
                  lambda: torch.all(o(2), out=o(())), lambda: torch.all(o(2).byte(), out=o(()).byte()),
                  lambda: torch.median(o(2, 2), 0, out=(o(2).double(), o(2).long())), lambda: torch.nonzero(o(2), out=o(1, 1)),
                  lambda: torch.nan_to_num(o(2), out=o(2).double()), lambda: torch.cummax(o(2), 0, out=(o(2).double(), o(2).long())),
                  lambda: torch.sum(o(2, 2), 0, out=o(2).int()), lambda: torch.cumsum(o(2), 0, out=o(2).int()),
                  lambda: torch.mean(o(2, 2), 0, out=o(2).half()), lambda: torch.var(o(2, 2), 0, out=o(2).int()),
                  lambda: torch.exp(o(2), out=o(2).int()), lambda: torch.exp(o(2), out=o(2).double()),
                  lambda: torch.fft.fft(o(2), out=o(2)),
                  lambda: torch.searchsorted(o(2), o(2), out=o(2)), lambda: torch.zeros(2, out=o(2).int(), dtype=torch.float32),
                  lambda: torch.full((2,), 1.5, out=o(2).int()), lambda: torch.tensordot(o(2), o(2), 1, out=o(()).double())):
            tried(f)
    """,
    "numbers in tensors as weights, powers of booleans, sizes without strides": """
        b, o, h = torch.tensor([True, False]), torch.ones(2), torch.tensor(.5, dtype=torch.float64)
        for f in (lambda: torch.lerp(g, 2 * g, h).dtype, lambda: torch.lerp(g, g, torch.tensor([.5, .5], dtype=torch.float64)),
                  lambda: torch.lerp(g, g, torch.tensor(.5j)).dtype, lambda: torch.lerp(b, b, torch.tensor(2)),
                  lambda: b ** b, lambda: True ** b, lambda: b ** 2, lambda: 2 ** b, lambda: b ** o,
                  lambda: torch.empty_strided((2,), (1, 2))):
            tried(f)
    """,
    "an accelerator that is not there": """
        a = torch.accelerator
        for f in (a.is_available, a.device_count, a.current_accelerator, a.current_device_index, a.synchronize, a.empty_cache,
                  a.memory_allocated, lambda: a.set_device_index(0), g.pin_memory, lambda: torch.device(0), torch.cuda.memory_allocated,
                  torch.cuda.max_memory_reserved, torch.cuda.get_device_capability):
            tried(f)
        with a.device_index(None), torch.autograd.set_multithreading_enabled(False):
            (x * x).sum().backward()
        print(x.grad, torch.nn.UninitializedParameter())
    """,
    "meta tensors and others": """
        m = torch.ones(2, device="meta")
        for f in (lambda: m + g, lambda: g * m, lambda: torch.where(m > 0, m, g), lambda: torch.lerp(g, m, .5)):
            tried(f)
        for f in m.unique, m.nonzero, lambda: m[m > 0], lambda: torch.masked_select(m, m > 0):
            try:
                f()
            except NotImplementedError as e:
                print("not there")
        y = x * 2; y.register_hook(lambda g: g * 1j); tried(lambda: y.sum().backward())
        e = torch.ones(0, dtype=torch.float64, requires_grad=True); print(torch.autograd.gradcheck(torch.sin, (e,)))
    """,
    "shallow copies share memory, pickles keep strides": """
        import copy, pickle
        t = torch.arange(6.); v = t.view(2, 3)[1]; c = copy.copy(v); c[0] = 9; v.tag = "v"
        print(t, c.storage_offset(), c.stride(), c._version, v._version, c._is_view(), copy.copy(v).tag)
        y = copy.copy(x * 2); print(y.requires_grad, y.is_leaf, y.grad_fn)
        x.grad = torch.ones(2); y = copy.copy(x); print(y.data_ptr() == x.data_ptr(), y.grad, y.requires_grad)
        p = torch.nn.Parameter(x.detach()); print(type(copy.copy(p)).__name__, copy.copy(p).data_ptr() == p.data_ptr())
        for w in torch.ones(2, 3).t(), torch.ones(2, 3, device="meta").t(), torch.ones(2, 3, 4).permute(2, 0, 1), torch.ones(()):
            r = pickle.loads(pickle.dumps(w)); print(r, r.stride(), r.device)
        tried(lambda: bool(torch.ones(1, device="meta")))
    """,
    "a target that is resized lies as the result does": """
        for q in torch.ones(2, 3).t(), torch.ones(2, 3, 4).permute(2, 0, 1):
            for f in torch.add, torch.maximum, torch.eq:
                print(f(q, q, out=torch.empty(0)).stride(), f(q, q, out=torch.empty(q.shape)).stride())
            e = torch.empty
            print(torch.exp(q, out=e(0)).stride(), torch.cat([q, q], out=e(0)).stride(), torch.sum(q, 0, out=e(0)).stride(),
                  torch.softmax(q, 0, out=e(0)).stride(), torch.where(q > 0, q, q, out=e(0)).stride(), torch.tril(q, out=e(0)).stride())
    """,
    "sorted places among numbers of another type": """
        s, b, i = torch.searchsorted, torch.bucketize, torch.arange(3)
        for f in (lambda: s(i, 1.5), lambda: b(1.5, i), lambda: s(i, g.double() * 1.5), lambda: s(i.float(), i), lambda: s(g, g.double()),
                  lambda: s(i, 1), lambda: s(torch.tensor(1.), g), lambda: b(g, g.view(1, 2)), lambda: b(i, torch.tensor(1)),
                  lambda: torch.histc(g, 0)):
            tried(f)
    """,
    "batch_norm without statistics": """
        f, t = torch.nn.functional.batch_norm, torch.ones(2, 3)
        for args in (t, None, None), (t, torch.ones(3), None), (t, None, torch.ones(3)), (torch.ones(0, 3), None, None):
            tried(lambda: f(*args))
    """,
    "storages show themselves": """
        s, u = g.storage(), g.untyped_storage()
        print(s, u, u.is_cuda, u.element_size(), s.element_size(), len(u), len(s.untyped()))
    """,
    "warnings that name the function, and of masks that are bytes": """
        import warnings
        one, mask = torch.ones(1), torch.tensor([1, 0], dtype=torch.uint8)
        for f in (lambda: torch.std(one), lambda: one.var(), lambda: torch.var_mean(one), lambda: torch.std_mean(one, 0),
                  lambda: x.detach()[mask], lambda: x.detach()[mask], lambda: x.detach()[mask[0]]):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                print(f(), [str(w.message).split(" (Triggered")[0] for w in seen])
    """,
}


def printed(module, script):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        space = {"torch": module, "np": np, "tried": tried, "x": module.tensor([1., 2.], requires_grad=True), "g": module.ones(2)}
        exec(textwrap.dedent(script), space)
    return out.getvalue().replace("jtensor.", "torch.").splitlines()


@pytest.mark.parametrize("name", SCRIPTS)
def test_prints_what_pytorch_prints(name):
    expected = printed(torch, SCRIPTS[name])
    assert expected
    assert printed(jtensor, SCRIPTS[name]) == expected
