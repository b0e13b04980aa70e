"""Anomaly detection looks at all the numbers of a gradient: those of each array of a batch, and those that a sparse one keeps."""
import warnings

import pytest

import jtensor
from jtensor.func import grad, vmap


def slope(x):
    return grad(lambda a: (a * 2).sqrt())(x)


def test_gradients_inside_of_a_batch():
    x = jtensor.tensor([[2.0, 0.5], [2.0, 8.0]])
    with jtensor.autograd.set_detect_anomaly(True):
        assert vmap(vmap(slope))(x).tolist() == [[0.5, 1.0], [0.5, 0.25]]
        for numbers, function in ((x[0] * jtensor.tensor([1, -1]), vmap(slope)), (-x, vmap(vmap(slope)))):
            with pytest.warns(UserWarning, match="Error detected in SqrtBackward0"), \
                    pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output."):
                function(numbers)


class Sparse(jtensor.autograd.Function):
    @staticmethod
    def forward(ctx, x, gradient):
        ctx.gradient = gradient
        return x.sum()

    @staticmethod
    def backward(ctx, _):
        return ctx.gradient, None


def test_sparse_gradients():
    table = jtensor.nn.Embedding(3, 1, sparse=True)
    with jtensor.autograd.set_detect_anomaly(True):
        table(jtensor.tensor([2, 0])).sum().backward()
        assert table.weight.grad.to_dense().tolist() == [[1.0], [0.0], [1.0]]
        broken = jtensor.sparse_coo_tensor([[1]], [[float("nan")]], (3, 1), check_invariants=True)
        loss = Sparse.apply(table.weight, broken)
        with pytest.warns(UserWarning, match="Error detected"), pytest.raises(RuntimeError, match="'SparseBackward' returned nan"):
            loss.backward()


def test_a_warning_that_is_an_error_stands_before_no_other(capsys):
    x = jtensor.tensor([-1.0], requires_grad=True)
    with warnings.catch_warnings(), jtensor.autograd.set_detect_anomaly(True):
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values"):
            x.sqrt().backward()
    assert "Error detected in SqrtBackward0" in capsys.readouterr().err
