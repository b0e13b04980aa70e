"""Scripts of memory, views and writes by index that `test_regressions` runs under both libraries."""

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
    "strides of pointwise results": """
        y, z = torch.ones(1, 3).permute(1, 0), torch.ones(4)[::2][:1]
        for t in (y, z, torch.ones(3).expand(2, 3)[2:], torch.ones(2, 1, 4).permute(2, 0, 1)):
            print((t * 2).stride(), (t + t).stride(), t.exp().stride(), t.clone().stride(), (t > 0).stride(), t.clamp(min=0.1).stride())
        print(torch.tensor(np.ones((2, 3)).T).stride(), torch.ones(2, 3).nonzero().stride())
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
