"""One memory for a Tensor and an ndarray: each side sees the other's writes, through views, casts and the library's own operators."""
import gc

import numpy as np
import pytest

import jtensor

try:
    import torch as oracle
except ImportError:
    oracle = None
LIBRARIES = [jtensor] if oracle is None else [jtensor, oracle]
# NumPy wants newer signatures of PyTorch's `__array__` and `__array_wrap__`.
QUIET = pytest.mark.filterwarnings("ignore:__array:DeprecationWarning")


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.__name__)
def torch(request):
    return request.param


def test_writes_are_seen_on_both_sides(torch):
    t = torch.zeros(2, 3)
    a = t.numpy()
    a[0, 1] = 5
    t[1] += 2
    t.mul_(2)
    a[1, 2] -= 1
    assert t.tolist() == a.tolist() == [[0, 10, 0], [4, 4, 3]]
    b = t.numpy()
    b[:] = 1
    assert a.tolist() == [[1] * 3] * 2 and (t + 1).tolist() == [[2] * 3] * 2


def test_through_views_of_tensors(torch):
    t = torch.arange(24.0).reshape(2, 3, 4)
    view = t[1, ::2].t()
    a = view.numpy()
    assert a.shape == (4, 2) and a.strides == (4, 32) and a.tolist() == view.tolist()
    a[0] = -1
    assert t[1, :, 0].tolist() == [-1, 16, -1]
    t[1, 0] = 9
    assert a[:, 0].tolist() == [9] * 4
    view += 1
    assert a[:, 0].tolist() == [10] * 4 and t[1, 2].tolist() == [0, 22, 23, 24]


def test_through_views_of_arrays(torch):
    t = torch.arange(6)
    a = t.numpy()[::2]
    a += 100
    assert t.tolist() == [100, 1, 102, 3, 104, 5]


def test_from_numpy_shares(torch):
    a = np.arange(6, dtype=np.int16).reshape(2, 3)
    t = torch.from_numpy(a)
    assert t.dtype == torch.int16 and t.stride() == (3, 1) and t.data_ptr() == a.ctypes.data
    a[0, 0] = 7
    t[1] = 0
    t[:, 1].add_(1)
    assert a.tolist() == t.tolist() == [[7, 2, 2], [0, 1, 0]]


def test_from_numpy_of_strided_memory(torch):
    base = np.arange(12.0).reshape(3, 4)
    t = torch.from_numpy(base.T[1:, ::2])
    assert tuple(t.shape) == (3, 2) and t.stride() == (1, 8) and t.tolist() == base.T[1:, ::2].tolist()
    t += 10
    assert base.tolist() == [[0, 11, 12, 13], [4, 5, 6, 7], [8, 19, 20, 21]]
    base[0] = 0
    assert t[:, 0].tolist() == [0, 0, 0]


def test_arrays_that_are_refused(torch):
    for array, error in ((np.arange(3)[::-1], ValueError), (np.array(["a"]), TypeError), ([1, 2], TypeError)):
        with pytest.raises(error):
            torch.from_numpy(array)


def test_as_tensor_shares_and_tensor_copies(torch):
    a = np.zeros(2)
    shared, copied, cast = torch.as_tensor(a), torch.tensor(a), torch.as_tensor(a, dtype=torch.float32)
    a[0] = 1
    assert (shared.tolist(), copied.tolist(), cast.tolist()) == ([1, 0], [0, 0], [0, 0])
    assert (shared.dtype, copied.dtype, cast.dtype) == (torch.float64, torch.float64, torch.float32)


@QUIET
def test_array_protocol(torch):
    t = torch.arange(4.0)
    a = np.asarray(t)
    a[1] = 8
    assert t.tolist() == [0, 8, 2, 3] and a.flags.writeable
    b = np.asarray(t, dtype=np.float64)
    b[0] = 5
    c = np.array(t)
    c[0] = 6
    assert t[0].item() == 0 and b.dtype == np.float64 and c.dtype == np.float32
    assert np.stack([t, t]).shape == (2, 4) and np.allclose(t, [0, 8, 2, 3])


def test_dtypes_both_ways(torch):
    for name in "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split():
        a = np.array([0, 1, 1]).astype(name)
        t = torch.from_numpy(a)
        assert str(t.dtype) == "torch." + name and t.numpy().dtype == a.dtype
        a[0] = 1
        assert t.tolist() == a.tolist() and t.clone().numpy().tolist() == a.tolist()


def test_errors(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead."):
        x.numpy()
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(x)
    with pytest.raises(RuntimeError, match="conjugate bit set"):
        torch.ones(2, dtype=torch.complex64).conj().numpy()
    with pytest.raises(TypeError, match="BFloat16"):
        torch.ones(2, dtype=torch.bfloat16).numpy()
    assert x.numpy(force=True).tolist() == [1, 1]
    a = x.detach().numpy()
    a[0] = 3
    assert x.tolist() == [3, 1]


def test_gradients_of_shared_memory(torch):
    a = np.array([1.0, 2.0, 3.0])
    x = torch.from_numpy(a).requires_grad_()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4, 6]
    with torch.no_grad():
        x -= x.grad / 2
    assert a.tolist() == [0, 0, 0]
    y = (x * x).sum()
    a[:] = 5                                                # unseen by versions: backward takes what is there now
    y.backward()
    assert x.grad.tolist() == [12, 14, 16]


def test_what_was_computed_before_keeps_its_values(torch):
    a = np.arange(3.0)
    t = torch.from_numpy(a)
    y = t * 2                                               # not looked at before the write
    a[:] = 100
    assert y.tolist() == [0, 2, 4] and (t * 2).tolist() == [200] * 3


def test_data_and_views_made_before_the_export(torch):
    t = torch.zeros(4)
    view, data = t[1:3], t.data
    a = t.numpy()
    a[:] = [1, 2, 3, 4]
    view += 10
    data[0] = -1
    assert a.tolist() == [-1, 12, 13, 4] and view.tolist() == [12, 13]


@QUIET
def test_operators_between_arrays_and_tensors(torch):
    t, a = torch.arange(3.0), np.ones(3, np.float32)
    for found in (t + a, t * a, t / a, t - a):
        assert isinstance(found, torch.Tensor)
    with pytest.raises(TypeError):
        a - t
    with pytest.raises(TypeError):
        t < a
    u = t
    u += a                                                  # another tensor: PyTorch does not write an array in place
    assert u is not t and t.tolist() == [0, 1, 2] and u.tolist() == [1, 2, 3]
    assert (t + np.float64(1)).dtype == torch.float32 and (np.float64(2) * t).tolist() == [0, 2, 4]
    assert isinstance(np.sqrt(t), torch.Tensor) and np.isnan(t).tolist() == [0, 0, 0]


def test_host_mode_ends_with_the_array(only_the_young):
    t = jtensor.arange(3.0)
    a = t.numpy()
    part = a[1:]
    assert t._storage.host is not None
    del a
    gc.collect(1)
    part[0] = 9
    assert t._storage.host is not None and t.tolist() == [0, 9, 2]
    del part
    gc.collect(1)
    assert t._storage.host is None and t.tolist() == [0, 9, 2]
    t += 1
    assert t.tolist() == [1, 10, 3]
    np.asarray(t)[0] = 5
    gc.collect(1)
    assert t._storage.host is None and t.tolist() == [5, 10, 3]


def test_steps_on_shared_memory():
    a = np.zeros(4, np.float32)
    t = jtensor.from_numpy(a)
    for i in range(30):
        t[i % 4] += i
        if i == 10:
            a[3] = 100
    assert a.tolist() == t.tolist()
    assert sum(a.tolist()) == sum(range(30)) - (3 + 7) + 100


def test_memory_that_nobody_else_has_any_more_is_a_value_like_any_other():
    """`from_numpy` of a temporary array: while NumPy cannot write to it, nothing is compared; while it can, every write shows."""
    def shared(tensor):
        return tensor._storage.host is not None
    x = jtensor.from_numpy(np.arange(6.0).reshape(2, 3))
    assert shared(x) and (x + 1).tolist() == [[1, 2, 3], [4, 5, 6]] and not shared(x)
    assert x.add_(1).tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(10)
    a = np.arange(4.0)
    x, y = jtensor.from_numpy(a), jtensor.from_numpy(a[1:])
    assert x.sum().item() == 6 and shared(x)
    a[0] = 5
    assert x.sum().item() == 11
    del a
    assert x.sum().item() == 11 and shared(x), "the other tensor may write"
    y.zero_()
    assert x.tolist() == [5, 0, 0, 0]
    del y
    assert x.sum().item() == 5 and not shared(x)
    x = jtensor.from_numpy(np.arange(4.0))
    n = x.numpy()
    assert x.sum().item() == 6 and shared(x)
    n[0] = 5
    assert x.sum().item() == 11
    x, address = jtensor.from_numpy(np.arange(4.0)), x.data_ptr()
    for size in (3, 2000):                              # an array seen unchanged gives the same value back
        x = jtensor.ones(size)
        value, n = x._storage.value, x.numpy()
        del n
        assert x._storage.value is value and x.data_ptr() != address
        n = x.numpy()
        n[-1] = 0
        assert x.sum().item() == size - 1
        del n
        assert x.sum().item() == size - 1 and not shared(x)


def test_capsules_share_too(torch):
    from_dlpack, to_dlpack = torch.utils.dlpack.from_dlpack, torch.utils.dlpack.to_dlpack
    x = torch.arange(4.)
    capsule = to_dlpack(x)
    y = from_dlpack(capsule)
    y[1] = 50
    x[2] = 7
    assert x.tolist() == y.tolist() == [0, 50, 7, 3]
    with pytest.raises(RuntimeError, match="capsules can be consumed only once"):
        from_dlpack(capsule)
    turned = torch.from_dlpack(to_dlpack(torch.arange(6).reshape(2, 3).t()))
    assert turned.stride() == (1, 3) and turned.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_halves_seen_as_integers_are_shared(torch):
    x = torch.arange(3.).bfloat16()
    array = x.view(torch.int16).numpy()
    x.zero_()
    assert array.tolist() == [0, 0, 0]
    array[1] = 0x3F80
    assert x.tolist() == [0, 1, 0]


class Exporter:
    """Another library's array: it exports its memory, and that is all it does."""

    def __init__(self, held):
        self.held = held

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()


def test_functions_that_make_tensors_take_what_exports_its_memory(torch):
    x = torch.arange(3.)
    copies = torch.tensor(Exporter(x)), torch.as_tensor(Exporter(x), dtype=torch.int64)
    shared = torch.as_tensor(Exporter(x)), torch.asarray(Exporter(x)), torch.from_dlpack(Exporter(x))
    x[0] = 9
    assert [y.tolist() for y in copies] == [[0, 1, 2]] * 2 and copies[1].dtype == torch.int64
    assert [y.tolist() for y in shared] == [[9, 1, 2]] * 3
    with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
        torch.asarray(Exporter(x), copy=False)
    with pytest.raises(RuntimeError, match="Could not infer dtype of Exporter"):
        torch.tensor([Exporter(x)])


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_capsules_of_types_that_numpy_has_not(torch, name):
    dtype = getattr(torch, name)
    x = torch.arange(6.).to(dtype)
    y, z, w = torch.from_dlpack(torch.utils.dlpack.to_dlpack(x)), torch.from_dlpack(Exporter(x[1:].view(5, 1))), torch.tensor(Exporter(x))
    x.view(torch.uint8).zero_()
    assert y.dtype == z.dtype == w.dtype == dtype and z.shape == (5, 1)
    assert not y.float().any() and not z.float().any() and w.float().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_bfloat16_of_jax_and_for_jax():
    jax = pytest.importorskip("jax")
    array = jax.numpy.arange(3, dtype=jax.numpy.bfloat16)
    x = jtensor.from_dlpack(array)
    assert x.dtype == jtensor.bfloat16 and x.tolist() == [0, 1, 2]
    back = jax.dlpack.from_dlpack(x + 1)
    assert back.dtype == jax.numpy.bfloat16 and back.tolist() == [1, 2, 3]


def test_numbers_of_numpy_where_integers_are_asked_for(torch):
    x, zero, one = torch.arange(6.).reshape(2, 3), np.int64(0), np.int64(1)
    made = (x.sum(zero), x.mean(dim=zero, keepdim=True), x.std(one), x.amax(zero), x.any(zero), x.norm(2, one), x.logsumexp(zero),
            x.prod(one), x.renorm(2, zero, 1), x.movedim(zero, one), x[:1].squeeze(zero), x.var((zero, one)),
            torch.nn.functional.max_pool2d(x[None], np.int64(2)))
    plain = (x.sum(0), x.mean(dim=0, keepdim=True), x.std(1), x.amax(0), x.any(0), x.norm(2, 1), x.logsumexp(0),
             x.prod(1), x.renorm(2, 0, 1), x.movedim(0, 1), x[:1].squeeze(0), x.var((0, 1)),
             torch.nn.functional.max_pool2d(x[None], 2))
    for a, b in zip(made, plain, strict=True):
        assert a.tolist() == b.tolist() and a.shape == b.shape
    row = x[np.array(1)]
    assert row._is_view() and row.tolist() == [3, 4, 5]


def test_integers_of_more_than_64_bits(torch):
    x = torch.arange(3)
    for call in (lambda: x[1 << 63], lambda: x.__setitem__(0, 1 << 70), lambda: x.__setitem__(1 << 63, 0)):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            call()


def test_lists_that_are_taken_for_tuples_warn(torch):
    x = torch.arange(6.).reshape(2, 3)
    for index, where in (([slice(None), 0], (slice(None), 0)), ([[0, 1], [1, 0]], ([0, 1], [1, 0])), ([None, 0], (None, 0))):
        with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
            found = x[index]
        assert found.tolist() == x[where].tolist()
    assert x[[0, 1]].tolist() == x.tolist()


def _come_in(array):
    return jtensor.from_numpy(array.copy())                     # which nobody else has


def _told(array):
    tensor = jtensor.tensor(array)
    tensor.data_ptr()
    return tensor


def _left(array):
    tensor = jtensor.tensor(array)
    tensor.numpy()
    return tensor


@pytest.mark.parametrize("made", [_come_in, _told, _left])
@pytest.mark.parametrize("product", [
    lambda x, w: x @ w.t(), lambda x, w: jtensor.nn.functional.linear(x, w), lambda x, w: jtensor.mm(w.t(), x),
    lambda x, w: jtensor.addmm(x, x, w.t()), lambda x, w: w.t() @ w, lambda x, w: jtensor.matmul(w.mT, x)])
def test_the_first_product_with_the_transpose_of_memory_that_was_shared(made, product):
    """Host mode ends when the factor is read; how it lies has to be asked after that, or the matrix is taken for its transpose."""
    x, w = np.random.default_rng(0).normal(size=(2, 5, 5))
    wanted = product(jtensor.tensor(x), jtensor.tensor(w)).tolist()
    assert product(jtensor.tensor(x), made(w)).tolist() == wanted
    weight = made(w).requires_grad_()
    product(jtensor.tensor(x), weight).square().sum().backward()
    plain = jtensor.tensor(w, requires_grad=True)
    product(jtensor.tensor(x), plain).square().sum().backward()
    assert weight.grad.tolist() == plain.grad.tolist()
