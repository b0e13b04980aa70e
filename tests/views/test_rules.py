"""The rules against live PyTorch: random chains of view operators, and the same call on the wrong arguments, word for word."""

import random
import warnings

import pytest

from jtensor.base import sites
from jtensor.views import rules

torch = pytest.importorskip("torch")

NAMES = {torch.float32: "Float", torch.float64: "Double", torch.int16: "Short", torch.uint8: "Byte", torch.bool: "Bool",
         torch.complex64: "ComplexFloat", torch.int32: "Int", torch.int64: "Long", torch.float16: "Half", torch.bfloat16: "BFloat16",
         torch.complex128: "ComplexDouble", torch.float8_e5m2: "Float8_e5m2"}
STORAGE = 24


class Shape:
    """A tensor that is nothing but its geometry; its methods are the rules.  ``copied`` where PyTorch must copy."""

    def __init__(self, size, stride, offset=0, dtype=torch.float32, nbytes=4 * STORAGE):
        self.size, self.stride, self.offset, self.dtype, self.nbytes = tuple(size), stride, offset, dtype, nbytes

    def _new(self, geometry, dtype=None):
        if isinstance(geometry, list):
            return [self._new(one) for one in geometry]
        return Shape(*geometry, dtype or self.dtype, self.nbytes)

    def __getattr__(self, name):
        rule = getattr(rules, {"swapaxes": "transpose", "swapdims": "transpose", "moveaxis": "movedim"}.get(name, name))

        def call(*args, **kwargs):
            return self._new(rule(self.size, self.stride, self.offset, *args, **kwargs))

        return call() if name in ("T", "H", "mT", "mH") else call

    def view(self, *shape):
        if isinstance(shape[0], torch.dtype):
            other = shape[0]
            sizes = (self.dtype.itemsize, other.itemsize, NAMES[self.dtype], NAMES[other])
            return self._new(rules.view_dtype(self.size, self.stride, self.offset, *sizes), other)
        return self._new(rules.view(self.size, self.stride, self.offset, flat(shape)))

    def reshape(self, *shape):
        return self._new(rules.reshape(self.size, self.stride, self.offset, flat(shape)))

    def permute(self, *dims):
        return self._new(rules.permute(self.size, self.stride, self.offset, flat(dims)))

    def expand(self, *size):
        return self._new(rules.expand(self.size, self.stride, self.offset, flat(size), NAMES[self.dtype]))

    def as_strided(self, size, stride, offset=None):
        return self._new(rules.as_strided(self.offset, size, stride, offset, self.nbytes, self.dtype.itemsize))

    def slice(self, dim, start, end, step):
        return self._new(rules.slice_(self.size, self.stride, self.offset, dim, start, end, step))

    def part(self, name):
        return self._new(getattr(rules, name)(self.size, self.stride, self.offset, self.dtype.is_complex))

    real, imag = (property(lambda self, name=name: self.part(name)) for name in ("real", "imag"))

    def view_as_real(self):
        return self.part("view_as_real")

    def view_as_complex(self):
        return self._new(rules.view_as_complex(self.size, self.stride, self.offset, NAMES[self.dtype]))


def flat(args):
    return tuple(args[0]) if len(args) == 1 and not isinstance(args[0], int) else args


class Real:
    """A torch tensor with the few of `Shape`'s methods that are functions there."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __getattr__(self, name):
        if name in ("view_as_real", "view_as_complex"):
            return lambda: getattr(torch, name)(self.tensor)
        if name == "slice":
            return lambda *args: torch.ops.aten.slice(self.tensor, *args)
        return getattr(self.tensor, name)


@pytest.fixture(autouse=True)
def every_warning():
    """Both libraries say some things once in a process; here they must say them every time."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


def outcome(call, subject):
    """(geometries or the error, warnings) of ``call(subject)``."""
    sites._said.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call(subject)
            if isinstance(answer, torch.Tensor) or isinstance(answer, Shape):
                answer = [answer]
            answer = [of_tensor(one) if isinstance(one, torch.Tensor) else (one.size, one.stride, one.offset) for one in answer]
        except Exception as error:
            # The second line of unflatten's message is PyTorch's C++ stack.
            answer = type(error), "\n".join(str(error).splitlines()[:2])
    return answer, [str(warning.message).split(" (Triggered")[0] for warning in caught]


def of_tensor(tensor):
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset()


def check(call, tensor, shape):
    ours, theirs = outcome(call, shape), outcome(call, Real(tensor))
    if isinstance(ours[0], list) and len(ours[0]) == 1 and ours[0][0][1] is None:
        # A copy: fresh strides, which are not the rule's to give; only its shape is.
        assert [one[0] for one in theirs[0]] == [ours[0][0][0]]
        assert not torch._C._is_alias_of(tensor, call(Real(tensor)))
        return None
    assert ours == theirs
    return ours[0]


# ------------------------------------------------------------------------------------------------- random chains

def ints(rng, least, most, count):
    return tuple(rng.randint(least, most) for _ in range(count))


def a_shape_of(rng, count):
    shape = []
    for _ in range(rng.randint(0, 3)):
        factor = rng.choice([f for f in range(1, max(count, 1) + 1) if count % f == 0])
        shape.append(factor)
        count //= factor
    shape.append(count)
    rng.shuffle(shape)
    if rng.random() < 0.3:
        shape[rng.randrange(len(shape))] = rng.choice([-1, -1, 0, 2, -2])
    return tuple(shape)


def an_operator(rng, size):
    """A random view operator that mostly, but not always, suits ``size``."""
    rank = len(size)
    dim, other = (rng.randint(-rank - (rng.random() < 0.1), max(rank - (rng.random() < 0.9), 0)) for _ in range(2))
    count = 1
    for length in size:
        count *= length
    order = list(range(rank))
    rng.shuffle(order)
    a, b, c = ints(rng, -3, 6, 3)
    shape, parts = a_shape_of(rng, count), a_shape_of(rng, size[dim] if -rank <= dim < rank else 2)
    strides = ints(rng, -1 if a == 6 else 0, 4, rank)
    grown = [b if length == 1 and b > 0 and c > 2 else rng.choice([-1, length]) for length in size] or [2]
    return rng.choice([
        lambda x: x.select(dim, a),
        lambda x: x.narrow(dim, max(a, -1), max(b, -1)),
        lambda x: x.slice(dim, or_none(a), or_none(b), max(c, 0 if a == 2 else 1)),
        lambda x: x.transpose(dim, other),
        lambda x: x.swapaxes(dim, other),
        lambda x: x.t(),
        lambda x: x.mT,
        lambda x: x.T,
        lambda x: x.permute(order),
        lambda x: x.movedim(dim, other),
        lambda x: x.moveaxis(tuple(order[:2]), (0, -1)[: len(order[:2])]),
        lambda x: x.view(shape),
        lambda x: x.reshape(shape),
        lambda x: x.flatten(dim, other),
        lambda x: x.ravel(),
        lambda x: x.unflatten(dim, parts),
        lambda x: x.squeeze(),
        lambda x: x.squeeze(dim),
        lambda x: x.squeeze((dim, other)),
        lambda x: x.unsqueeze(dim),
        lambda x: x.expand(grown),
        lambda x: x.expand(2, *size),
        lambda x: x.expand(1, *size),
        lambda x: x.diagonal(a, dim, other),
        lambda x: x.diagonal(),
        lambda x: x.unfold(dim, b, c),
        lambda x: x.chunk(b, dim),
        lambda x: x.split(b, dim),
        lambda x: x.split([max(a, -1), b], dim),
        lambda x: x.tensor_split(b, dim),
        lambda x: x.tensor_split((a, b), dim),
        lambda x: x.hsplit(b),
        lambda x: x.vsplit(b),
        lambda x: x.dsplit(b),
        lambda x: x.unbind(dim),
        lambda x: x.as_strided(size, strides, or_none(b)),
        lambda x: x.view(a_dtype(a)),
        lambda x: x.view_as_complex(),
        lambda x: x.view_as_real(),
        lambda x: x.real,
        lambda x: x.imag,
    ])


def or_none(value):
    return None if value == 6 else value


def a_dtype(value):
    return list(NAMES)[value + 3]


def test_random_chains_of_view_operators():
    rng = random.Random(20)
    errors = views = 0
    for _ in range(1500):
        size = rng.choice([(24,), (2, 3, 4), (4, 6), (1, 24), (2, 1, 12), (3, 2, 2, 2), (2, 0, 3), (12, 2)])
        tensor = torch.zeros(size)
        for _ in range(rng.randint(1, 6)):
            shape = Shape(*of_tensor(tensor), tensor.dtype, tensor.untyped_storage().nbytes())
            call = an_operator(rng, shape.size)
            answer = check(call, tensor, shape)
            if answer is None:
                break
            if isinstance(answer, tuple):
                errors += 1
                continue
            views += 1
            result = outcome_tensor(call, tensor)
            if not result:
                break
            tensor = result[0]
    assert errors > 300 and views > 1200


def outcome_tensor(call, tensor):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = call(Real(tensor))
    return [answer] if isinstance(answer, torch.Tensor) else list(answer)


# ------------------------------------------------------------------------------------------ rows, word for word

SUBJECTS = {
    "x": lambda: torch.zeros(2, 3, 4),
    "s": lambda: torch.tensor(1.0),
    "v": lambda: torch.zeros(6),
    "m": lambda: torch.zeros(2, 3),
    "e": lambda: torch.zeros(2, 0, 3),
    "c": lambda: torch.zeros(2, 3, 4, dtype=torch.complex64),
    "tail": lambda: torch.zeros(6)[2:],
    "swapped": lambda: torch.zeros(2, 3, 4).transpose(0, 1),
    "flags": lambda: torch.zeros(3, 5, dtype=torch.bool),
    "one": lambda: torch.zeros(1, 5)[:, :2],
}

ROWS = """
x.select(5, 0); x.select(0, 2); x.select(0, -3); s.select(0, 0); s.select(1, 0); e.select(1, 0)
x.narrow(0, 0, 5); x.narrow(0, 3, 0); x.narrow(0, 2, 0); x.narrow(0, 0, -1); s.narrow(0, 0, -1); v.narrow(0, -2, 3)
v.narrow(1, 0, -2)
x.slice(0, 1, 1, 0); s.slice(3, 0, 1, 0); x.slice(5, 0, 1, 0); x.slice(2, 0, 9223372036854775807, 100); x.slice(1, -9, -8, 1)
s.transpose(0, 0); s.transpose(-1, 0); s.transpose(0, -2); x.transpose(0, 3); x.swapaxes(9, 8); x.swapdims(0, 3)
x.t(); s.t(); v.t(); x.T; s.T; v.T; m.T; x.mT; v.mT; s.mT; x.H; v.H; s.H; m.H; x.mH; v.mH; s.mH; x.adjoint()
v.adjoint(); s.adjoint()
x.permute(0, 1); x.permute(0, 0, 5); x.permute(5, 0, 0); x.permute(2, -2, 1); s.permute(0)
x.movedim(0, 3); x.movedim((0, 1), (1,)); x.movedim((0, -3), (1, 2)); x.movedim((0, 1), (-1, 2)); s.movedim(0, 0); s.movedim(1, 0)
x.movedim((9,), (-1, 7)); x.movedim((0, 9), (-1, 7)); x.movedim((0, 1), (2, 0))
x.view(5); x.view(-1, 5); x.view(-1, -1); x.view(-2, 12); x.view(0, -1); e.view(-1); e.view(0, -1); e.view(-1, 0); e.view(3, -1)
e.view(3, 0, 7); swapped.view(6, 4); swapped.view(-1); swapped.view(5, -1); s.view(-1); s.view(1, 1); s.view(0); v.view(2, -1, 0)
x.reshape(5); x.reshape(-1, -5, -1); swapped.reshape(6, 4); swapped.reshape(3, 2, 2, 2); swapped.reshape(24); e.reshape(0, -1)
x.flatten(1, 0); x.flatten(9, 3); x.flatten(3, 9); s.flatten(); s.flatten(1, 3); swapped.flatten(0); swapped.flatten(1)
e.flatten(1)
x.unflatten(1, (3, 1)); x.unflatten(1, (-1, 2)); x.unflatten(1, ()); x.unflatten(4, (1,)); x.unflatten(1, (-1, -1))
s.unflatten(0, (1,))
x.unflatten(1, (-2, -1)); x.unflatten(1, (0, -1)); e.unflatten(1, (0, -1)); e.unflatten(1, (2, -1)); s.unflatten(1, (2,))
x.ravel(); swapped.ravel(); s.ravel(); e.ravel(); tail.ravel()
x.squeeze(4); x.squeeze((0, -3)); s.squeeze((0, -1)); s.squeeze((3,)); s.squeeze(-1); s.squeeze(1); x.squeeze(())
x.unsqueeze(4); x.unsqueeze(-5); x.unsqueeze(0); x.unsqueeze(3); e.unsqueeze(1); s.unsqueeze(-2); swapped.unsqueeze(1)
x.expand(2, 3); x.expand(2, 3, 5); x.expand(5, -1, -1, 4); x.expand(-1, 2, 3, 4); x.expand(5, -2, 3, 4); x.expand(-3, 2, 3, 4)
x.expand(1, 1, 2, 3, 4); x.expand(0, -1, 3, 4); s.expand(-1); s.expand(1, 1); s.expand(2, -1); s.expand(0, -1)
e.expand(2, 1, 3); flags.expand(3)
c.expand(3); x.expand(2, -1, 5)
m.diagonal(); m.diagonal(3); m.diagonal(-5); v.diagonal(); s.diagonal(); x.diagonal(0, 0, -3); x.diagonal(0, 7, 7)
x.diagonal(-1, 0, 2)
v.unfold(0, 7, 1); v.unfold(0, 0, 1); v.unfold(0, 9, -1); v.unfold(0, -1, -1); v.unfold(0, 2, 0); v.unfold(5, -1, -1)
s.unfold(0, 1, 3)
s.unfold(0, 2, 1); s.unfold(0, 0, 1); s.unfold(1, 1, 3); e.unfold(1, 1, 1); e.unfold(1, 0, 1); x.unfold(1, 3, 5)
v.chunk(4); v.chunk(0); v.chunk(100); s.chunk(0); e.chunk(3, 1); x.chunk(0, 9); x.chunk(2, 5)
v.split(4); v.split(0); v.split(-1); v.split(100); s.split(1); s.split([1]); e.split(0, 1); e.split(2, 1)
x.split(-1, 9); x.split(0, 9)
v.split([2, 3]); v.split([2, -1, 5]); v.split([]); e.split([], 1); e.split([0, 0], 1); x.split([-1, 9], 9); x.split([-1, 100], 1)
v.tensor_split(4); v.tensor_split(0); v.tensor_split(8); v.tensor_split((4, 1)); v.tensor_split((10, 20))
v.tensor_split(()); s.tensor_split(0, 5)
v.tensor_split(0, 5); v.tensor_split((-1,)); e.tensor_split(3, 1); x.tensor_split((1,), 5)
v.hsplit(3); v.hsplit(4); v.hsplit(0); v.hsplit(-6); v.hsplit(-4); m.hsplit(2); m.hsplit((1,)); s.hsplit(1); v.vsplit(1)
m.vsplit(3); m.vsplit(2)
m.dsplit(1); x.dsplit(3); x.dsplit(2); x.dsplit((1, 3)); x.dsplit(0)
v.unbind(); s.unbind(); s.unbind(3); s.unbind(-1); x.unbind(5); x.unbind(-1); e.unbind(1); e.unbind(0)
v.as_strided((2, 3), (1, 1)); v.as_strided((2, 3), (1,)); v.as_strided((2, 3), (4, 1)); v.as_strided((2, 3), (-1, 1))
v.as_strided((), (), 9)
v.as_strided((2, -3), (1, 1)); v.as_strided((2, -3), (1, 0)); v.as_strided((-1,), (0,))
v.as_strided((2, 3), (1, 1), -1); v.as_strided((0, 3), (1, 1), 30)
tail.as_strided((2, 3), (1, 1)); tail.as_strided((2, 3), (2, 1)); tail.as_strided((2, 3), (1, 1), 0)
v.as_strided((0, -3), (1, 1)); v.as_strided((), ())
x.view(torch.float64); x.view(torch.int16); x.view(torch.int32); swapped.view(torch.float64); m.view(torch.float64)
s.view(torch.int16)
s.view(torch.int32); s.view(torch.float64); flags.view(torch.float32); e.view(torch.float64); e.view(torch.int16)
x.view(torch.bool); c.view(torch.float32)
tail.view(torch.float64); x.view(torch.complex64); c.view(torch.complex128); flags.view(torch.float8_e5m2)
one.view(torch.float64)
x.view_as_real(); c.view_as_real(); x.view_as_complex(); s.view_as_complex(); flags.view_as_complex()
one.view_as_complex(); c.view_as_complex()
x.real; x.imag; c.real; c.imag
"""


@pytest.mark.parametrize("line", ROWS.strip().splitlines())
def test_rows(line):
    for row in line.split(";"):
        row = row.strip()
        name = row.split(".")[0]
        tensor = SUBJECTS[name]()
        shape = Shape(*of_tensor(tensor), tensor.dtype, tensor.untyped_storage().nbytes())
        check(lambda subject, row=row, name=name: eval(row, {"torch": torch, name: subject}), tensor, shape)


def test_deprecations_are_said_once():
    sites._said.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            rules.T((2, 3, 4), (12, 4, 1), 0)
    assert len(caught) == 1


def test_view_as_complex_strides():
    rng = random.Random(1)
    for _ in range(300):
        size, stride, offset = (*ints(rng, 1, 2, 2), rng.choice([2, 2, 1])), (*ints(rng, 0, 6, 2), rng.choice([1, 1, 2])), rng.randint(0, 3)
        tensor = torch.zeros(40).as_strided(size, stride, offset)
        check(lambda subject: subject.view_as_complex(), tensor, Shape(size, stride, offset))


def test_wrap_dim():
    for rank in range(4):
        for dim in range(-5, 5):
            for scalars_too in (True, False):
                ours = outcome(lambda _, dim=dim, rank=rank, too=scalars_too: [Shape((rules.wrap_dim(dim, rank, too),), ())], None)[0]
                tensor = torch.zeros((1,) * rank)
                theirs = outcome(lambda _, t=tensor, dim=dim, too=scalars_too: t.flatten(dim, dim) if too else t.unbind(dim), None)[0]
                assert isinstance(ours, tuple) == isinstance(theirs, tuple)
                if isinstance(ours, tuple):
                    assert ours == theirs
