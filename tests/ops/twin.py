"""One expression in PyTorch and in jtensor, and everything visible compared: values, dtypes, strides, gradients, nodes, errors."""
import re

import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")


def tensors(T, shapes, requires_grad=True, seed=0):
    """Tensors of fixed random numbers; a list of integers is an index tensor, None is None."""
    random = np.random.RandomState(seed)
    made = []
    for shape in shapes:
        if isinstance(shape, list):
            made.append(T.tensor(shape))
        elif shape is None:
            made.append(None)
        else:
            numbers = T.tensor(random.randn(*shape).astype("float32").tolist())          # lists forget what stands behind a size of 0
            made.append((numbers.view(shape) if 0 in shape else numbers).requires_grad_(requires_grad))
    return made


def outcome(T, text, shapes, requires_grad):
    given = tensors(T, shapes, requires_grad)
    names = dict(zip("abcde", given))
    try:
        result = eval(text, {"T": T, "F": T.nn.functional, **names})
    except Exception as error:
        return type(error).__name__.lstrip("_"), re.sub(r"\s+", " ", str(error)), None, None
    results = result if isinstance(result, (tuple, list)) else [result]
    nodes = [type(r.grad_fn).__name__ for r in results]
    total = sum([(r.abs() if r.is_complex() else r).sum() * (k + 1) for k, r in enumerate(results) if r.requires_grad])
    if requires_grad and not isinstance(total, int):
        total.backward()
    grads = [None if t is None or t.grad is None else t.grad.tolist() for t in given]
    shown = [(str(r.dtype), tuple(r.shape), r.stride()) for r in results]
    return nodes, shown, [r.tolist() for r in results], grads


def same(text, *shapes, grad=True, tolerance=2e-5, strides=True, nodes=True):
    """Asserts that an expression in ``T``, ``F`` and ``a``, ``b``, ... comes out alike."""
    want, got = outcome(torch, text, shapes, grad), outcome(jtensor, text, shapes, grad)
    if want[2] is None:
        assert got == want, f"{text}: {got} instead of {want}"
        return
    if nodes:
        assert got[0] == want[0], text
    assert got[2] is not None, f"{text} raised {got}"
    if strides:
        assert got[1] == want[1], text
    for x, y in zip([*want[2], *(g for g in want[3])], [*got[2], *(g for g in got[3])], strict=True):
        assert (x is None) == (y is None), text
        if x is not None:
            np.testing.assert_allclose(np.asarray(y), np.asarray(x), rtol=tolerance, atol=tolerance, err_msg=text)
