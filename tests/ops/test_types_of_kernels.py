"""Which types a function has a kernel for: the others are refused in PyTorch's words, before anything is computed."""
import pytest

import jtensor

TYPES = ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]
ONE = ("airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p "
       "log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri psi scaled_modified_bessel_k0 "
       "scaled_modified_bessel_k1 sinc spherical_bessel_j0").split()
TWO = ("gammainc gammaincc xlog1py xlogy zeta chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
       "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t "
       "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w").split()
MORE = {
    "polygamma(1)": lambda T, x: T.special.polygamma(1, x),
    "polygamma(2)": lambda T, x: T.special.polygamma(2, x),
    "xlogy of a number": lambda T, x: T.xlogy(1.0, x),
    "xlogy with a number": lambda T, x: T.xlogy(x, 2.0),
    "zeta of a number": lambda T, x: T.special.zeta(2.0, x),
    "igamma_": lambda T, x: x.igamma_(x),
}
CALLS = {**{name: lambda T, x, name=name: getattr(T.special, name)(x) for name in ONE},
         **{name: lambda T, x, name=name: getattr(T.special, name)(x, x) for name in TWO}, **MORE}


def told(T, call, dtype):
    """The result's type, or what is said; nobody looks at the values, so that nothing is compiled."""
    try:
        return str(CALLS[call](T, T.ones(2, dtype=getattr(T, dtype))).dtype)
    except Exception as error:
        return type(error).__name__, str(error)


LAYERS = {
    "max_unpool1d": lambda T, F, d: F.max_unpool1d(T.ones(1, 1, 2, dtype=d), T.tensor([[[0, 2]]]), 2),
    "max_unpool2d": lambda T, F, d: F.max_unpool2d(T.ones(1, 1, 1, 2, dtype=d), T.tensor([[[[0, 2]]]]), 2),
    "max_unpool3d": lambda T, F, d: F.max_unpool3d(T.ones(1, 1, 1, 1, 2, dtype=d), T.tensor([[[[[0, 2]]]]]), 2),
    "avg_pool1d": lambda T, F, d: F.avg_pool1d(T.ones(1, 1, 4, dtype=d), 2),
    "avg_pool2d": lambda T, F, d: F.avg_pool2d(T.ones(1, 1, 4, 4, dtype=d), 2),
    "avg_pool3d": lambda T, F, d: F.avg_pool3d(T.ones(1, 1, 4, 4, 4, dtype=d), 2),
    "lp_pool1d": lambda T, F, d: F.lp_pool1d(T.ones(1, 1, 4, dtype=d), 2, 2),
    "unfold": lambda T, F, d: F.unfold(T.ones(1, 1, 4, 4, dtype=d), 2),
    "fold": lambda T, F, d: F.fold(T.ones(1, 4, 9, dtype=d), (4, 4), 2),
    "max_pool1d": lambda T, F, d: F.max_pool1d(T.ones(1, 1, 4, dtype=d), 2),
    "max_pool2d": lambda T, F, d: F.max_pool2d(T.ones(1, 1, 4, 4, dtype=d), 2),
    "adaptive_max_pool2d": lambda T, F, d: F.adaptive_max_pool2d(T.ones(1, 1, 4, 4, dtype=d), 2),
    "mlm input": lambda T, F, d: F.multilabel_margin_loss(T.ones(2, 3, dtype=d), T.tensor([[0, -1, 1], [1, 2, -1]])),
    "mlm target": lambda T, F, d: F.multilabel_margin_loss(T.ones(2, 3), T.ones(2, 3, dtype=d)),
    "mm input": lambda T, F, d: F.multi_margin_loss(T.ones(2, 3, dtype=d), T.tensor([0, 1])),
    "mm target": lambda T, F, d: F.multi_margin_loss(T.ones(2, 3), T.ones(2, dtype=d)),
    "mm weight": lambda T, F, d: F.multi_margin_loss(T.ones(2, 3), T.tensor([0, 1]), weight=T.ones(3, dtype=d)),
    "ce weight": lambda T, F, d: F.cross_entropy(T.ones(2, 3), T.tensor([0, 1]), T.ones(3, dtype=d)),
    "ce input": lambda T, F, d: F.cross_entropy(T.ones(2, 3, dtype=d), T.tensor([0, 1])),
    "nll weight": lambda T, F, d: F.nll_loss(T.ones(2, 3), T.tensor([0, 1]), T.ones(3, dtype=d)),
    "nll2d weight": lambda T, F, d: F.nll_loss(T.ones(2, 3, 1), T.tensor([[0], [1]]), T.ones(3, dtype=d)),
    "nll input": lambda T, F, d: F.nll_loss(T.ones(2, 3, dtype=d), T.tensor([0, 1])),
    "nll2d input": lambda T, F, d: F.nll_loss(T.ones(2, 3, 1, dtype=d), T.tensor([[0], [1]])),
    "smooth_l1 input": lambda T, F, d: F.smooth_l1_loss(T.ones(2, dtype=d), T.ones(2)),
    "bilinear 1": lambda T, F, d: F.bilinear(T.ones(2, 3, dtype=d), T.ones(2, 4), T.ones(5, 3, 4), T.ones(5)),
    "bilinear 2": lambda T, F, d: F.bilinear(T.ones(2, 3), T.ones(2, 4, dtype=d), T.ones(5, 3, 4)),
    "bilinear weight": lambda T, F, d: F.bilinear(T.ones(2, 3), T.ones(2, 4), T.ones(5, 3, 4, dtype=d)),
    "bilinear bias": lambda T, F, d: F.bilinear(T.ones(2, 3), T.ones(2, 4), T.ones(5, 3, 4), T.ones(5, dtype=d)),
    "bilinear none": lambda T, F, d: F.bilinear(T.ones(0, 3), T.ones(0, 4), T.ones(5, 3, 4), T.ones(5, dtype=d)),
    "tril_indices": lambda T, F, d: T.tril_indices(3, 3, dtype=d),
    "triu_indices": lambda T, F, d: T.triu_indices(3, 3, dtype=d),
    "fft": lambda T, F, d: T.fft.fft(T.ones(4, dtype=d)),
    "ifft2": lambda T, F, d: T.fft.ifft2(T.ones(4, 4, dtype=d)),
    "irfft": lambda T, F, d: T.fft.irfft(T.ones(4, dtype=d)),
    "hfft": lambda T, F, d: T.fft.hfft(T.ones(4, dtype=d)),
    "rfft": lambda T, F, d: T.fft.rfft(T.ones(4, dtype=d)),
    "ihfft": lambda T, F, d: T.fft.ihfft(T.ones(4, dtype=d)),
    "matrix_exp": lambda T, F, d: T.matrix_exp(T.eye(2, dtype=d)),
    "cumsum": lambda T, F, d: T.cumsum(T.ones(2), 0, dtype=d),
    "rms_norm": lambda T, F, d: F.rms_norm(T.ones(2, 3, dtype=d), (3, )),
    "rms_norm weight": lambda T, F, d: F.rms_norm(T.ones(2, 3), (3, ), T.ones(3, dtype=d)),
    "embedding_bag 2d": lambda T, F, d: F.embedding_bag(T.tensor([[0, 1]]), T.ones(3, 2, dtype=d)),
    "embedding": lambda T, F, d: F.embedding(T.ones(2, dtype=d), T.ones(3, 2)),
    "trapezoid": lambda T, F, d: T.trapezoid(T.ones(2, dtype=d)),
    "trapezoid x": lambda T, F, d: T.trapezoid(T.ones(2), T.ones(2, dtype=d)),
    "interpolate": lambda T, F, d: F.interpolate(T.ones(1, 1, 2, 2, dtype=d), scale_factor=2.),
    "interpolate bilinear": lambda T, F, d: F.interpolate(T.ones(1, 1, 2, 2, dtype=d), scale_factor=2., mode="bilinear"),
    "grid_sample": lambda T, F, d: F.grid_sample(T.ones(1, 1, 2, 2, dtype=d), T.ones(1, 1, 1, 2, dtype=d)),
    "ctc": lambda T, F, d: F.ctc_loss(T.ones(4, 2, 3, dtype=d), T.tensor([[1, 2], [1, 1]]), T.tensor([4, 4]), T.tensor([2, 1])),
    "pdist": lambda T, F, d: F.pdist(T.ones(3, 2, dtype=d)),
    "cdist": lambda T, F, d: T.cdist(T.ones(3, 2, dtype=d), T.ones(3, 2, dtype=d)),
    "glu": lambda T, F, d: F.glu(T.ones(4, dtype=d)),
    "softmax": lambda T, F, d: F.softmax(T.ones(4, dtype=d), 0),
    "conv1d": lambda T, F, d: F.conv1d(T.ones(1, 1, 4, dtype=d), T.ones(1, 1, 2, dtype=d)),
    "conv2d dilated": lambda T, F, d: F.conv2d(T.ones(1, 1, 4, 4, dtype=d), T.ones(1, 1, 2, 2, dtype=d), dilation=2),
    "conv2d of nothing": lambda T, F, d: F.conv2d(T.ones(0, 1, 4, 4, dtype=d), T.ones(1, 1, 2, 2, dtype=d)),
    "conv3d": lambda T, F, d: F.conv3d(T.ones(1, 1, 2, 2, 2, dtype=d), T.ones(1, 1, 2, 2, 2, dtype=d)),
    "conv3d 1": lambda T, F, d: F.conv3d(T.ones(1, 1, 2, 2, 2, dtype=d), T.ones(1, 1, 1, 1, 1, dtype=d)),
    "conv_transpose1d": lambda T, F, d: F.conv_transpose1d(T.ones(1, 1, 4, dtype=d), T.ones(1, 1, 2, dtype=d)),
    "conv_transpose3d": lambda T, F, d: F.conv_transpose3d(T.ones(1, 1, 2, 2, 2, dtype=d), T.ones(1, 1, 2, 2, 2, dtype=d)),
    "fractional_max_pool2d": lambda T, F, d: F.fractional_max_pool2d(T.ones(1, 4, 4, dtype=d), 2, 2),
    "fractional_max_pool3d": lambda T, F, d: F.fractional_max_pool3d(T.ones(1, 4, 4, 4, dtype=d), 2, 2),
    "index_reduce": lambda T, F, d: T.index_reduce(T.ones(2, dtype=d), 0, T.tensor([1]), T.ones(1, dtype=d), "prod"),
    "index_reduce prod": lambda T, F, d: T.index_reduce(T.ones(2, 2, dtype=d), 0, T.tensor([1]), T.ones(1, 2, dtype=d), "prod"),
    "index_reduce mean": lambda T, F, d: T.index_reduce(T.ones(2, 2, dtype=d), 0, T.tensor([1]), T.ones(1, 2, dtype=d), "mean"),
    "index_reduce amax": lambda T, F, d: T.index_reduce(T.ones(2, 2, dtype=d), 0, T.tensor([1]), T.ones(1, 2, dtype=d), "amax"),
    "index_reduce others": lambda T, F, d: T.index_reduce(T.ones(2, 2, dtype=d), 0, T.tensor([1]), T.ones(1, 2, dtype=d), "amin",
                                                          include_self=False),
    "scatter_reduce mean": lambda T, F, d: T.scatter_reduce(T.ones(2, dtype=d), 0, T.tensor([1]), T.ones(1, dtype=d), "mean"),
}


def told_of(T, call, dtype):
    """The same for functions of layers, of which some are namespaces' and take more than one tensor."""
    try:
        return str(getattr(LAYERS[call](T, T.nn.functional, getattr(T, dtype)), "dtype", "several"))
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", LAYERS)
def test_a_layer_without_a_kernel_for_a_type_refuses_it(call):
    torch = pytest.importorskip("torch")
    assert {d: told_of(jtensor, call, d) for d in (*TYPES, "int32")} == {d: told_of(torch, call, d) for d in (*TYPES, "int32")}


@pytest.mark.parametrize("call", CALLS)
def test_a_type_without_a_kernel_is_refused(call):
    torch = pytest.importorskip("torch")
    assert {d: told(jtensor, call, d) for d in TYPES} == {d: told(torch, call, d) for d in TYPES}


def test_the_words_without_pytorch():
    for call, dtype, words in (("airy_ai", "bfloat16", '"airy_ai_cpu" not implemented for \'BFloat16\''),
                               ("hermite_polynomial_h", "complex64", '"hermite_polynomial_h_cpu" not implemented for \'ComplexFloat\''),
                               ("gammainc", "int64", '"igamma_cpu" not implemented for \'Long\'')):
        assert told(jtensor, call, dtype) == ("NotImplementedError", words)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("parameters", [None, "own", "float32"])
def test_statistics_of_half_precision(dtype, parameters):
    """They are rounded where no parameter is of single precision, and the gradient is made of what is rounded."""
    torch = pytest.importorskip("torch")

    def seen(T):
        x = (T.arange(24.).view(2, 4, 3) ** 2 / 7 - 9).to(getattr(T, dtype)).requires_grad_()
        kind = x.dtype if parameters == "own" else T.float32
        w3, w4 = (None if parameters is None else T.linspace(.5, 1.5, n).to(kind) for n in (3, 4))
        layer, group = T.native_layer_norm(x, (3,), w3, None, 1e-5), T.native_group_norm(x, w4, None, 2, 4, 3, 2, 1e-5)
        (layer[0] * T.arange(24.).view(2, 4, 3).to(x.dtype)).sum().backward()
        return [(str(t.dtype)[-8:], t.shape) for t in (*layer, *group)], [t.tolist() for t in (*layer[1:], x.grad)]
    (kinds, numbers), (our_kinds, ours) = seen(torch), seen(jtensor)
    assert our_kinds == kinds
    for a, b in zip(numbers, ours, strict=True):
        torch.testing.assert_close(torch.tensor(b), torch.tensor(a), rtol=1e-6, atol=5e-5)
