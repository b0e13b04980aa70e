"""Scripts of values, memory, views and arguments that `test_regressions` runs under both libraries."""

SCRIPTS = {
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
    "strides of pointwise results": """
        y, z = torch.ones(1, 3).permute(1, 0), torch.ones(4)[::2][:1]
        for t in (y, z, torch.ones(3).expand(2, 3)[2:], torch.ones(2, 1, 4).permute(2, 0, 1)):
            print((t * 2).stride(), (t + t).stride(), t.exp().stride(), t.clone().stride(), (t > 0).stride(), t.clamp(min=0.1).stride())
        print(torch.tensor(np.ones((2, 3)).T).stride(), torch.ones(2, 3).nonzero().stride())
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
    "small conversions": """
        for f in (lambda: int(torch.ones(2)), lambda: float(torch.tensor(1j)), lambda: torch.tensor(300, dtype=torch.int8),
                  lambda: torch.tensor([-1], dtype=torch.uint8), lambda: torch.tensor([1j], dtype=torch.float32), lambda: torch.zeros(-1),
                  lambda: torch.tensor(2 ** 63), lambda: torch.ones(3).view(torch.float64), lambda: torch.asarray(v) is v,
                  lambda: torch.ones(2).resize_(3)._version, lambda: torch.broadcast_tensors(v, v)[0] is v):
            tried(f)
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
    # what a sum of zeros would make of a zero's sign
    "gradients of pieces are put together": """
        for cut in (lambda x: x.split(2, 1), lambda x: x.split([1, 0, 3, 2], -1), lambda x: x.unbind(0), lambda x: x.unbind(-1),
                    lambda x: x.chunk(2, 1), lambda x: x.tensor_split(3, 1), lambda x: x.t().split(2), lambda x: x[1:].unbind(1)):
            for dtype in (torch.float32, torch.complex64):
                for those in (slice(None), slice(1), slice(1, 3)):
                    x = torch.arange(24.).view(4, 6).to(dtype).requires_grad_()
                    pieces = cut(x)[those]
                    torch.autograd.backward(pieces, [torch.full_like(p, -0.0) if k % 2 else p.detach() * 2 for k, p in enumerate(pieces)])
                    print(torch.view_as_real(x.grad).tolist() if dtype.is_complex else x.grad.tolist(), x.grad.stride())
    """,
    # numbers of another type are cast, what grows is row-major; ihfftn of one dimension writes nothing in PyTorch, and is not here
    "out= of transforms": """
        kinds = {"ihfft2": (torch.complex64, torch.complex128), "ihfftn": (torch.complex64, torch.complex128),
                 "ifft": (torch.complex64,), "ihfft": (torch.complex64,), "fft": (torch.complex64, torch.complex128),
                 "rfftn": (torch.complex64, torch.complex128), "fft2": (torch.complex128,), "irfft": (torch.float32, torch.float64),
                 "hfft2": (torch.float32, torch.float64), "irfftn": (torch.float64,)}
        for name, types in kinds.items():
            f = getattr(torch.fft, name)
            for options in ({}, {"dim": 0, "norm": "ortho"} if name[-1] == "t" else {"dim": (-1, 0), "norm": "forward"}):
                size = f(m, **options).shape
                for dtype in types:
                    for out in (torch.zeros(size, dtype=dtype), torch.zeros(0, dtype=dtype), torch.zeros(size[::-1], dtype=dtype).t()):
                        found = f(m, **options, out=out)
                        print(name, options, found is out, out.dtype, out.stride(), out._version, size == out.shape,
                              (torch.view_as_real(out) if out.is_complex() else out).mul(1e3).round().int().tolist())
    """,
    # PyTorch halves whatever order the edges have
    "histograms of edges that do not ascend": """
        p = torch.tensor([[0., 1.], [2., 3.], [1.5, .5], [1., 2.], [3., 3.], [2.5, 0.]])
        edges = [torch.tensor(e) for e in ([3., 1., 2.], [0., 3., 1., 2.], [1., 1., 1.], [0., 2., 1., 3.], [2., 0.],
                                         [0., float("nan"), 3.])]
        for a in edges:
            print(torch.histogram(p[:, 0], a).hist.tolist(), torch.histogram(p[:, 0], a, density=True).hist.tolist())
            for b in edges:
                print(torch.histogramdd(p, [a, b]).hist.tolist(), torch.histogramdd(p, [a, b], weight=p[:, 1]).hist.tolist())
    """,
    # PyTorch's formulas compute with what is there, of whatever type
    "a saved tensor of another type": """
        types = {"float32": (lambda t: t.double(), lambda t: t.half()),
                 "complex64": (lambda t: t.imag, lambda t: t.real.double(), lambda t: t.conj().imag.t())}
        for dtype, others in types.items():
            for other in others:
                for f, times in ((lambda x: x ** 3, 1), (lambda x: x * x, 3), (lambda x: x.prod(), 1), (lambda x: x @ x, 1)):
                    for _ in range(times):
                        x = (torch.tensor([[1., 2.], [3., 4.]]) * (1 + 2j if dtype == "complex64" else 1)).requires_grad_()
                        y = f(x)
                        x.data = other(x.data)
                        tried(lambda: y.backward(torch.full_like(y, 2 + 1j if y.is_complex() else 2)))
                        print(x.dtype, x.tolist(), None if x.grad is None else (x.grad.dtype, [
                            round(n.real) + 1j * round(n.imag) for n in x.grad.flatten().tolist()]))
        x = torch.tensor([1 + 2j, 3j])
        x.data = x.data.imag
        print(x.add_(1).tolist(), x.sum().item(), x[1:].mul_(2).tolist(), x.tolist(), x._version)
    """,
    "types of losses and of a batch's statistics": """
        for loss in (torch.nn.functional.huber_loss, torch.nn.functional.soft_margin_loss):
            for a, b in ((torch.float16, torch.float32), (torch.float32, torch.float64), (torch.float64, torch.float32),
                         (torch.int64, torch.float32), (torch.int64, torch.int64), (torch.float32, torch.int64)):
                x, y = torch.tensor([1, 0, 2], dtype=a), torch.tensor([1, -1, 1], dtype=b)
                for reduction in ("mean", "none"):
                    tried(lambda: (lambda r: (r.dtype, r.mul(100).round().tolist()))(loss(x, y, reduction=reduction)))
        for kind, own in ((torch.float16, torch.float16), (torch.float16, torch.float32), (torch.bfloat16, None)):
            w = None if own is None else torch.ones(3, dtype=own)
            found = torch.native_batch_norm((torch.arange(24.).view(2, 3, 4) % 11).to(kind), w, w, None, None, True, 0.1, 1e-5)
            print([t.dtype for t in found], [round(n, 5) for t in found[1:] for n in t.tolist()])
    """,
    "writes by index to an expanded tensor": """
        i, b = torch.tensor([1]), torch.tensor([True, False, False])
        for write in (lambda e: e.index_fill_(0, i, 7.), lambda e: e.index_put_((i,), e.new_tensor(7)), lambda e: e.masked_fill_(b, 7.),
                      lambda e: e.__setitem__(i, 7.), lambda e: e.__setitem__(b, 7.), lambda e: e.__setitem__(0, 7.)):
            for dtype in (torch.float32, torch.bfloat16, torch.complex64, torch.int64):
                e = torch.tensor(5, dtype=dtype).expand(3)
                write(e)
                print(e.tolist(), e._base.tolist(), e._version)
        e = m[:, None].expand(2, 4, 3)
        e[torch.tensor([1]), torch.tensor([2])] = 9.
        print(m.tolist())
        w = m.view(6).unfold(0, 3, 1)
        w[torch.tensor([1]), torch.tensor([2])] = -1.
        w.masked_fill_(w == 2, -2.)
        print(m.tolist())
    """,
    "Python's types and NumPy's arrays as arguments": """
        one = np.array(1)
        for dtype in (float, int, bool, complex):
            for f in (lambda: torch.zeros(2, dtype=dtype).dtype, lambda: m.to(dtype).dtype, lambda: m.sum(dtype=dtype).dtype,
                      lambda: m.cumsum(0, dtype=dtype).dtype, lambda: m.mean(dtype=dtype).dtype, lambda: m.type(dtype).dtype,
                      lambda: m.softmax(0, dtype=dtype).dtype, lambda: torch.hann_window(2, dtype=dtype).dtype):
                tried(f)
        for f in (lambda: m.narrow(1, one, 1), lambda: m.select(0, one), lambda: m.view(np.array(3), -1), lambda: m.repeat(one, 1),
                  lambda: m.clamp_min(np.float32(2)), lambda: m.clone().clamp_max_(np.float64(2)), lambda: m.argmax(one),
                  lambda: torch.eye(one), lambda: torch.eye(2.5), lambda: m.sum(0, keepdim=np.bool_(True)),
                  lambda: torch.ones(2, requires_grad=np.bool_(True)), lambda: m.sum(dtype=str), lambda: m.sum(5, dtype=float)):
            tried(f)
    """,
    "half precision, rounded at each step": """
        F, a = torch.nn.functional, torch.from_numpy(np.linspace(.05, .95, 40, dtype=np.float32) ** np.float32(1.3))
        for dtype in (torch.bfloat16, torch.float16):
            x, y = a.to(dtype), a.flip(0).to(dtype)
            for r in (torch.xlogy(x, y), torch.special.xlog1py(x, y), torch.special.entr(x), torch.logit(x), torch.logit(x, .1),
                      torch.ldexp(x, y), torch.special.ndtr(x - 1), F.binary_cross_entropy(x, y, reduction="none"),
                      F.binary_cross_entropy_with_logits(x, y, x, reduction="none", pos_weight=y), F.log_softmax(x.view(4, 10), 1),
                      F.log_softmax(x.view(4, 10), 0), F.cross_entropy(x.view(4, 10), torch.tensor([1, 2, 3, 4]), reduction="none")):
                print(r.tolist())
        print(torch.special.ndtr(torch.tensor([-8.])), F.hardshrink(m, float("nan")))
        print([F.nll_loss(torch.ones(3), torch.tensor([1]), reduction=how).shape for how in ("none", "mean")])
    """,
    "numbers as a quantised tensor could hold them": """
        a = torch.tensor([-1., .05, .15, .25, 1.26, 30., float("nan"), float("inf")], requires_grad=True)
        k = torch.tensor([[.1, .2, 30.], [-.3, .4, .5]], requires_grad=True)
        Q, C, i = torch.fake_quantize_per_tensor_affine, torch.fake_quantize_per_channel_affine, lambda *n: torch.tensor(n).int()
        for f in (lambda: Q(a, .1, 0, 0, 255), lambda: Q(a, torch.tensor(.1), torch.tensor(3.6), -128, 127), lambda: Q(a, .1, 300, 0, 255),
                  lambda: Q(a, .1, 0, 5, 2), lambda: Q(a.long(), .1, 0, 0, 255), lambda: Q(a.double(), .1, 0, 0, 255),
                  lambda: Q(a.half(), .1, 0, 0, 255), lambda: Q(a, torch.tensor([.1, .2]), torch.tensor([3]), 0, 9),
                  lambda: Q(a, torch.tensor(.1, requires_grad=True), torch.tensor(3), 0, 9), lambda: Q(a, .1, 1.5, 0, 255),
                  lambda: Q(k.t(), .1, 3, 0, 255), lambda: C(k, torch.tensor([.1, .2, .3]), i(0, 1, 2), 1, 0, 255),
                  lambda: C(k, torch.tensor([.1, .2]), torch.tensor([0., 1.5]), 0, 0, 255), lambda: C(k, v[:2], i(0, 1, 2), 0, 0, 255),
                  lambda: C(k, v.detach()[:2], i(0, 300), 0, 0, 255), lambda: C(k, v.detach()[:2], i(0, 3), 5, 0, 255),
                  lambda: C(k, v.detach()[:2].double(), i(0, 3), 0, 0, 255), lambda: C(k.long(), v.detach()[:2], i(0, 3), 0, 0, 255),
                  lambda: C(k.t(), v.detach()[:2], i(0, 3), 1, 0, 255), lambda: C(k, v.detach()[:2], i(0, 3), -1, 0, 255)):
            def shown():
                r = f()
                show(r)
                r.nansum().backward()
            tried(shown)
        print(a.grad, k.grad)
        y = a * 1
        z = Q(y, .1, 0, 0, 255)
        y.add_(1)
        z.nansum().backward()
        print(a.grad)
    """,
    "where results lie": """
        a = (torch.arange(24.) * 7 % 11 - 4).view(2, 3, 4) + torch.eye(3, 4) * 20
        square, tall, L = a[..., :3], a.mT, torch.linalg
        for name, f in (("householder", lambda: L.householder_product(tall, a[:, 0, :3])), ("rsub", lambda: torch.rsub(a.mT, tall)),
                        ("rsub", lambda: torch.rsub(tall, torch.ones(2, 4, 3))), ("cross", lambda: L.cross(square.mT, square)),
                        ("rms", lambda: torch.nn.functional.rms_norm(tall, (3,))),
                        ("det", lambda: L.det(square[0], out=v.detach().expand(2, 3))),
                        ("rms", lambda: torch.nn.functional.rms_norm(torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last), (5,))),
                        ("diagonal", lambda: torch.diagonal_scatter(tall, torch.ones(2, 3), 0, 1, 2)),
                        ("solve", lambda: torch.triangular_solve(square, square)[1]),
                        ("solve", lambda: torch.triangular_solve(square, square)[0]),
                        ("lstsq", lambda: L.lstsq(square, square).solution), ("lstsq", lambda: L.lstsq(a, square).solution),
                        ("lstsq", lambda: L.lstsq(square[:1], square[0]).solution), ("lstsq", lambda: L.lstsq(square, a[0, :, :2]))):
            tried(lambda: (name, f().shape, f().stride()))
        r = L.lstsq(square[:1], square, driver="gelsd")
        print(r.solution.shape, r.rank, r.singular_values.shape, (square[:1] @ r.solution - square).abs().max() < 1e-3)
    """,
    "nothing scattered, nothing pooled": """
        F, none, z = torch.nn.functional, torch.ones(0), torch.tensor(2.)
        for f in (lambda: m.scatter(0, none, m), lambda: m.scatter_add(0, none, m), lambda: m.clone().scatter_(0, none.long(), m),
                  lambda: z.scatter(0, none, z), lambda: m.scatter_reduce(0, none, m, "mean", include_self=False),
                  lambda: F.adaptive_max_pool1d(m[None], 0).shape,
                  lambda: F.adaptive_max_pool2d(torch.ones(2, 3, 4, 4), (0, 2), True)[1].shape,
                  lambda: F.adaptive_avg_pool2d(m, 1), lambda: F.adaptive_avg_pool2d(torch.ones(2, 1, 3, 4, 4), 1).shape):
            tried(f)
    """,
    "arguments that are left out or of one number": """
        F = torch.nn.functional
        for f in (lambda: torch.normal(torch.tensor(.5), .3, (2, 3)).shape, lambda: torch.normal(torch.tensor([.5]), .3, (2, 3)),
                  lambda: torch.histogram(m)[0].sum(), lambda: torch.broadcast_shapes((2,), range(1, 3)),
                  lambda: m.norm("nuc", dtype=torch.double).dtype,
                  lambda: torch.multinomial(torch.ones(3), torch.tensor([1])).shape, lambda: m.dim_order(ambiguity_check=True),
                  lambda: torch.empty(1, 2, 3, 4).dim_order(ambiguity_check=[torch.contiguous_format, torch.channels_last]),
                  lambda: F.instance_norm(m[None].double(), torch.zeros(2), torch.ones(2)),
                  lambda: F.instance_norm(m[None].double(), torch.zeros(2), torch.ones(2), torch.ones(2), torch.ones(2)),
                  lambda: type(torch.Generator().set_state(torch.Generator().get_state())).__name__):
            tried(f)
    """,
    "complex numbers on their cuts": """
        for kind in (torch.complex64, torch.complex128):
            z = torch.tensor([-1j, complex(-0., 2), complex(-1, -0.), complex(-4, 0.), 4j], dtype=kind)
            print([f"{a:.7f}" for a in z.angle().tolist()])
            print([f"{a:.4f}" for a in [*z.sqrt().tolist(), *(z ** .5).tolist()]])
        print(torch.tensor([-1j]).angle().tolist(), torch.tensor(-1 + 0j).conj().sqrt(), torch.tensor([-1j]).log().tolist())
    """,
    "what is refused by another name": """
        F = torch.nn.functional
        for f in (lambda: F.layer_norm(m, (3,), 3), lambda: F.layer_norm(m, 3), lambda: F.layer_norm(m, torch.tensor([3])),
                  lambda: F.layer_norm(m, (3,), eps="a"), lambda: torch.layer_norm(m, 3), lambda: F.layer_norm([1.], (3,)),
                  lambda: torch.histc(m > 1), lambda: torch.histc(m + 1j), lambda: torch.histc(m + 1j, min=0, max=1),
                  lambda: torch.histc(m.short(), bins=0), lambda: torch.ones(2).set_(1), lambda: torch.ones(2).set_(m, 1),
                  lambda: torch.ones(2).set_(m.untyped_storage(), 1)):
            tried(f)
    """,
    "scatter_reduce by older names": """
        at = torch.tensor([0, 1, 1])
        for how in ("max", "min", "most"):
            tried(lambda: torch.full((2,), 2.).scatter_reduce(0, at, v, how))
            tried(lambda: torch.zeros(2).scatter_reduce_(0, at, v.detach(), how, include_self=False))
    """,
    "parameters without a shape": """
        net = torch.nn.LazyLinear(3)
        w = net.weight
        for f in (lambda: sum(p.numel() for p in net.parameters()), lambda: w + 1, lambda: 2 * w, lambda: w == w, lambda: w.sum(),
                  lambda: w[0], lambda: w.fill_(1), lambda: w.detach(), lambda: torch.nn.init.ones_(w), lambda: w.size(),
                  lambda: w.half().dtype,
                  lambda: w.to(torch.double).dtype, lambda: w.is_floating_point(), lambda: w.requires_grad_(False)):
            tried(f)
        print(repr(w), w in [w], len({w}), net(torch.zeros(1, 2)).shape, type(w).__name__, net.weight.numel(), (w + 1).shape)
    """,
    "embeddings of bounded rows": """
        F, w = torch.nn.functional, torch.full((3, 2), 2.)
        for f in (lambda: F.embedding(torch.tensor([1], dtype=torch.int32), w, max_norm=1.), lambda: F.embedding(v > 1, w, max_norm=1.),
                  lambda: F.embedding(v, w, max_norm=1.), lambda: torch.embedding_renorm_(w, v, 1., 2.),
                  lambda: F.embedding_bag(torch.tensor([0], dtype=torch.int32), w, torch.tensor([0]), max_norm=1.)):
            tried(f)
        print(w)
    """,
    "numbers beyond eight bits": """
        big = torch.tensor([1e3, -1e9, float("inf"), float("nan"), 465., 1.5])
        for kind in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz):
            y = torch.zeros(6, dtype=kind)
            for f in (lambda: big.to(kind).float(), lambda: big.double().to(kind).float(), lambda: torch.tensor([1000, 3]).to(kind).float(),
                      lambda: torch.tensor([1., 500.], dtype=kind).float(), lambda: torch.tensor(1e9, dtype=kind).float(),
                      lambda: torch.full((2,), 500., dtype=kind).float(), lambda: torch.full((1,), 1e9, dtype=kind).float(),
                      lambda: torch.full((2,), float("inf"), dtype=kind).float(), lambda: y.fill_(6e4).float(),
                      lambda: y.copy_(big).float(), lambda: y.copy_(big.to(torch.float8_e5m2)).float(),
                      lambda: torch.tensor(np.array([1e3]), dtype=kind).float()):
                tried(f)
            y[0] = 1e5
            print(y.float().tolist())
    """,
    "integers that no 64 bits have": """
        x, big = torch.ones(1), 2**64
        for f in (lambda: x + big, lambda: x * -2**64, lambda: big - x, lambda: x.long() + big, lambda: x == big, lambda: x.fill_(big),
                  lambda: torch.full((1,), big), lambda: torch.full((1,), big, dtype=torch.float32), lambda: x.clamp(0, big),
                  lambda: x.masked_fill(x > 0, big), lambda: torch.where(x > 0, x, big), lambda: x.add(x, alpha=big),
                  lambda: torch.arange(big), lambda: torch.linspace(0, big, 3), lambda: torch.pow(big, x), lambda: x + 10**400,
                  lambda: torch.scalar_tensor(big), lambda: x + 2**63, lambda: x.long() + 2**63, lambda: x + (-2**63 - 1),
                  lambda: torch.full((1,), 2**63, dtype=torch.float32), lambda: torch.full(2, 1)):
            tried(f)
    """,
    "tensors that change places": """
        import weakref
        swap, future = torch.utils.swap_tensors, torch.__future__
        a, b = torch.ones(2, requires_grad=True), torch.zeros(3)
        a.grad, a.note = torch.full((2,), 5.), 3
        swap(a, b)
        print(a, b, a.grad, b.grad, hasattr(a, "note"), b.note)
        p = torch.nn.Parameter(torch.ones(1))
        swap(p, a)
        print(type(p).__name__, type(a).__name__, p, a, isinstance(p, torch.nn.Parameter))
        w = weakref.ref(a)
        tried(lambda: swap(a, p))
        tried(lambda: swap(p, a))
        y, z = (b * 2).sum(), torch.zeros(2)
        swap(b, z)
        tried(y.backward)
        future.set_swap_module_params_on_conversion(True)
        layer = torch.nn.Linear(2, 1)
        held = layer.weight
        layer(torch.ones(1, 2)).sum().backward()
        kept = held.grad
        layer.double()
        print(layer.weight is held, held.dtype, held.grad is kept, kept.dtype)
        layer.load_state_dict({"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, assign=True)
        print(layer.weight is held, held, layer.bias.dtype)
        w = weakref.ref(held)
        tried(layer.half)
        print(held.dtype, future.get_swap_module_params_on_conversion())
        future.set_swap_module_params_on_conversion(False)
        future.set_overwrite_module_params_on_conversion(True)
        layer.double()
        print(layer.weight is held, held.dtype, future.get_overwrite_module_params_on_conversion())
        future.set_overwrite_module_params_on_conversion(False)
    """,
}
