"""Scripts of histories, gradients, saved tensors and grad modes that `test_regressions` runs under both libraries."""

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
    "of two of different types the choice has no history either": """
        for name in ("maximum", "fmin"):
            for kinds in ((torch.float32, torch.float64), (torch.float64, torch.float32)):
                a, b = [torch.tensor([1., k, 3.], dtype=kind, requires_grad=True) for k, kind in zip((2., 5.), kinds)]
                for lead in (1., a):
                    grads = torch.autograd.grad((getattr(torch, name)(a, b) * lead).sum(), [a, b], create_graph=True)
                    print(name, [(g.requires_grad, g.grad_fn and g.grad_fn.name(), g.dtype, g.tolist()) for g in grads])
    """,
    "an index of one truth value is looked at when it is used": """
        t, flag = torch.tensor(3., requires_grad=True), torch.tensor(True)
        y = t[flag]
        flag.fill_(False)
        y.sum().backward()
        print(t.grad, y)
        m[torch.tensor(True)] = 5
        print(m, m[:, torch.tensor(False)].shape)
    """,
}
