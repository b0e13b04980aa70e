"""Powers of a complex zero, and their gradients: by the exponent's real part nothing, infinity or NaN, as PyTorch has it."""
import pytest

import jtensor

EXPONENTS = [1 + 2j, 0j, 2 + 0j, 2j, -2j, -1 + 0j, -1 + 2j, 1 - 2j, 0.5 + 0.5j, -0.5 + 0j, 1 + 0j]


def seen(T):
    found = {}
    for dtype in (T.complex64, T.complex128):
        exponents = T.tensor(EXPONENTS, dtype=dtype)
        for base in (0j, complex(-0.0, 0.0), complex(0.0, -0.0)):
            found[dtype, base] = T.pow(T.full_like(exponents, base), exponents)
        found[dtype, "numbers"] = [T.pow(T.zeros(2, dtype=dtype), e) for e in (*EXPONENTS, 0.5, 3, 2.5, -1)]
        found[dtype, "of a number"] = [T.pow(0, exponents), T.pow(0j, exponents), T.float_power(T.zeros(len(EXPONENTS)), exponents)]
        found[dtype, "of real numbers"] = [T.pow(T.zeros(2), e) for e in EXPONENTS] + [T.pow(T.tensor(0.0), exponents)]
        for value in (0, 0.5):
            leaves = T.full((len(EXPONENTS),), value, dtype=dtype, requires_grad=True), exponents.clone().requires_grad_()
            found[dtype, value, "gradients"] = list(T.autograd.grad(T.pow(*leaves).real.sum(), leaves))
    return {str(key).replace("jtensor.", "torch."): str([t.tolist() for t in (made if isinstance(made, list) else [made])])
            for key, made in found.items() if "0.5, 'gradients'" not in str(key)}


def test_powers_of_a_complex_zero():
    torch = pytest.importorskip("torch")
    ours, theirs = seen(jtensor), seen(torch)
    for case in theirs:
        assert ours[case] == theirs[case], case


def test_powers_of_a_complex_zero_without_pytorch():
    zero = jtensor.zeros(4, dtype=jtensor.complex64)
    made = (zero ** jtensor.tensor([1 + 2j, 0j, -1 + 2j, 1 - 2j])).tolist()
    assert str(made) == "[-0j, (nan+nanj), (inf+nanj), 0j]"
