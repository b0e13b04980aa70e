"""Regions of `autocast` against PyTorch: which function computes in which type, gradients, kept casts, custom functions.

The types are stored (`goldens/autocast.json`), so that they are compared without PyTorch, too; `python tests/amp/test_autocast.py` stores
PyTorch's.
"""
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import jtensor
from jtensor.amp import casting, tables

GOLDENS = Path(__file__).parents[1] / "goldens" / "autocast.json"


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


CALLS = """
a @ b.T | v @ v | a @ v | v @ a.T | a.mm(b.T) | T.mm(a, b.T) | T.matmul(x3, x3.mT) | T.bmm(x3, x3.mT) | T.mv(a, v) | T.dot(v, v)
T.outer(v, v) | T.addmm(s, a, b.T) | s.addmm(a, b.T) | T.baddbmm(x3[:, :3, :3], x3, x3.mT) | T.addbmm(x3[0, :3, :3], x3, x3.mT)
T.addmv(v[:3], a, v) | F.linear(a, b) | F.linear(a, b, v5) | F.linear(x3, b, v5) | F.linear(v, b) | F.bilinear(a, a, x3, v[:2])
F.bilinear(a, a, T.ones(2, 4, 4)) | T.einsum('ij,kj->ik', a, b) | T.einsum('ij,j->i', a, v) | T.tensordot(a, b, ([1], [1]))
T.tensordot(a, a, 2) | T.inner(a, b) | T.inner(v, v) | T.linalg.multi_dot([a, b.T, b]) | T.linalg.vecdot(a, a)
T.linalg.matrix_power(sq, 3) | T.linalg.inv(sq) | T.linalg.qr(low(a)) | T.cov(a) | F.conv1d(x3, x3) | F.conv2d(x4, x4)
F.conv_transpose2d(x4, x4) | N.Conv2d(1, 2, 2)(x4) | F.prelu(a, v[:1]) | F.max_pool2d(x4, 2)
F.scaled_dot_product_attention(x3, x3, x3) | F.softmax(a, 1) | F.softmax(low(a), 1) | T.exp(low(a)) | low(a).sum() | low(a).prod()
low(a).norm() | T.cat([a, low(a)]) | T.stack([low(a), a]) | T.cat([low(a), low(a)]) | T.cat([a.half(), low(a)])
T.cat([a.double(), low(a)]) | F.mse_loss(low(a), a) | F.mse_loss(a, low(a)) | F.l1_loss(low(a), low(a))
F.smooth_l1_loss(low(a), low(a)) | F.huber_loss(low(a), low(a)) | F.cross_entropy(low(a), t) | F.nll_loss(low(a), t)
F.kl_div(low(a), low(a), reduction='sum') | F.cosine_embedding_loss(low(a), low(a), v[:3])
F.binary_cross_entropy(low(a).sigmoid(), low(a).sigmoid()) | F.binary_cross_entropy_with_logits(low(a), low(a))
F.poisson_nll_loss(low(a), a) | F.margin_ranking_loss(low(v), low(v), low(v)) | F.triplet_margin_loss(low(a), low(a), low(a))
F.ctc_loss(F.log_softmax(low(x3.mT), 2), T.ones(3, 1).long(), [4] * 3, [1] * 3) | T.layer_norm(low(a), (4,))
N.LayerNorm(4)(low(a)) | N.BatchNorm1d(4)(a) | N.LSTM(4, 2)(x3)[0] | N.GRU(4, 2)(x3)[0] | N.RNN(4, 2)(x3)[0]
N.LSTMCell(4, 2)(a)[1] | N.GRUCell(4, 2)(a) | N.MultiheadAttention(4, 2)(x3, x3, x3)[0] | N.TransformerEncoderLayer(4, 2, 8)(x3)
T.fft.fft(low(v)) | T.stft(v.repeat(4), 4, window=v, return_complex=True) | T.trace(low(sq)) | T.cdist(low(a), low(b))
T.quantile(low(v), .5) | F.grid_sample(low(x4), low(x4.repeat(1, 4, 1, 1).permute(0, 2, 3, 1)[..., :2]), align_corners=False)
F.interpolate(low(x4), scale_factor=2) | a.double() @ b.double().T | a.double() @ b.T | a.long() @ b.long().T
T.mm(a, b.T, out=T.empty(3, 5)) | a.clone().addmm_(a, sq) | T.add(a, low(a)) | T.polar(low(v), low(v)) | T.svd(low(a))[1]
T.pinverse(sq) | F.avg_pool3d(low(x3[None]), 1) | F.pad(low(x3), (1, 1), 'reflect') | F.embedding(t, a)
"""


def inputs(T):
    a = T.arange(12.0).view(3, 4) / 8 - 0.5

    def low(x):
        return x.to(T.bfloat16)
    return {"T": T, "F": T.nn.functional, "N": T.nn, "a": a, "b": T.arange(20.0).view(5, 4) / 16, "v": a[1], "s": T.ones(3, 5), "low": low,
            "x3": T.arange(36.0).view(3, 3, 4) / 32 - 0.5, "x4": T.arange(16.0).view(1, 1, 4, 4) / 16, "t": T.tensor([0, 2, 1]),
            "v5": T.ones(5), "sq": T.eye(4) + 0.25}


def outcome(T, call, **region):
    names = inputs(T)
    T.manual_seed(3)
    try:
        with T.autocast("cpu", **region):
            answer = eval(call, names)
    except (RuntimeError, ValueError) as error:
        return type(error).__name__, str(error)
    answer = answer[0] if isinstance(answer, tuple) else answer
    return str(answer.dtype), answer.detach()


ALL = [call for line in CALLS.strip().splitlines() for call in line.split(" | ")]
OTHERS = [(region, call) for region in ({"dtype": "float16"}, {"enabled": False})
          for call in ("a @ b.T", "F.conv2d(x4, x4)", "T.cat([a, low(a)])", "F.mse_loss(low(a), a)")]


def types(T):
    """{call: the type of its answer, or its refusal}."""
    def text(answer):
        return answer[0] if not isinstance(answer[1], str) else ": ".join(answer)
    of_others = {f"{call} {region}": text(outcome(T, call, **{key: getattr(T, value) if isinstance(value, str) else value
                                                               for key, value in region.items()})) for region, call in OTHERS}
    return {call: text(outcome(T, call)) for call in ALL} | of_others


def test_types():
    ours = types(jtensor)
    for call, wanted in json.loads(GOLDENS.read_text()).items():
        assert ours[call] == wanted, call


def test_stored_types_are_those_of_pytorch(torch):
    stored, live = json.loads(GOLDENS.read_text()), types(torch)
    without = {call for call, text in live.items() if "could not create a primitive" in text}     # oneDNN has it for some processors alone
    assert all("LSTM" in call for call in without) and live.keys() == stored.keys()
    assert {call: live[call] for call in live.keys() - without} == {call: stored[call] for call in stored.keys() - without}


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split(" | ")[0])
def test_values(torch, line):
    for call in line.split(" | "):
        ours, theirs = outcome(jtensor, call)[1], outcome(torch, call)[1]
        if not isinstance(theirs, str) and theirs.is_floating_point():
            np.testing.assert_allclose(ours.float().numpy(), theirs.float().numpy(), rtol=0.02, atol=0.03, err_msg=call)


def trained(T, cache=True):
    """Losses and weights after steps in which one weight is used twice; names along its graph; whether a cast is kept."""
    T.manual_seed(5)
    shared, head = T.nn.Linear(4, 4), T.nn.Linear(4, 1)
    sgd = T.optim.SGD([*shared.parameters(), *head.parameters()], 0.1)
    x, losses = T.arange(12.0).view(3, 4) / 8, []
    for _ in range(3):
        with T.autocast("cpu", cache_enabled=cache):
            out = head(shared(T.relu(shared(x))))
            loss = T.nn.functional.mse_loss(out, x[:, :1])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    steps, node = [], out.grad_fn
    while node is not None:
        steps.append(node.name())
        node = next((n for n, _ in node.next_functions if n is not None and n.name() != "torch::autograd::AccumulateGrad"), None)
    return losses, [str(p.grad.dtype) for p in shared.parameters()], shared.weight.detach().flatten().tolist(), steps


@pytest.mark.parametrize("cache", [True, False])
def test_training(torch, cache):
    ours, theirs = trained(jtensor, cache), trained(torch, cache)
    assert ours[0] == pytest.approx(theirs[0], rel=2e-2) and ours[2] == pytest.approx(theirs[2], abs=2e-3)
    assert (ours[1], ours[3]) == (theirs[1], theirs[3])


def kept(T, first_without_graph=False, **region):
    w, x = T.ones(4, 4, requires_grad=True), T.ones(2, 4)
    with T.autocast("cpu", **region):
        with T.set_grad_enabled(not first_without_graph):
            first = T.mm(x, w)
        with T.autocast("cpu"):
            second = T.mm(x, w)
        third = T.mm(x, w)
    casts = [y.grad_fn.next_functions[1][0] if y.grad_fn is not None else None for y in (first, second, third)]
    return [[one is other for other in casts] for one in casts], T.is_autocast_enabled("cpu"), T.is_autocast_cache_enabled()


@pytest.mark.parametrize("case", [{}, {"cache_enabled": False}, {"first_without_graph": True}, {"enabled": False}], ids=str)
def test_casts_of_parameters_are_kept_until_the_outermost_region_ends(torch, case):
    assert kept(jtensor, **case) == kept(torch, **case)
    assert not casting.STATE.kept


def custom(T, cast):
    seen = []

    class Product(T.autograd.Function):
        @staticmethod
        @T.amp.custom_fwd(device_type="cpu", cast_inputs=cast and getattr(T, cast))
        def forward(ctx, x, pair):
            ctx.save_for_backward(x)
            seen.extend([str(x.dtype), str(pair[0].dtype), T.is_autocast_enabled("cpu")])
            return x @ x

        @staticmethod
        @T.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            seen.extend([str(grad.dtype), T.is_autocast_enabled("cpu")])
            return grad @ ctx.saved_tensors[0].to(grad.dtype), None

    x = T.eye(3).to(T.bfloat16).requires_grad_()
    with T.autocast("cpu"):
        y = Product.apply(x, (x.detach(),))
    y.sum().backward()
    return seen, str(y.dtype), str(x.grad.dtype)


@pytest.mark.parametrize("cast", [None, "float32"])
def test_custom_functions(torch, cast):
    assert custom(jtensor, cast) == custom(torch, cast)


ON_CUDA = {
    "float16": """a @ a.T | T.mv(a, v) | T.addmv(v[:3], a, v) | T.addr(a, v[:3], v) | T.einsum('ij,kj->ik', a, a)
        T.linalg.multi_dot([a, sq]) | N.GRUCell(4, 2)(a) | N.LSTMCell(4, 2)(a)[0] | N.GRU(4, 2)(a)[0] | F.conv2d(x4, x4)
        T.mean(h) | h.var() | T.sum(h, 0, dtype=T.float16) | T.softmax(h, 0, T.float16) | h.relu()""",
    "float32": """T.exp(h) | h.log() | h ** 2 | 2 ** h | 1 / h | F.softplus(h) | T.layer_norm(h, (4,)) | F.group_norm(h, 2) | T.cdist(h, h)
        F.cosine_similarity(h, h) | F.interpolate(x4.half(), scale_factor=2) | h.sum() | h.sum(0) | h.prod(0) | h.softmax(0)
        F.log_softmax(h, 0) | F.softmin(h, 0) | h.cumsum(0) | T.cumprod(h, 0) | h.norm() | T.linalg.norm(h) | T.linalg.matrix_norm(h)
        F.normalize(h) | F.cross_entropy(h, t) | F.mse_loss(h, a) | T.addcmul(a, h, h) | T.dot(h[0], v) | T.cat([a, h])
        h + a | T.atan2(h, a) | T.scatter_add(a, 0, T.zeros(1, 4).long(), h)
        T.index_put(a, (T.tensor([0]),), h[:1]) | T.tensordot(h, a, 2)""",
    "RuntimeError": "F.binary_cross_entropy(h, h)",
}


@pytest.mark.parametrize("wanted", ON_CUDA)
def test_the_table_of_cuda(wanted, monkeypatch):
    """PyTorch's documented table, by tensors of the CPU: there is no GPU to ask."""
    monkeypatch.setitem(tables.RULES, "cpu", tables.RULES["cuda"])
    names = inputs(jtensor)
    names["h"] = names["a"].half().abs() + 0.25
    for call in (call.strip() for line in ON_CUDA[wanted].splitlines() for call in line.split(" | ")):
        with jtensor.autocast("cpu", jtensor.float16):
            try:
                found = str(eval(call, names).dtype)
            except RuntimeError as error:
                assert "unsafe to autocast" in str(error)
                found = "torch.RuntimeError"
        assert found == f"torch.{wanted}", call


def again(T, reentrant):
    seen = []

    def part(x):
        seen.append((x @ x).dtype == T.bfloat16)
        return x @ x
    x = T.eye(3, requires_grad=True)
    with T.autocast("cpu"):
        y = T.utils.checkpoint.checkpoint(part, x * 2, use_reentrant=reentrant)
    y.sum().backward()
    return seen, str(y.dtype), x.grad.tolist()


@pytest.mark.parametrize("reentrant", [True, False])
def test_what_is_computed_again_is_cast_again(torch, reentrant):
    assert again(jtensor, reentrant) == again(torch, reentrant)


def test_a_region_belongs_to_its_thread():
    found = []
    with jtensor.autocast("cpu"):
        other = threading.Thread(target=lambda: found.append((jtensor.ones(2, 2) @ jtensor.ones(2, 2)).dtype))
        other.start()
        other.join()
        assert (jtensor.ones(2, 2) @ jtensor.ones(2, 2)).dtype is jtensor.bfloat16
    assert found == [jtensor.float32]


def test_functions_stay_the_same_objects():
    before = [jtensor.mm, jtensor.matmul, jtensor.nn.functional.linear, jtensor.nn.functional.mse_loss]
    with jtensor.autocast("cpu"):
        pass
    assert all(a is b for a, b in zip(before, [jtensor.mm, jtensor.matmul, jtensor.nn.functional.linear, jtensor.nn.functional.mse_loss],
                                      strict=True))
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"), jtensor.autocast("cpu"):
        jtensor.mm(jtensor.ones(2, 3), jtensor.ones(2, 3))


def test_functions_that_are_imported_behind_their_doors_know_their_parameters():
    """`torch.linalg` is imported when it is asked for, which may be after the first region."""
    script = ("import jtensor\nwith jtensor.autocast('cpu'): pass\nprint(jtensor.linalg.cholesky(input=jtensor.eye(1)).tolist())\n"
              "try: jtensor.linalg.inv(3)\nexcept TypeError as error: print(error)")
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert found == ["[[1.0]]", "linalg_inv(): argument 'A' (position 1) must be Tensor, not int"]


def test_every_name_of_the_tables_is_a_function():
    """A name that nothing is called by would cast nothing."""
    from jtensor.nn import functional
    from jtensor.nn.functional import recurrent
    from jtensor.ops.registry import REGISTRY
    lost = [name for name in tables.NAMES if name not in REGISTRY.operators and name not in REGISTRY.composites
            and not hasattr(functional, name) and not hasattr(recurrent, name)]
    assert not lost


if __name__ == "__main__":
    import torch as _torch
    GOLDENS.write_text(json.dumps(types(_torch), indent=0) + "\n")


def test_the_older_classes_say_where_pytorch_has_them():
    torch = pytest.importorskip("torch")
    for device in "cuda", "cpu":
        for name in "autocast", "GradScaler":
            ours, theirs = (getattr(getattr(library, device).amp, name) for library in (jtensor, torch))
            assert (ours.__module__, ours.__qualname__) == (theirs.__module__, theirs.__qualname__)
