"""An index that is expanded to the other dimensions moves whole slices: the same numbers as by an index that spells them out."""
import numpy as np
import pytest

import jtensor as torch
from jtensor.ops.families.scatter import one_of_each

DRAWS = np.random.default_rng(5)
SHAPE = 4, 5, 3


def given(dim, count=7, dtype=torch.float32):
    """(a tensor, an index along ``dim`` as a view of a vector, a source)."""
    size = [*SHAPE]
    size[dim] = count
    along = torch.from_numpy(DRAWS.integers(0, SHAPE[dim], count))
    index = along.reshape([-1 if d == dim % 3 else 1 for d in range(3)]).expand(size)
    numbers = DRAWS.integers(-3, 4, SHAPE), DRAWS.integers(-3, 4, size)
    return *(torch.from_numpy(n).to(dtype) for n in numbers), along, index


CALLS = {
    "gather": lambda x, d, i, s: x.gather(d, i), "scatter_add": lambda x, d, i, s: x.scatter_add(d, i, s),
    "out": lambda x, d, i, s: torch.scatter_add(x, d, i, s, out=torch.empty_like(x)),
    "scatter_add_": lambda x, d, i, s: x.clone().scatter_add_(d, i, s), "take_along_dim": lambda x, d, i, s: torch.take_along_dim(x, i, d),
    **{f"{how} {itself}": lambda x, d, i, s, how=how, itself=itself: x.scatter_reduce(d, i, s, how, include_self=itself)
       for how in ("sum", "prod", "mean", "amax", "amin") for itself in (True, False)},
    "scatter_reduce_": lambda x, d, i, s: x.clone().scatter_reduce_(d, i, s, "amax", include_self=False),
}


def assert_same(one, other):
    assert one.dtype is other.dtype and one.shape == other.shape and one.stride() == other.stride()
    assert np.array_equal(one.detach().double().numpy(), other.detach().double().numpy(), equal_nan=True)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name, dim):
    x, source, _, index = given(dim)
    assert one_of_each(x, dim, index, source)[1] and not one_of_each(x, dim, index.contiguous(), source)[1]
    found = []
    for i in (index, index.contiguous()):
        if name == "out":
            found.append((CALLS[name](x, dim, i, source),))
            continue
        a, b = x.clone().requires_grad_(), source.clone().requires_grad_()
        made = CALLS[name](a, dim, i, b)
        weights = torch.arange(1.0, made.numel() + 1).reshape(made.shape)
        first = torch.autograd.grad((made * made * weights).sum(), (a, b), create_graph=True, allow_unused=True)
        first = [g for g in first if g is not None]
        second = torch.autograd.grad(sum((g * g).sum() for g in first), (a, b), allow_unused=True)
        found.append((made, *first, *(g for g in second if g is not None)))
        assert made.grad_fn.name().startswith(("Gather", "Scatter"))
    assert len(found[0]) == len(found[1])
    for one, other in zip(*found, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64], ids=str)
def test_types(dtype):
    x, source, _, index = given(1, dtype=torch.int64)
    x, source = x.abs().to(dtype), source.abs().to(dtype)
    refused = ["mean"] if dtype is torch.bool else ["amax", "amin", "reduce_"] if dtype.is_complex else []
    for name in [name for name in CALLS if not any(part in name for part in refused)]:
        one, other = (CALLS[name](x, 1, i, source) for i in (index, index.contiguous()))
        assert one.dtype is other.dtype and (one == other).all()


def test_others_are_taken_element_by_element():
    x, source, along, index = given(0)
    assert not one_of_each(x, 0, index[:, :4], source[:, :4])[1]                # it covers a part
    assert not one_of_each(x, 0, index[:, :, :1].contiguous().expand(7, 5, 3), source)[1]       # it differs along the second dimension
    assert not one_of_each(x[:, 0, 0], 0, along, source[:, 0, 0])[1]
    assert not one_of_each(x, 0, index, torch.cat([source, source]))[1]
    with pytest.raises(RuntimeError, match="index 9 is out of bounds for dimension 0 with size 4"):
        x.gather(0, torch.tensor([9])[:, None, None].expand(1, 5, 3))
    with pytest.raises(RuntimeError, match="Expected index \\[7, 5, 3\\] to be no larger than self \\[4, 4, 3\\]"):
        x[:, :4].scatter_add(0, index, source)


def test_a_change_of_the_index_is_noticed():
    x, _, along, index = given(0)
    made = x.clone().requires_grad_().gather(0, index)
    along[0] = 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.sum().backward()


def test_inside_of_vmap():
    x, source, along, index = given(0)
    rows = torch.stack([along, along.flip(0)])
    many = torch.func.vmap(lambda i: x.scatter_add(0, i[:, None, None].expand(7, 5, 3), source))(rows)
    for made, one in zip(many, rows, strict=True):
        assert_same(made, x.scatter_add(0, one[:, None, None].expand(7, 5, 3).contiguous(), source))


@pytest.mark.parametrize("into", [(), (4,)])
def test_an_index_without_dimensions_takes_the_first_of_the_source(into):
    """PyTorch reads on behind the index there."""
    index, source = torch.tensor(0), torch.tensor([5., 6., 7.], requires_grad=True)
    made = torch.zeros(into).scatter_add(0, index, source)
    assert made.reshape(-1).tolist() == [5.] + [0.] * (made.numel() - 1)
    made.sum().backward()
    assert source.grad.tolist() == [1., 0., 0.]
