"""Calls at the edge of what functions take, or of nothing at all: the text of the last expression, or the error's type and first sentence,
is PyTorch's."""
import pytest

import jtensor

from .lines import answer, listed

LINES = listed(r'''
    torch.compiled_with_cxx11_abi(), torch._C._GLIBCXX_USE_CXX11_ABI
    torch._C._set_grad_enabled(1)
    torch.arange(end=3), torch.arange(start=1, end=3), torch.arange(1, end=3)
    torch.arange(0, 1, float("nan"))
    torch.arange(0, 3, 1j)
    torch.arange(3, dtype=torch.uint16)
    torch.fft.fftfreq(0), torch.fft.rfftfreq(0)
    torch.fft.fftfreq(4, out=torch.empty(0)), torch.fft.rfftfreq(n=4, d=.5, out=torch.empty(0).double())
    torch.fft.rfftfreq(4, out=torch.empty(0).int())
    torch.fft.fftfreq(4, requires_grad=True)
    torch.fft.fftfreq(-1)
    torch.fft.rfftfreq(4, dtype=torch.int64)
    torch.arange(3)[torch.tensor(1.):]
    torch.arange(3)[torch.tensor([0, 1]):]
    torch.arange(3)[torch.tensor([1]):], torch.arange(3)[torch.tensor(True):]
    torch.rot90(torch.ones(2, 3), 1, [0, 2])
    torch.softmax(torch.zeros(2, 0).long(), 0), torch.log_softmax(torch.zeros(0, 2).bool(), 1)
    torch.softmax(torch.zeros(0).to(torch.complex64), 0), torch.softmax(torch.zeros(0, 2).byte(), 0)
    torch.softmax(torch.ones(2).long(), 0)
    torch.combinations(torch.arange(4.), 3), torch.combinations(torch.arange(3), 2, True), torch.combinations(torch.arange(4.))
    torch.combinations(torch.arange(2), 4), torch.combinations(torch.arange(2.), 0), torch.combinations(torch.arange(0), 2)
    torch.rand(2, layout=torch.sparse_coo)
    torch.randn(2, layout=torch.sparse_coo)
    torch.rand_like(torch.ones(2), layout=torch.sparse_coo)
    torch.randn_like(torch.ones(2), layout=torch.sparse_coo)
    torch.randint_like(torch.ones(2), 3, layout=torch.sparse_coo)
    torch.pdist(torch.ones(2))
    torch.pdist(torch.ones(2, 2), -1)
    torch.pdist(torch.ones(2, 2).long())
    torch.gradient(torch.tensor([1., 4, 9]), spacing=[torch.tensor(1.)])
    torch.gradient(torch.ones(2, 2), spacing=[1., 2, 3])
    torch.histogram(torch.tensor([1., 2]), 2, range=(3., 1.))
    torch.empty_strided((2, 3), (-1, 2))
    torch.empty_strided((2, -3), (1, 2))
    torch.dtype()
    torch.frombuffer(bytearray(b"abcd"))
    torch.frombuffer(bytearray(b"abcd"), dtype=torch.int8, requires_grad=True)
    torch.tensor(np.array([1, 2], dtype=">i4"))
    torch.from_dlpack(torch.ones(1, requires_grad=True))
    torch.from_dlpack(3)
    torch.margin_ranking_loss(torch.eye(2), torch.ones(2), torch.tensor([1., -1]), .5)
    torch.margin_ranking_loss(torch.eye(2), torch.ones(2), torch.ones(2), 0., 1)
    torch.nn.functional.margin_ranking_loss(torch.eye(2), torch.eye(2), torch.ones(2))
    a = torch.autocast("cpu:0"); a.__enter__(); y = torch.eye(2) @ torch.eye(2); a.__exit__(None, None, None); y.dtype, a.device
    torch.autocast("no device"), 1
    torch.autocast("cpu:x"), 1
    torch.autocast(""), 1
    torch.is_autocast_enabled("CPU")
    torch.get_autocast_dtype("cuda:1"), torch.amp.is_autocast_available("cuda:1")
    torch.autocast("meta", torch.float16), 1
    torch.ones(1).__dlpack__(stream=1)
    torch.ones(1).__dlpack__(stream="1")
    torch.eye(2).to_sparse().__dlpack__()
    torch.ones(1).__dlpack_device__()
    torch.take_along_dim(torch.arange(4.), torch.tensor([1], dtype=torch.int32))
    torch.searchsorted(torch.tensor([1, 2]), 2, sorter=torch.tensor([0, 5]))
    torch.unravel_index(torch.tensor([1]), 2.5)
    torch.fill(torch.ones(2), torch.ones(1))
    torch.tensor([1j]).scatter_reduce(0, torch.tensor([0]), torch.tensor([1j]), "amax")
    torch.equal(torch.empty(2, device="meta"), torch.empty(2, device="meta"))
    type("A", (torch.FloatTensor,), {})
    torch.FloatTensor.layout
    torch._check_is_size(-1)
    torch.testing.assert_close(torch.eye(2).to_sparse(1), torch.eye(2).to_sparse())
    torch.linalg.multi_dot([torch.ones(2, 2), torch.ones(2, 2).double()])
    torch.linalg.multi_dot([torch.ones(2), torch.ones(2)])
    torch.linalg.eig(torch.tensor([[float("nan")]]))
    torch.linalg.matmul(torch.ones(2), 1)
    torch.linalg.matrix_exp(2)
    torch.chain_matmul(torch.eye(2), 1)
    torch.hann_window(torch.ones(2))
    torch.kaiser_window(4, beta=2.)
    torch.permute(input=torch.ones(1, 2), dims=(1, 0)).shape, torch.reshape(shape=(1, 1), input=torch.tensor([1]))
    torch.permute(input=torch.ones(1, 2))
    torch.ones(1, 2, 1).squeeze(0, 2).shape, torch.ones(1, 2, 1).squeeze_(0, 2).shape
    torch.ones(1, 2, 1).squeeze(0, 5)
    torch.ones(2).subtract(2, 3), torch.subtract(torch.ones(2), 2, 3), torch.rsub(torch.ones(2), 2, 3), torch.ones(2).subtract_(2, 3)
    torch.subtract(torch.ones(2), torch.ones(2), 3)
    torch.ones(1, 2).count_nonzero(0, 1), torch.arange(4).hsplit(1, 3)
    torch.arange(4).sum(0, True, 3)
    torch.manual_seed(0); torch.normal(1, torch.tensor(.1))._version, torch.bernoulli(torch.tensor([1.]), .5)._version
    torch.linalg.norm(torch.empty(0, 2), 2), torch.linalg.norm(torch.empty(0, 2), float("inf"))
    torch.linalg.matrix_norm(torch.empty(2, 3, 0), 1, keepdim=True)
    torch.linalg.matrix_norm(torch.empty(2, 0), -1)
    torch.linalg.matrix_norm(torch.ones(2, 3, 4), 2, (0, 2), keepdim=True).stride()
    torch.linalg.solve(torch.eye(2), torch.ones(3, 2), left=False).stride()
    torch.cumsum(torch.tensor([1, 2]), 0, dtype=torch.float64, out=torch.empty(2))
    torch.sum(torch.tensor([1, 2]), 0, dtype=torch.float64, out=torch.empty(()))
    x = torch.arange(9.); torch.cumsum(x[:4], 0, out=x[1:5])
    x = torch.arange(9.); torch.topk(x, 9, out=(x, torch.empty(9).long()))
    torch.segment_reduce(torch.arange(6.).view(2, 3), "max", lengths=torch.tensor([[1, 2], [3, 0]]), axis=1)
    torch.segment_reduce(torch.arange(12.).view(2, 3, 2), "mean", offsets=torch.tensor([[0, 1, 3], [1, 3, 3]]), axis=1)
    torch.segment_reduce(torch.arange(6.), "sum", lengths=torch.tensor([2, 2]), unsafe=True)
    torch.segment_reduce(torch.arange(6.).view(2, 3), "sum", lengths=torch.tensor([3]), axis=1)
    torch.segment_reduce(torch.arange(2), "sum", lengths=torch.tensor([2]))
    torch.segment_reduce(torch.arange(2.), "sum", lengths=torch.tensor([2.]))
    g, f = [torch.tensor([2., 4.])], torch.tensor(0.); torch._amp_foreach_non_finite_check_and_unscale_(g, f, f + .5); g, f
    g, f = [torch.tensor([2., float("inf")])], torch.tensor(0.); torch._amp_foreach_non_finite_check_and_unscale_(g, f, f + .5); g, f
    torch._amp_update_scale_(torch.tensor(4.), torch.tensor(1, dtype=torch.int32), torch.tensor(0.), 2., .5, 2)
    x = torch.zeros(2, 3); r = torch.linspace(0, 3, 4, out=x.narrow(1, 1, 2)); x, r
    x = torch.zeros(2, 3); r = torch.arange(0, 4, out=x.narrow(1, 1, 2)); x, r, x._version
    x = torch.zeros(2, 2).mT; torch.logspace(0, 3, 4, 2, out=x); x, x.stride()
    x = torch.zeros(2, 2, dtype=torch.int64); torch.range(0, 3, out=x); x
    torch.empty([2, 4, 2**29, 2**29], dtype=torch.float64)
    torch.zeros(2**40, 2**40)
    torch.ones(2).new_empty(2**62, 2**62)
    torch.empty([0, 4, 2**61])
    torch.empty_strided([8, 8], [2**61, 1], dtype=torch.float64)
    torch.ones(1).expand(2**20, 2**20).stride()
    t = torch.ones(2); y = torch.asarray(torch.utils.dlpack.to_dlpack(t)); y[0] = 5; t, y
    t = torch.ones(2); y = torch.asarray(torch.utils.dlpack.to_dlpack(t), copy=True); y[0] = 5; t, y
    torch.asarray(torch.utils.dlpack.to_dlpack(torch.ones(2)), dtype=torch.int32, copy=False)
    torch.ormqr(torch.ones(2, 2), torch.ones(3), torch.ones(2, 2))
    torch.linalg.matrix_rank(torch.ones(2, 2), tol=torch.tensor(1j))
    torch.linalg.pinv(torch.ones(2, 2), rcond=torch.tensor(1j))
    torch.tensordot(torch.ones(2, 2), torch.ones(2, 2), ([0, -2], [0, 1]))
    torch.linalg.matrix_norm(torch.ones(2), 1j)
    torch.linalg.vector_norm(torch.ones(2, 0), -1, (0, -1))
    torch.linalg.matrix_exp(torch.full((1, 1), float("inf"))), torch.linalg.matrix_exp(torch.full((1, 1, 1), -float("inf")))
    torch.linalg.cholesky_ex(-torch.ones(2, 2), check_errors=True)
''')


@pytest.mark.parametrize("line", LINES)
def test_as_under_pytorch(line):
    pytest.importorskip("torch")
    import numpy as np

    def first(library):
        text = answer(library, line, np=np)[0]
        return text.split("\n")[0].split(". ")[0].removesuffix(".") if "Error: " in text else text
    assert first(jtensor.__name__) == first("torch")


@pytest.mark.parametrize("call", ["torch.linalg.qr(x, 'complete')[0]", "torch.linalg.qr(x, 'r')[1]"])
def test_a_gradient_that_there_is_none_of_is_refused_at_once(call):
    torch = pytest.importorskip("torch")
    texts = []
    for library in (torch, jtensor):
        x = library.ones(3, 2, requires_grad=True)
        y = eval(call, {"torch": library, "x": x}).sum()
        with pytest.raises(RuntimeError) as told:
            y.backward()
        texts.append(str(told.value).split(".")[0])
        assert library.ones(2).add(1).tolist() == [2.0, 2.0]                     # and nothing else fails by it
    assert texts[0] == texts[1]


@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_the_gradient_of_extremes_counts_what_is_left_out(reduce):
    torch = pytest.importorskip("torch")
    found = []
    for library in (torch, jtensor):
        x, source = library.ones(3, requires_grad=True), library.tensor([1.0, 1.0, 0.0], requires_grad=True)
        x.scatter_reduce(0, library.tensor([0, 0, 1]), source, reduce, include_self=False).sum().backward()
        found.append((x.grad.tolist(), source.grad.tolist()))
    assert found[0] == found[1]


def test_what_is_refused_where_the_same_bits_are_demanded():
    torch = pytest.importorskip("torch")
    calls = ("torch.nn.MaxUnpool1d(3, 1)(torch.ones(1, 1, 3), torch.zeros(1, 1, 3).long())",
             "torch.nn.MaxUnpool3d(3, 1)(torch.ones(1, 1, 2, 2, 2), torch.zeros(1, 1, 2, 2, 2).long())",
             "torch.ones(3).put_(torch.tensor([0]), torch.ones(1))", "torch.ones(3).put(torch.tensor([0]), torch.ones(1), True)")
    texts = []
    for library in (torch, jtensor):
        library.use_deterministic_algorithms(True)
        try:
            texts.append([])
            for call in calls:
                try:
                    texts[-1].append(eval(call, {"torch": library}).tolist())
                except RuntimeError as error:
                    texts[-1].append(str(error).split(". ")[0])
            library.use_deterministic_algorithms(True, warn_only=True)
            with pytest.warns(UserWarning, match="^put_ does not have a deterministic implementation"):
                library.ones(3).put_(library.tensor([0]), library.ones(1))
        finally:
            library.use_deterministic_algorithms(False)
    assert texts[0] == texts[1]


@pytest.mark.parametrize("library", ["torch", "jtensor"])
def test_a_backward_put_in_its_place_is_what_a_tensors_calls(library, monkeypatch):
    T, calls = pytest.importorskip(library), []
    before = T.autograd.backward

    def patched(*args, **kwargs):
        calls.append((len(args), sorted(kwargs)))
        before(*args, **kwargs)
    monkeypatch.setattr(T.autograd, "backward", patched)
    x = T.ones(2, requires_grad=True)
    x.sum().backward()
    (x * 2).backward(T.ones(2), retain_graph=True)
    assert calls == [(4, ["inputs"])] * 2 and x.grad.tolist() == [3, 3]


@pytest.mark.parametrize("line", ["torch.frobenius_norm(torch.eye(2), 0)", "torch.nuclear_norm(torch.eye(2))", "torch.tensor(1.).adjoint()",
                                  "torch.tensor(1.).mH", "torch.tensor(1j).H"])
def test_warnings_of_older_forms_are_pytorchs_where_both_give_them(line):
    pytest.importorskip("torch")
    told = {}
    for library in ("torch", "jtensor"):                                            # once in a process each: whoever asked first has had it
        text, seen = answer(library, line)
        told[library] = text, [(kind, words.split(" (Triggered")[0]) for kind, words in seen]
    assert told["jtensor"][0] == told["torch"][0]
    if told["jtensor"][1] and told["torch"][1]:
        assert told["jtensor"][1] == told["torch"][1]
