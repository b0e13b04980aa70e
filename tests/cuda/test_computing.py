"""Computing on a GPU (`conftest.gpu`): the numbers of the CPU, devices side by side, what goes from one to the other."""
import copy
import math
import pickle

import jax
import numpy as np
import pytest

import jtensor as T
from jtensor.base import compat
from jtensor.base.compat import arrays
from jtensor.trace import executor, tiers

pytestmark = pytest.mark.usefixtures("gpu")
TYPES = T.float32, T.float64, T.int64, T.int32, T.uint8, T.bool, T.bfloat16, T.float16, T.complex64


def both(*values, dtype=None):
    """Tensors of the same numbers on the CPU and on the GPU."""
    here = [T.tensor(v, dtype=dtype) for v in values]
    return here, [t.cuda() for t in here]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_there_and_back(dtype):
    here = T.tensor([0, 1, 2, 100]).to(dtype)
    there = here.cuda()
    assert there.is_cuda and there.device == T.device("cuda:0") and there.get_device() == 0 and here.get_device() == -1
    for again in (there.cpu(), there.to("cpu"), there.clone().cpu(), there.cuda().to("cpu")):
        assert again.dtype is dtype and again.device.type == "cpu" and again.tolist() == here.tolist()
    assert there.tolist() == here.tolist() and there[3].item() == here[3].item() and (there + there).tolist() == (here + here).tolist()


def test_64_bits_stay_whole():
    big = T.tensor([123456789123456789, -5])
    assert (big.cuda() + 1).cpu().tolist() == [123456789123456790, -4]
    assert T.tensor(1.1, dtype=T.float64).cuda().cpu().item() == 1.1


def test_numpy_is_refused_in_pytorchs_words():
    x = T.ones(2, device="cuda")
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu"):
        x.numpy()
    assert x.numpy(force=True).tolist() == [1, 1]


def test_it_prints_its_device():
    assert repr(T.ones(2, device="cuda")) == "tensor([1., 1.], device='cuda:0')"
    assert repr(T.ones((), dtype=T.int64).cuda()) == "tensor(1, device='cuda:0')"


def test_the_numbers_of_a_training_loop_are_those_of_the_cpu():
    def losses(device):
        T.manual_seed(0)
        model = T.nn.Sequential(T.nn.Linear(6, 8), T.nn.Tanh(), T.nn.Linear(8, 3)).to(device)
        optimizer = T.optim.Adam(model.parameters(), lr=0.05)
        x, y = T.arange(30.).reshape(5, 6).sin().to(device), T.tensor([0, 1, 2, 1, 0]).to(device)
        found = []
        for _ in range(6):
            optimizer.zero_grad()
            loss = T.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        assert all(p.grad.device == T.device(device) if device == "cuda:0" else True for p in model.parameters())
        return found
    np.testing.assert_allclose(losses("cuda:0"), losses("cpu"), rtol=1e-5)


# -- devices side by side ---------------------------------------------------------------------------------------------

def test_tensors_of_two_devices_are_refused_and_stay_as_they_were():
    x, y = T.ones(3, device="cuda"), T.ones(3)
    with pytest.raises(RuntimeError, match="all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"):
        x + y
    with pytest.raises(RuntimeError, match="same device|not on the expected device"):
        x += y
    assert x.tolist() == [1, 1, 1] and x._version == 0


def test_a_number_of_the_cpu_joins_with_its_gradient():
    for _ in range(3):                                                          # op by op, and by programs
        x, s = T.ones(3, device="cuda", requires_grad=True), T.tensor(1.5, requires_grad=True)
        y = x * s + T.tensor(2, dtype=T.int32)
        y.sum().backward()
        assert y.is_cuda and y.tolist() == [3.5] * 3 and x.grad.is_cuda and x.grad.tolist() == [1.5] * 3
        assert s.grad.device.type == "cpu" and s.grad.item() == 3
        z = T.zeros(3, device="cuda")
        z += s.detach()
        z[1] = T.tensor(7.)
        z[2:] = s.detach()
        assert T.where(z > 1, z, T.tensor(0.)).tolist() == [1.5, 7, 1.5]
        z.fill_(T.tensor(4.))
        assert z.tolist() == [4, 4, 4] and T.maximum(T.tensor(5.), z).tolist() == [5, 5, 5]


def test_indices_may_be_on_the_cpu():
    x = T.arange(6., device="cuda")
    at, mask = T.tensor([1, -1]), T.tensor([True, False] * 3)
    assert x[at].tolist() == [1, 5] and x[T.tensor(2)].item() == 2 and x[mask].tolist() == [0, 2, 4] and x[[0, 3]].tolist() == [0, 3]
    x[at] = 9
    x[mask] = T.tensor(-1.)
    x.index_put_((T.tensor([3]),), T.tensor([8.]).cuda())
    assert x.tolist() == [-1, 9, -1, 8, -1, 9]
    with pytest.raises(IndexError, match="index 6 is out of bounds"):
        x[T.tensor([6])]
    with pytest.raises(RuntimeError, match=r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)"):
        T.arange(3)[at.cuda()]


def test_large_indices_are_looked_at_where_they_are():
    at, x = T.arange(1 << 18, device="cuda") % 7, T.arange(7., device="cuda")
    assert x[at][-1].item() == ((1 << 18) - 1) % 7
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        x[at + 1]


def test_copies_between_devices_keep_history():
    x = T.arange(3., requires_grad=True)
    y = x.cuda() * 2
    z = T.zeros(3)
    z.copy_(y)
    z[0] = y[2]
    assert z.tolist() == [4, 2, 4] and z.device.type == "cpu"
    z.sum().backward()
    assert x.grad.device.type == "cpu" and x.grad.tolist() == [0, 2, 4]
    there = T.zeros(2, 3, device="cuda")
    there.copy_(T.arange(3))
    assert there.tolist() == [[0, 1, 2]] * 2


@pytest.mark.parametrize("seen", (False, True))
def test_a_tape_of_two_devices_runs_part_by_part(seen):
    for _ in range(4):
        here, there = T.arange(4.), T.arange(4., device="cuda")
        for k in range(3):
            here, there = here * 2 + 1, (there + k).tanh()
            here, there = (here - k).exp2() % 5, there * 3
            if seen:
                assert here.sum().item() >= 0
        wanted = np.arange(4.)
        for k in range(3):
            wanted = np.tanh(wanted + k) * 3
        np.testing.assert_allclose(there.tolist(), wanted, rtol=1e-5)
        assert here.device.type == "cpu" and here.isfinite().all().item()


def test_a_whole_step_is_one_program():
    """What a program takes from another costs more on a GPU than compiling it once: rounds of a loop are cut off the tape later."""
    def rounds(device):
        x = T.ones(4, device=device)
        for _ in range(40):
            x = (x * 1.5 + 0.25).sin() - 0.5
        return x
    cuts = []
    for device in ("cpu", "cuda"):
        x = rounds(device)
        cuts.append(len(x._storage.value.segment.nodes))
        x.sum().item()
    assert cuts[0] < 160 < cuts[1]


@pytest.fixture
def nothing_was_fetched(monkeypatch):
    monkeypatch.setattr(arrays, "_looks", {})
    monkeypatch.setattr(arrays, "_carriers", {})


def test_numbers_are_fetched_again_and_again(nothing_was_fetched):
    x = T.arange(5., device="cuda")
    for k in range(6):
        y = x * k
        assert y.sum().item() == 10 * k and y[3].item() == 3 * k and y[1:3].tolist() == [k, 2 * k] and bool((y >= 0).all())
    array = y.jax()
    seen = [compat.fetched(array, lambda job: job()) for _ in range(arrays._AGAIN + 2)]
    assert seen[0].tolist() == y.tolist() and seen[-1] is seen[-2] and not seen[-1].flags.writeable     # kept once it is fetched


def test_what_fetches_numbers_is_made_while_others_go_on(nothing_was_fetched):
    values, jobs = [T.full((2,), float(k), device="cuda") for k in range(arrays._AGAIN + 3)], []
    *before, after, untold = [value.jax() for value in values]
    assert [compat.fetched(array, jobs.append).tolist() for array in before] == [[k, k] for k in range(len(before))]
    assert len(jobs) == 1 and not arrays._carriers
    jobs[0]()
    assert len(arrays._carriers) == 1, "a GPU writes to memory of its host, and so does what passes for one"
    assert compat.fetched(after, jobs.append).tolist() == values[-2].tolist() and compat.fetched(untold).tolist() == values[-1].tolist()
    assert len(jobs) == 1


def test_what_is_held_is_not_written_over():
    for _ in range(12):
        x = T.zeros(64, 64, device="cuda")
        held = [x.clone()]
        for _ in range(3):
            x.add_(1)
            before = x.detach().clone()
            held.append(before)
            x.mul_(2)
            x.sum().item()
        assert [h[0, 0].item() for h in held] == [0, 1, 3, 7]


# -- functions that make tensors of their own ---------------------------------------------------------------------------

@pytest.mark.parametrize("call", (
    lambda x: T.trace(x @ x), T.linalg.det, lambda x: T.fft.fft(x).abs().sum(), lambda x: x.cumsum(0).prod(),
    lambda x: T.nn.functional.softmax(x, 1)[0, 0], lambda x: T.nn.functional.layer_norm(x, (3,))[0, 1], lambda x: x.sort(1)[0][0, 0],
    lambda x: T.nn.functional.cross_entropy(x, T.tensor([0, 1, 2], device=x.device)), lambda x: T.cdist(x, x * 2).sum(), lambda x: x.std(),
    lambda x: T.nn.functional.conv2d(x.reshape(1, 1, 3, 3), x.reshape(1, 1, 3, 3)[..., :2, :2]).sum(), lambda x: x.median(),
    lambda x: T.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None])[0, 0, 0], lambda x: T.logsumexp(x, 0)[0],
    lambda x: T.nn.functional.interpolate(x[None, None], scale_factor=2, mode="bilinear").sum(), lambda x: x.scatter_add(
        0, T.zeros(3, 3, dtype=T.int64, device=x.device), x)[0, 0], lambda x: T.cov(x).sum(),
    lambda x: x.div(0.7, rounding_mode="floor").sum() + x.sum()))
def test_values_and_gradients_are_those_of_the_cpu(call):
    numbers = [[0.3, -1.2, 2.5], [1.7, 0.4, -0.6], [-2.2, 0.9, 1.1]]
    found = []
    for device in ("cpu", "cuda"):
        x = T.tensor(numbers, device=device, requires_grad=True)
        y = call(x)
        y.backward()
        assert y.device.type == x.grad.device.type == device
        found.append([y.item(), *x.grad.cpu().reshape(-1).tolist()])
    np.testing.assert_allclose(*found, rtol=2e-5, atol=2e-6)


def test_makers_heed_the_device():
    made = (T.fft.fftfreq(4, device="cuda"), T.fft.rfftfreq(4, device="cuda"), T.signal.windows.kaiser(5, device="cuda"), T.kaiser_window(
        5, device="cuda"), T.linspace(0, 1, 3, device="cuda"), T.eye(2, device="cuda"), T.ones(2, device="cuda").new_tensor([1.]),
        *T.unravel_index(T.tensor([3], device="cuda"), (2, 2)), T.randn(2, device="cuda"), T.tril_indices(2, 2, device="cuda"),
        *T.histogram(T.arange(3.), 2)[:0], T.bartlett_window(4, device="cuda"), T.empty_like(T.ones(2, device="cuda")))
    assert all(t.is_cuda for t in made)
    np.testing.assert_allclose(made[0].tolist(), [0, .25, -.5, -.25])
    with T.device("cuda"):
        assert T.ones(2).is_cuda and T.nn.Linear(2, 2).weight.is_cuda and T.ones(2, device="cpu").device.type == "cpu"


# -- the library around -------------------------------------------------------------------------------------------------

def test_modules_move_and_files_bring_them_back(tmp_path):
    model = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.BatchNorm1d(3)).cuda()
    model(T.ones(4, 2, device="cuda")).sum().backward()
    assert model[0].weight.grad.is_cuda and model[1].running_mean.is_cuda
    T.save(model.state_dict(), tmp_path / "m.pt")
    assert all(t.is_cuda for t in T.load(tmp_path / "m.pt").values())
    there = T.load(tmp_path / "m.pt", map_location="cpu")
    assert all(t.device.type == "cpu" for t in there.values()) and there["0.weight"].tolist() == model[0].weight.tolist()
    x = T.arange(3., device="cuda")
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert again.is_cuda and again.tolist() == [0, 1, 2] and again.data_ptr() != x.data_ptr()
    model.cpu()
    assert model[0].weight.device.type == "cpu" and model[0].weight.grad.device.type == "cpu"


def test_mixed_precision():
    model = T.nn.Linear(4, 2).cuda()
    optimizer, scaler = T.optim.SGD(model.parameters(), 0.1), T.amp.GradScaler("cuda")
    before = model.weight.tolist()
    with T.autocast("cuda", dtype=T.bfloat16):
        y = model(T.ones(3, 4, device="cuda"))
    assert y.dtype is T.bfloat16
    scaler.scale(y.float().sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    np.testing.assert_allclose(model.weight.tolist(), np.array(before) - 0.3, rtol=1e-5)


def test_batches_are_sent():
    data = T.utils.data.TensorDataset(T.arange(10.), T.arange(10))
    batches = T.utils.data.DataLoader(data, 4, pin_memory=True)
    sums = [(x.to("cuda", non_blocking=True).sum().item(), y.cuda()[-1].item()) for x, y in batches]
    assert sums == [(6, 3), (22, 7), (17, 9)]


def test_pinning_copies():
    x = T.arange(3.)
    y = x.pin_memory()
    assert y.tolist() == [0, 1, 2] and y.data_ptr() != x.data_ptr() and not y.is_pinned() and y.to("cuda", non_blocking=True).is_cuda
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        assert T.FloatStorage([1, 2]).pin_memory().tolist() == [1, 2]
    assert list(T.UntypedStorage([1, 2]).pin_memory()) == [1, 2] and T.zeros(2, pin_memory=True).tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"):
        y.cuda().pin_memory()


def test_sparse_tensors_are_refused():
    for make in (lambda: T.eye(2, device="cuda").to_sparse(), lambda: T.eye(2).to_sparse().cuda(),
                 lambda: T.eye(2, device="cuda").to_sparse_csr(),
                 lambda: T.nn.Embedding(2, 2, sparse=True).cuda()(T.tensor([1], device="cuda")).sum().backward()):
        with pytest.raises(NotImplementedError, match="does not have sparse tensors on a GPU; what works: sparse tensors on the CPU"):
            make()


def test_a_failed_tape_loses_nothing(monkeypatch):
    x = T.ones(3, device="cuda") * 2
    with monkeypatch.context() as patched:
        patched.setattr(executor, "execute", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            x.tolist()
    assert x.tolist() == [2, 2, 2] and math.isclose(x.norm().item(), 12 ** 0.5, rel_tol=1e-6)


def products(device):
    """How exact the products are that a linear and a convolutional layer make."""
    x, w, found = T.ones(2, 3, device=device), T.ones(1, 1, 2, 2, device=device), []
    for layer in (lambda: x @ x.t(), lambda: T.nn.functional.conv2d(w, w[..., :1, :])):
        y = layer()
        equations = y._storage.value.segment.nodes[-1][0].jaxpr().jaxpr.eqns
        found.append({e.params["precision"][0] for e in equations if "precision" in e.params})
    return found


def test_tf32_is_used_where_it_is_permitted():
    full, quick = {jax.lax.Precision.HIGHEST}, {jax.lax.Precision.DEFAULT}
    assert products("cuda") == [full, quick] and products("cpu") == [full, full]                  # as PyTorch begins
    try:
        T.set_float32_matmul_precision("high")
        assert T.backends.cuda.matmul.allow_tf32 and products("cuda") == [quick, quick] and products("cpu") == [full, full]
        T.backends.cuda.matmul.allow_tf32 = False
        assert T.get_float32_matmul_precision() == "highest"
        T.backends.cudnn.allow_tf32 = False
        assert products("cuda") == [full, full]
        with T.backends.cudnn.flags(enabled=True):
            assert products("cuda") == [full, quick]
        assert products("cuda") == [full, full]
    finally:
        T.set_float32_matmul_precision("highest")
        T.backends.cudnn.allow_tf32 = True


def test_an_optimizers_state_is_there_before_its_first_step():
    """Its first step is the program of all others: large and small, the state is no operation on the tape."""
    from jtensor.trace.lowering import executable
    before = []
    for device in ("cpu", "cuda"):
        T.manual_seed(0)
        weights = [T.randn(size, 3).to(device).requires_grad_() for size in (4, 1 << 19)]
        optimizer, losses = T.optim.AdamW(weights, lr=0.1), []
        for _ in range(3):
            optimizer.zero_grad()
            loss = sum((w ** 2).mean() for w in weights)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            before.append(executable.compiled["programs"])
        assert all(state["exp_avg"].device.type == device and state["exp_avg"].stride() == (3, 1) for state in optimizer.state.values())
    assert before[3] == before[4] == before[5]
    assert losses[0] > losses[2]


def test_steps_of_other_sizes_are_compiled_whole_until_that_was_in_vain(afresh):
    """What is new has hardly a kernel, and is probably a training step. What comes on one more size then runs by kernels, which serve
    others, too, until it has come often; as on a CPU (`test_executor`)."""
    from jtensor.trace.report import REPORT
    weights = [T.randn(8, 8).cuda().requires_grad_() for _ in range(3)]

    def step(rows):
        """Whether kernels and whether a program are compiled for a step of so many rows."""
        before = sum(REPORT.kernels.values()), sum(REPORT.programs.values())
        x = T.ones(rows, 8).cuda()
        for w in weights:
            x = (x @ w).tanh().softmax(-1) * 2 + x
        x.square().mean().backward()
        assert weights[0].grad.isfinite().all().item()
        return sum(REPORT.kernels.values()) > before[0], sum(REPORT.programs.values()) > before[1]
    last = tiers.TRIED + 4
    assert [step(rows) for rows in range(3, last + 1)] == [(False, True)] * tiers.TRIED + [(True, False)] * 2
    assert [step(last)[1] for _ in range(tiers.PATIENT)].index(True) >= tiers.PATIENT - 2


def test_sums_are_made_for_their_device():
    from jtensor.trace import plan
    from jtensor.trace.lowering import barriers
    shape, axes = (8, 1 << 10, 64), (0,)
    with plan.made_for("cpu"):
        assert barriers.is_row_by_row(shape, axes) and barriers.is_wide((1, 64, 1 << 15), np.float32, (1,))
    with plan.made_for("cuda"):
        assert not barriers.is_row_by_row(shape, axes) and not barriers.is_wide((1, 64, 1 << 15), np.float32, (1,))
