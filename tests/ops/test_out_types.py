"""``out=`` of another type, and grids of several types: refused in PyTorch's words, or taken."""
import pytest

import jtensor

CALLS = [f"torch.{name}({given}, out=torch.zeros(2, dtype=torch.{kind}))"
         for name in "neg sign sgn floor ceil round trunc bitwise_not signbit sqrt square logical_not".split()
         for given in ("i", "f") for kind in ("float64", "int16", "int64") if name != "bitwise_not" or given == "i"] + [
    "torch.meshgrid(i, f, indexing='ij')", "torch.meshgrid(f, i, indexing='zz')", "torch.meshgrid(f, f, indexing='zz')",
    "torch.meshgrid(f, M, i)", "torch.meshgrid(f, f, indexing='xy')"] + [
    f"torch.nn.functional.{call}, out=torch.zeros(2, dtype=torch.{kind}))" for kind in ("float32", "float64", "int32")
    for call in ("gelu(f", "gelu(f, approximate='tanh'", "softplus(f", "softshrink(f", "hardshrink(f, 2.", "logsigmoid(f",
                 "avg_pool2d(M[None], 2", "avg_pool3d(M[None, None], (1, 1, 2)")] + [
    "torch.threshold(f, 1, 2, out=torch.zeros(2, dtype=torch.float64))", "torch.threshold(f, 1, 2, out=torch.zeros(2, dtype=torch.int32))",
    "torch.argsort(-i, stable=True, out=torch.zeros(2, dtype=torch.int64))", "torch.argsort(i, stable=True, out=torch.zeros(2))",
    "torch.frexp(f, out=(torch.ones(2), torch.ones(2)))", "torch.frexp(f, out=(torch.ones(2).double(), torch.ones(2).int()))",
    "torch.nonzero_static(f, size=1, out=torch.ones(1, 1))", "torch.heaviside(f, f, out=torch.ones(2) * 1j)",
    "torch.heaviside(f, f, out=torch.ones(2).double())",
    "torch.orgqr(M, torch.ones(2), out=torch.zeros(2, 2, dtype=torch.float64))",
    "torch.native_batch_norm(M, None, None, None, None, True, 0.1, 1., out=(torch.zeros(0), torch.zeros(0), torch.zeros(0)))",
    "torch.native_batch_norm(M, None, None, f, f, False, 0.1, 1., out=(torch.zeros(0), torch.zeros(0), torch.zeros(0)))"]

CALLS += [f"torch.{call}, out=torch.zeros(0, dtype=torch.{kind})).dtype" for kind in ("float64", "complex64", "int32", "bool") for call in (
    "cholesky(S", "cholesky_inverse(S", "cholesky_solve(S, S", "linalg.cond(S", "linalg.cond(S, 'fro'", "linalg.eigvals(S",
    "linalg.householder_product(S, f", "linalg.matrix_power(S, 0", "linalg.matrix_power(S, 1", "linalg.matrix_power(S, 3",
    "linalg.matrix_rank(S", "linalg.pinv(S", "linalg.tensorinv(S, 1", "linalg.tensorsolve(S, f", "ormqr(S, f, S",
    "linalg.solve_triangular(S, S, upper=True", "addbmm(S, S[None], S[None]")]
CALLS += [f"torch.{call}, out=({', '.join(f'torch.zeros(0, dtype=torch.{kind})' for kind in kinds.split())}))[0].dtype" for call, kinds in (
    ("linalg.eig(S", "complex128 complex64"), ("linalg.eig(S", "complex64 float32"), ("geqrf(S", "int32 float32"),
    ("geqrf(S", "float32 int32"), ("linalg.lstsq(S, S", "float64 float32 int32 float32"),
    ("linalg.lstsq(S, S", "float32 float32 bool float32"))]


def outcomes(torch, call):
    try:
        return str(eval(call, {"torch": torch, "i": torch.arange(2), "f": torch.ones(2), "M": torch.ones(2, 2),
                               "S": torch.eye(2)}))
    except (TypeError, RuntimeError) as error:
        return f"{type(error).__name__} {error}"


@pytest.mark.filterwarnings("ignore")
def test_types_are_refused_in_pytorchs_words():
    torch = pytest.importorskip("torch")
    assert {call: outcomes(jtensor, call) for call in CALLS} == {call: outcomes(torch, call) for call in CALLS}
