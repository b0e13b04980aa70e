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
}
