"""What the short ways write in place is what PyTorch writes, and what the long way records: the same nodes, history, versions."""
import contextlib
import warnings

import pytest

import jtensor
from jtensor.tensor import indexing
from jtensor.tensor.recording import overwriting
from jtensor.tensor.recording.inplace import call_inplace
from jtensor.trace import executor, tape

torch = pytest.importorskip("torch")

# On m and w (4, 3; w needs a gradient), z = w * 1, y (3), n (integers), mask, rows, c (complex) and u = m.t().
STATEMENTS = """\
m.add_(m)
m += y
m *= 2
m.clamp_(0.0, 3.0)
m.addcmul_(y, y, value=0.5)
m.masked_fill_(mask, 2.5)
m[1:, :] += m[:-1, :]
m[1] += m[2]
m[0] += m[0]
u += 1.0
u[1:] *= y[1:, None]
v = m[1]; v.add_(y); v.mul_(2.0); v += v
v = m[:, 1]; v += 1; m += 1; v += 1; m[0] = v[:3]
n[1:] -= n[:-1]
n += 1.5
n[2] //= 2
m.eq_(y)
m.add_(y, alpha=2)
m.add_(y, alpha=True)
m += True
m.lerp_(y, 0.25)
m[0] = 1.0; m[1, 2] = 3; m[:, -1] = 0.0; m[:] = 2; m[...] = 1.5; m[None, 1] = 4.0
m[1] = y; m[:, 0] = m[:, 2]; m[0] = m[0]; m[1:3] = m[2:]
m[0] = n[1]; n[0] = m[1] * 1.7
n[0] = 1 << 40; n[1] = 2.5
m[0] = float("inf")
m[2] = 3e39
m.fill_(2); m[1].fill_(0.5); m[:, 1].zero_(); m.copy_(n); m[0].copy_(y); u.copy_(n.t()); u.zero_()
m.expand(2, 4, 3).fill_(1.0)
y.expand(4, 3).add_(1.0)
y.expand(4, 3)[1] = 2.0
m[:2] += m[1:3]
m.view(-1)[1:].add_(m.view(-1)[:-1])
m[mask] = 1; n[mask] = 7; m[mask[:, 0]] = 0.5; m[n == 2] = 1.0
n[mask] = 1.5
m[mask[:2]] = 0
m[rows] = 0.5; n[rows] = 3; m[rows] = m[:3] * 2; m[rows] = y; y[rows - 4] = 1
m[rows] = m[1:]
m[rows + 2] = 0.0
m[rows[:0]] = 0.0
n[rows] = rows[:, None]
rows[rows] = 1
m[rows] += 1; y[rows - 3] *= 2
m[rows].sum().item(); m[rows - 9]
c[1:] *= 2; c.real[1] += 1; c.conj().add_(1j); c.imag[0] = 2.0
z += y; z *= 3.0; z.relu_(); z.sigmoid_()
z.mul_(z); z.add_(w)
m += w; m *= w
v = m[1]; v += w[1]; m[0] = w[2]
z[0] = 1.0; z[1] += y; z[:, 2] = w[:, 0]
v = z[1]; z += 1; v *= 2
z[mask] = 0.0; z[rows] = 0.5
z[1].sigmoid_(); z[1].mul_(z[2]); z[:, 0] *= z[:, 1]
v = z[1]; v.mul_(v); s = v * 2; v += v; z[0] = z[1]; z[1:].relu_()
z[0].zero_(); z[1].copy_(w[1]); z[2].fill_(w[0, 1].detach()); z[:] = 2.0; z[0][:] = w[3]; z[...] = w
m[0] = w[0]; m[0].mul_(w[0]); v = m[1]; v += w[1]; m *= 2; s = v * 1
v = z[1]; s = v * v; v += 1
v = z[1]; v += 1; s = v.square(); z[0] = y
v = z[0].retain_grad(); z.retain_grad(); z[0] += 1
torch.set_grad_enabled(False); v = z[1]; torch.set_grad_enabled(True); v += 1
v = w[1]; v += 1
v = w.detach()[1]; v += w[0]
z.diagonal().add_(1.0); z.t()[0] += y[0]; z.view(3, 4)[1] *= 2
z.expand(2, 4, 3)[0] += 1
z[1].lt_(y); n[0] += 1; n[1] *= w[0].detach().long()
z[0] += w[0].double()
z[0][None].add_(torch.ones(2, 3))
w += 1
w[0] = 1.0
w[0].mul_(2)
s = z.square(); s += 1
s = z * z; z += 1
torch.nn.functional.leaky_relu_(z, 0.5)
m.requires_grad_(); v = (m * 1).add_(1)
s = [v for v in z[:0]]; v = z[:0].split(1)
s = z[1:, None, ::2][0] * 2; v = z[1]
s = z.t()[1:]; v = s[0]; z += 1
v = w[0]; s = w[:, 1:] * z[..., :2]; s += s[None][0]
v = z.chunk(2)[1]; s = v[0] * z.split((1, 2), 1)[1][2:]
v = z.unbind(1)[0]; v += 1
v = z.chunk(2)[0]; z += 1; s = v * 2
z.unbind(0.0)
z.unbind(0); z.unbind(0.0)
z.split(2); z.split(2.0)
z.split((1, 3)); z.split((1.0, 3))
z.chunk(2.0)
s = z.split([torch.tensor(1), 3])[1] * 2; v = z.unbind(torch.tensor(1))[0]
with torch.no_grad(): v = z.unbind(0)[1][1:]; v += 1
d = z.detach(); d += 1
with torch.no_grad(): w += 1; w[0] = 2.0; w[1:] *= 3; w.fill_(1.0); z += w; v = z[1]
with torch.no_grad(): v = z[1]; v += 1
with torch.inference_mode(): m += 1; m[0] = 2; i = m * 2; i += 1
""".splitlines()


def names(T):
    m = T.arange(12.0).reshape(4, 3)
    w = (T.arange(12.0).reshape(4, 3) / 4 - 1).requires_grad_()
    return {"torch": T, "m": m, "w": w, "z": w * 1, "y": T.tensor([1.0, 2.0, 3.0]), "n": T.arange(12).reshape(4, 3), "u": m.t(),
            "mask": T.tensor([[True, False, True]] * 4), "rows": T.tensor([3, 1, 2]), "c": T.tensor([1 + 2j, 3 - 1j]),
            "flags": T.tensor([True, False, True])}


def outcome(T, statement, given):
    """What a statement leaves behind: an error, values and versions, histories and gradients."""
    try:
        exec(statement, given)
        error = None
    except Exception as raised:                                       # any kind: it is compared
        T.set_grad_enabled(True)
        error = type(raised).__name__, str(raised).split("\n")[0]
    said = []
    for name, t in given.items():
        if isinstance(t, T.Tensor):
            shown = t.detach()
            said.append((name, shown.resolve_conj().tolist(), None if t.is_inference() else t._version, t.requires_grad, t._is_view()))
    for name in "mzvs":
        t = given.get(name)
        if isinstance(t, T.Tensor) and t.requires_grad:
            try:
                if t.is_leaf:
                    continue
                said.append((t.grad_fn.name(), [e[0] and e[0].name() for e in t.grad_fn.next_functions]))
                t.sum().backward(retain_graph=True)
                said.append(given["w"].grad if given["w"].grad is None else given["w"].grad.tolist())
            except RuntimeError as raised:
                said.append(str(raised).split("\n")[0])
    return error, said


@pytest.mark.parametrize("statement", STATEMENTS)
def test_as_pytorch(statement):
    expected = outcome(torch, statement, names(torch))
    for _ in range(3):                                                # the first time it is learnt, then it comes again
        executor.flush("a new start")
        assert outcome(jtensor, statement, names(jtensor)) == expected


def recorded(statement, given):
    """The nodes that a statement puts on the tape, and the state of the trie that they lead to."""
    executor.flush("a new start")
    with contextlib.suppress(RuntimeError):
        exec(statement, given)
    segment = tape.LOCAL.segment
    nodes = [(plan.key, plan.inputs, positions, [*scalars]) for plan, positions, scalars, _ in segment.nodes]
    return nodes, [*segment.floats], [*segment.integers], segment.state


@pytest.mark.parametrize("statement", """\
m += y; m *= 2; m.add_(m); m.add_(y, alpha=2)
m.clamp_(0.0, 3.0); m.addcmul_(y, y, value=0.5); m.masked_fill_(mask, 2.5); m.lerp_(y, 0.25)
n += 1; n //= 2; m.eq_(y)
u += 1.0; v = u[1:]; v *= 2.0; v.sub_(v)
v = m[1]; v.add_(y); v.mul_(2.0); v += v
v = m[:, 1]; v += 1; m += 1; v += 1
v = m[::2]; v.masked_fill_(flags, 1.0); v.clamp_(0.0, 1.0)
m[0] = 1.0; m[1, 2] = 3; m[:, -1] = 0.0; m[:] = 2; m[None, 1] = 4.0; n[1] = 2
m.fill_(2); m[1].fill_(0.5); m[:, 1].zero_(); m.copy_(n); m[0].copy_(y); u.copy_(n.t()); u.zero_()
m[1] = y; n[0] = y
m[mask] = 1; n[mask] = 7; m[mask[:, 0]] = 0.5
m[rows] = 0.5; n[rows] = 3; m[rows] = m[:3] * 2
z += y; z *= 3.0; z.relu_(); z.mul_(z); z.add_(w)
m += w; m *= w
""".splitlines())
def test_the_long_way_records_the_same(monkeypatch, statement):
    def both():
        given = names(jtensor)
        for t in given.values():
            if isinstance(t, jtensor.Tensor):
                executor.value_of(t._storage.value)                 # all on the device, so that all is read there
                t.tolist()
        return recorded(statement, given)
    short = [both() for _ in range(3)]
    for operator in jtensor.ops.registry.REGISTRY.operators.values():
        monkeypatch.setitem(vars(operator), "write", lambda *args, o=operator: call_inplace(
            o, (*args, *[p.default for p in o.parameters[len(args):]])))
    for name in ("fill", "copy"):
        monkeypatch.setattr(overwriting, name, lambda *args: False)
    monkeypatch.setattr(jtensor.Tensor, "__setitem__", indexing.setitem)
    long = both()
    assert [s[:3] for s in short] == [long[:3]] * 3
    assert short[1][3] is short[2][3]


def test_a_node_lives_as_long_as_what_holds_it():
    """What a write through a view computes is given up with the view; the base holds its own value."""
    base = jtensor.zeros(3, 4)
    base.tolist()
    for held in (True, False):
        for _ in range(3):
            executor.flush("a new start")
            view = base[1]
            view += 1.0
            if not held:
                del view
            assert [ref() is not None for *_, ref in tape.LOCAL.segment.nodes] == [False, held, True]


def test_a_part_that_was_never_written_to_is_written_as_its_like_was():
    """The short way is learnt of one row and taken by another; what it puts on the tape can be run op by op, too."""
    for row in range(3):
        base, other = jtensor.ones(5, 3), jtensor.zeros(1)
        base.tolist()
        executor.flush("a new start")
        view = base[row]
        view.exp_()
        assert all(plan is not None for plan, *_ in tape.LOCAL.segment.nodes)
        if row == 2:
            other = other + base.sum()                              # another tape than before
        assert base[row].tolist() == jtensor.ones(3).exp().tolist()


OVERLAPPING = """\
x.index_fill_(0, rows, 1.0)
x.index_fill_(0, rows, one[0])
x.index_put_((rows,), one)
x[rows] = 2.0
x.masked_fill_(mask, 2.0)
x[mask] = one.expand(11)
x.fill_(2.0); x.zero_(); x[1:3] = 2.0
x[:1].index_fill_(0, rows[:1] * 0, 3.0)
x.add_(1.0)
""".splitlines()


@pytest.mark.parametrize("line", OVERLAPPING)
def test_deprecated_writes_to_expanded_tensors_are_warned_of(line):
    def said(library):
        names = {"x": library.ones(1).expand(11), "one": library.ones(1), "rows": library.tensor([2, 1, 10]),
                 "mask": library.ones(11, dtype=library.bool)}
        with warnings.catch_warnings(record=True) as caught, contextlib.suppress(RuntimeError):
            warnings.simplefilter("always")
            exec(line, names)
        return [str(one.message).partition(" (Triggered")[0] for one in caught]
    assert said(jtensor) == said(torch)


def test_views_of_what_waits_on_the_host(afresh):
    """A view that is the base in another shape is read there without a node, and a way that was learnt with one is not taken for it."""
    def unbound(x):
        for v in x.unbind(0):
            v.add_(1.0)

    def negated(x):
        x[:1].neg_()

    def indexed(x):
        x[..., -1] += 1.5
    for write, wanted in ((unbound, -1.0), (negated, 2.0), (indexed, -0.5), (lambda x: x.view(1, -1).mul_(3.0), -6.0)):
        for make in (lambda: jtensor.tensor([-2.0]), lambda: jtensor.zeros(1) - 2, lambda: jtensor.tensor([-2.0])):
            for _ in range(3):
                x = make()
                write(x)
                assert x.tolist() == [wanted]
