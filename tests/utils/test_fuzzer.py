"""`torch.utils.benchmark.Fuzzer`: the same sets of tensors from the same seed as PyTorch's."""
import pytest

import jtensor


def sets(T, seed, count=5):
    B, M = T.utils.benchmark, T
    fuzzer = B.Fuzzer(
        parameters=[B.FuzzedParameter("dims", 1, 3, "uniform", strict=True), B.FuzzedParameter("rate", 0.5, 2.0, "uniform"),
                    [B.FuzzedParameter(f"k{i}", 1, 40, "loguniform") for i in range(3)], B.FuzzedParameter("step", 1, 3, "uniform")],
        tensors=[B.FuzzedTensor("x", ("k0", "k1", "k2"), ("step", 2), 0.4, min_elements=4, max_elements=500, dim_parameter="dims"),
                 [B.FuzzedTensor("y", ("k1", 2), dtype=M.int64, max_allocation_bytes=400),
                  B.FuzzedTensor("z", (2,), tensor_constructor=lambda size, dtype, step, **rest: M.full(size, float(step), dtype=dtype))]],
        constraints=[lambda given: given["k0"] != 3], seed=seed)
    return [({name: (t.tolist(), t.stride(), str(t.dtype)) for name, t in made.items()},
             {name: {key: str(value) for key, value in what.items()} for name, what in told.items()}, params)
            for made, told, params in fuzzer.take(count)], fuzzer.rejection_rate


@pytest.mark.parametrize("seed", range(4))
def test_sets_are_pytorchs(seed):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.utils.benchmark")
    assert sets(jtensor, seed) == sets(torch, seed)


def test_aliases_and_distributions():
    B = jtensor.utils.benchmark
    some = B.Fuzzer([B.FuzzedParameter("n", 4, 9, "uniform"), B.FuzzedParameter("m", distribution={1: 0.5, B.ParameterAlias("n"): 0.5})],
                    [B.FuzzedTensor("x", ("m",))], seed=1)
    found = [(params["n"], params["m"], made["x"].shape) for made, _, params in some.take(12)]
    assert {m == n for n, m, _ in found} == {True, False} and all(m in (1, n) and shape == (m,) for n, m, shape in found)
    assert repr(B.ParameterAlias("n")) == "ParameterAlias[alias_to: n]"


def test_what_is_refused():
    B = jtensor.utils.benchmark
    for error, text, make in (
            (AssertionError, "Unknown distribution: normal", lambda: B.FuzzedParameter("n", 1, 2, "normal")),
            (AssertionError, "cannot be negative", lambda: B.FuzzedParameter("n", distribution={1: -1, 2: 2})),
            (AssertionError, "not normalized", lambda: B.FuzzedParameter("n", distribution={1: 0.5})),
            (AssertionError, "'maxval' must be None", lambda: B.FuzzedParameter("n", maxval=2, distribution={1: 1.0})),
            (ValueError, "Duplicate names", lambda: B.Fuzzer([B.FuzzedParameter("n", 1, 2, "uniform")], [B.FuzzedTensor("n", (1,))])),
            (ValueError, "cycle detected",
             lambda: next(B.Fuzzer([B.FuzzedParameter("n", distribution={B.ParameterAlias("n"): 1})], []).take(1))),
            (ValueError, "Failed to generate", lambda: next(B.Fuzzer([], [B.FuzzedTensor("x", (2,), min_elements=3)]).take(1)))):
        with pytest.raises(error, match=text):
            make()
