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


@pytest.mark.parametrize("call", CALLS)
def test_a_type_without_a_kernel_is_refused(call):
    torch = pytest.importorskip("torch")
    assert {d: told(jtensor, call, d) for d in TYPES} == {d: told(torch, call, d) for d in TYPES}


def test_the_words_without_pytorch():
    for call, dtype, words in (("airy_ai", "bfloat16", '"airy_ai_cpu" not implemented for \'BFloat16\''),
                               ("hermite_polynomial_h", "complex64", '"hermite_polynomial_h_cpu" not implemented for \'ComplexFloat\''),
                               ("gammainc", "int64", '"igamma_cpu" not implemented for \'Long\'')):
        assert told(jtensor, call, dtype) == ("NotImplementedError", words)
