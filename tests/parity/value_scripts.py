"""Scripts of values and arguments that `test_regressions` runs under both libraries."""

SCRIPTS = {
    "numbers that do not fit": """
        for kind in (torch.float32, torch.int32, torch.int8, torch.uint8, torch.bool):
            for number in (1e40, 300, -1, 1j, float("inf"), 2.7):
                tried(lambda: torch.ones(1, dtype=kind).fill_(number))
                tried(lambda: torch.full((1,), number, dtype=kind))
                tried(lambda: torch.ones(1, dtype=kind).masked_fill_(torch.tensor([True]), number))
    """,
    "topk of booleans": """
        for t in (torch.tensor([True, False]), torch.zeros(0, 2, dtype=torch.bool), torch.tensor(True)):
            for k in (0, 1, 5):
                tried(lambda: t.topk(k))
    """,
    "small conversions": """
        for f in (lambda: int(torch.ones(2)), lambda: float(torch.tensor(1j)), lambda: torch.tensor(300, dtype=torch.int8),
                  lambda: torch.tensor([-1], dtype=torch.uint8), lambda: torch.tensor([1j], dtype=torch.float32), lambda: torch.zeros(-1),
                  lambda: torch.tensor(2 ** 63), lambda: torch.ones(3).view(torch.float64), lambda: torch.asarray(v) is v,
                  lambda: torch.ones(2).resize_(3)._version, lambda: torch.broadcast_tensors(v, v)[0] is v):
            tried(f)
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
    "gradients of means of narrow numbers": """
        for kind in (torch.bfloat16, torch.float16):
            x = torch.randn(17, 31, generator=torch.Generator().manual_seed(0)).to(kind).requires_grad_()
            for f in (lambda: x.mean(), lambda: x.mean(0), lambda: x.nanmean(1), lambda: x.var(), lambda: x.var(0), lambda: x.std(1),
                      lambda: x.std(0, correction=0), lambda: torch.var_mean(x, 1)[0]):
                print(torch.autograd.grad(f().sum(), x)[0].flatten()[:40].tolist())
    """,
    "rolls of nothing": """
        for x in (torch.ones(0), torch.ones(0, 3), torch.ones(3)):
            for f in (lambda: x.roll(5, 2), lambda: x.roll(-7), lambda: x.roll((4, 5), (0, 0)), lambda: x.roll(100, 0)):
                tried(f)
    """,
    "running statistics that move between forward and backward": """
        batch_norm = torch.nn.functional.batch_norm
        norm, x = torch.nn.BatchNorm1d(3), torch.arange(12.).view(4, 3).sin().requires_grad_()
        y, kept = norm.eval()(x), (norm.running_mean * norm.weight).sum()
        norm.train()(torch.arange(12.).view(4, 3))
        ((y ** 3).sum() + kept).backward()
        for t in (x.grad, norm.weight.grad, norm.running_mean):
            print([round(v, 4) for v in t.flatten().tolist()])
        print(norm.running_mean._version, norm.running_var._version, norm.num_batches_tracked._version)
        y = norm.eval()(x)
        norm.running_var.mul_(2)
        tried(lambda: y.sum().backward())
        needs = torch.zeros(3, requires_grad=True)
        tried(lambda: batch_norm(x, needs, torch.ones(3), training=True))
        mean, var = torch.zeros(2, 3), torch.ones(2, 3)
        torch.func.vmap(lambda x, m, v: batch_norm(x, m, v, training=True))(torch.ones(2, 4, 3) * torch.arange(4.)[:, None], mean, var)
        print([round(v, 4) for v in (*mean.flatten().tolist(), *var.flatten().tolist())])
        tried(lambda: torch.polygamma(1, torch.tensor([float("inf"), 2.])))
        print(len(torch.TypedStorage(wrap_storage=torch.ones(3).untyped_storage(), dtype=torch.float32, _internal=True)))
    """,
    "the inputs of checkpoints": """
        checkpoint = torch.utils.checkpoint.checkpoint
        log, x = [], torch.arange(4.).requires_grad_()

        class Context:
            def __enter__(self):
                print("enter")

            def __exit__(self, kind, *_):
                print("exit", kind)

        def hooks():
            log.clear()
            return torch.autograd.graph.saved_tensors_hooks(lambda t: log.append(("packed", tuple(t.shape), t.requires_grad)) or t.clone(),
                                                            lambda t: log.append(("unpacked", tuple(t.shape))) or t)

        def seen(a, b=None):
            print(a.requires_grad, a.grad_fn is None)
            return a.sin() * a + (0 if b is None else b)
        with hooks():
            y = checkpoint(seen, x, x * 2, use_reentrant=False)
        y.sum().backward()
        print(log)
        for change in (lambda t: t.mul_(2), lambda t: t.detach_()):
            for around in (hooks, torch.enable_grad):
                t = x * 2
                with around():
                    y = checkpoint(seen, t, use_reentrant=False)
                change(t)
                tried(lambda: y.sum().backward())
        k = torch.ones(4)
        y = checkpoint(lambda a, b: a.exp() * b, x, b=k, use_reentrant=False)
        k.mul_(2)
        tried(lambda: y.sum().backward())
        with torch.no_grad():
            checkpoint(seen, x, use_reentrant=False, context_fn=lambda: (Context(), Context()))
        checkpoint(seen, x, use_reentrant=False, context_fn=lambda: (Context(), Context())).sum().backward()
    """,
    "what is said of projections and products": """
        import warnings
        torch.set_warn_always(True)
        for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            layer, steps = torch.nn.LSTM(2, 3, proj_size=1, dtype=kind), torch.ones(2, 2, dtype=kind)
            for x in (steps, torch.nn.utils.rnn.pack_sequence([steps])):
                for enabled in (True, False):
                    with torch.set_grad_enabled(enabled), warnings.catch_warnings(record=True) as said:
                        warnings.simplefilter("always")
                        layer(x)
                    print([str(w.message).split(" (Trig")[0].strip() for w in said if "oneDNN" in str(w.message)])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            tried(lambda: torch.cross(torch.ones(2), torch.ones(2)))
        print([str(w.message).split(" (Trig")[0].strip() for w in said])
        torch.set_warn_always(False)
    """,
    "lists of what requires a gradient": """
        import warnings
        torch.set_warn_always(True)
        w = v.sum()
        for f in (lambda: torch.tensor([w, 1]), lambda: torch.tensor([v[0], v[1]]), lambda: torch.tensor([w], dtype=torch.float64),
                  lambda: torch.tensor([[w], [1]], dtype=torch.complex64), lambda: torch.tensor([w], dtype=torch.int32),
                  lambda: torch.as_tensor([w]), lambda: torch.Tensor([w]), lambda: torch.no_grad()(lambda: torch.tensor([w, 1]))(),
                  lambda: torch.tensor([w.detach(), w.item()]), lambda: torch.tensor([w > 0])):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                tried(f)
            print([str(w.message).split(" (Trig")[0] for w in said])
        torch.set_warn_always(False)
    """,
}
