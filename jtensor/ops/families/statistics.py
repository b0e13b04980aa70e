"""Statistics of samples: cov, corrcoef, gradient, histogram.

Owns: compositions of other operators; histograms are counted on the host, since PyTorch does not differentiate them.
May not know: tensors as objects, but through their public methods.
"""
import numpy as np

from ...base import dtypes, sites
from ..operator import OptTensor, Tensor, Tensors, op
from ..registry import composite
from .create import evenly_on_the_host
from .numeric import not_implemented, wrap_dim

# -- covariance -------------------------------------------------------------------------------------------------------


def _check_weights(name, weights, count, whole):
    if weights.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} "
                           "dimensions")
    if whole and weights.dtype.category != 1:
        raise RuntimeError("cov(): expected fweights to have integral dtype but got fweights with "
                           f"{dtypes.scalar_name(weights.dtype)} dtype")
    if not whole and weights.dtype.category != 2:
        raise RuntimeError("cov(): expected aweights to have floating point dtype but got aweights with "
                           f"{dtypes.scalar_name(weights.dtype)} dtype")
    if weights.numel() != count:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but got "
                           f"{weights.numel()} != {count}")
    if weights.numel() and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composite(asked=True)
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariances of the rows (variables) over the columns (observations), which may be weighted by frequency or importance.

    >>> torch.cov(torch.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions")
    if input.dtype is dtypes.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input.reshape(1, -1) if input.ndim < 2 else input
    count = x.shape[1]
    weights = None
    if fweights is not None:
        _check_weights("fweights", fweights, count, True)
        weights = fweights
    if aweights is not None:
        _check_weights("aweights", aweights, count, False)
        weights = aweights if weights is None else weights * aweights
    if weights is not None and count and not bool(weights.sum() != 0):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    total = count if weights is None else weights.sum()
    middle = (x.sum(1) if weights is None else (x * weights).sum(1)) / total
    if weights is None or aweights is None or correction == 0:
        left = total - correction
    else:
        left = total - correction * (weights * aweights).sum() / total
    left = _not_negative(left)
    away = x - middle.unsqueeze(1)
    weighted = away if weights is None else away * weights
    return (away @ weighted.t().conj() / left).squeeze()


def _not_negative(left):
    if isinstance(left, (int, float)):
        if left <= 0:
            sites.warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")
        return left if left > 0 else 0
    return left.clamp_min(0)


@composite(asked=True)
def corrcoef(input):
    """The correlations of the rows over the columns, between -1 and 1.

    >>> torch.corrcoef(torch.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions")
    c = cov(input)
    if c.ndim == 0:
        return c / c
    deviation = c.diagonal()
    deviation = (deviation.real if c.dtype.is_complex else deviation).sqrt()
    c = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    if c.dtype.is_complex:
        import importlib
        return importlib.import_module("jtensor").complex(c.real.clip(-1, 1), c.imag.clip(-1, 1))
    return c.clip(-1, 1)


# -- numerical derivative ---------------------------------------------------------------------------------------------

def _derivative(x, axis, spacing, order):
    """Second order differences inside, of order ``order`` at the ends."""
    n = x.shape[axis]

    def part(start, stop):
        return x.narrow(axis, start, stop - start)
    if isinstance(spacing, (int, float, complex)):
        inside = (part(2, n) - part(0, n - 2)) / (2 * spacing)
        if order == 1:
            first, last = (part(1, 2) - part(0, 1)) / spacing, (part(n - 1, n) - part(n - 2, n - 1)) / spacing
        else:
            first = (-1.5 * part(0, 1) + 2 * part(1, 2) - 0.5 * part(2, 3)) / spacing
            last = (1.5 * part(n - 1, n) - 2 * part(n - 2, n - 1) + 0.5 * part(n - 3, n - 2)) / spacing
        return _joined([first, inside, last], axis)
    gaps = spacing.narrow(0, 1, n - 1) - spacing.narrow(0, 0, n - 1)
    shape = [1] * x.ndim
    shape[axis] = -1
    left, right = gaps.narrow(0, 0, n - 2).reshape(shape), gaps.narrow(0, 1, n - 2).reshape(shape)
    a, b, c = -right / (left * (left + right)), (right - left) / (left * right), left / (right * (left + right))
    inside = part(0, n - 2) * a + part(1, n - 1) * b + part(2, n) * c
    if order == 1:
        first, last = (part(1, 2) - part(0, 1)) / gaps[0], (part(n - 1, n) - part(n - 2, n - 1)) / gaps[n - 2]
    else:
        h, k = gaps[0], gaps[1]
        first = -(2 * h + k) / (h * (h + k)) * part(0, 1) + (h + k) / (h * k) * part(1, 2) - h / (k * (h + k)) * part(2, 3)
        h, k = gaps[n - 3], gaps[n - 2]
        last = (k / (h * (h + k)) * part(n - 3, n - 2) - (k + h) / (h * k) * part(n - 2, n - 1)
                + (2 * k + h) / (k * (h + k)) * part(n - 1, n))
    return _joined([first, inside, last], axis)


def _joined(parts, axis):
    import importlib
    return importlib.import_module("jtensor").cat(parts, axis)


@composite(method=False)
def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """The derivatives along dimensions by second order differences; ``spacing``: one distance, or one or coordinates for each.

    >>> torch.gradient(torch.tensor([1., 4., 9., 16.]))[0]
    tensor([3., 4., 6., 7.])
    """
    if input.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    axes = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if axes and not input.ndim:
        raise IndexError(f"Dimension specified as {axes[0]} but tensor has no dimensions")
    axes = [wrap_dim(d, input.ndim) for d in axes]
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim {next(d for d in axes if axes.count(d) > 1)} appears multiple times in the list of dims")
    spacing = 1 if spacing is None else spacing
    spacings = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(axes)
    if len(spacings) != len(axes):
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
                           f"{input.ndim}', since dim argument was not given, but got a list of length {len(spacings)}"
                           if dim is None else "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
                           f"arguments to have the same length, but got a spacing argument of length {len(spacings)} and a dim argument of "
                           f"length {len(axes)}.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in axes:
        if input.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    for s, d in zip(spacings, axes):
        if isinstance(s, (int, float, complex)):
            continue
        if s.ndim != 1:
            raise RuntimeError(f"torch.gradient expected each element of spacing to have one dimension, but got an element with {s.ndim} "
                               "dimensions!")
        if s.shape[0] != input.shape[d]:
            raise RuntimeError("torch.gradient expected each element of spacing to have the same length as the corresponding dimension")
    return tuple(_derivative(input, d, s, edge_order) for d, s in zip(axes, spacings))


# -- histograms -------------------------------------------------------------------------------------------------------

def _limits(x, range):
    low, high = range if range is not None else (x.min(), x.max()) if x.size else (0.0, 1.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension 0's range [{low:g}, {high:g}] is not finite")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _edges(x, bins, range):
    low, high = _limits(x, range)
    return evenly_on_the_host(low, high, bins + 1, x.dtype.type)


def _ascends(edges):
    return bool((edges[1:] >= edges[:-1]).all())


def _bins_by_halving(values, edges):
    """The bin of each value by halving, -1 outside of the first and last edge: what PyTorch's search finds in edges in any order."""
    low, left = np.zeros(values.shape, np.int64), np.full(values.shape, len(edges))
    while left.any():
        half = left // 2
        beyond = (left > 0) & ~(values < edges[np.minimum(low + half, len(edges) - 1)])
        low, left = np.where(beyond, low + half + 1, low), np.where(beyond, left - half - 1, half)
    return np.where((values >= edges[0]) & (values <= edges[-1]), np.minimum(low - 1, len(edges) - 2), -1)


def _counted_in_any_order(points, edges, weight, density):
    """A histogram of points with edges that do not ascend, which NumPy refuses and PyTorch takes."""
    places = np.stack([_bins_by_halving(points[:, d], e) for d, e in enumerate(edges)])
    inside = (places >= 0).all(0)
    counted = np.zeros([len(e) - 1 for e in edges])
    np.add.at(counted, tuple(places[:, inside]), 1.0 if weight is None else weight[inside])
    if density:
        with np.errstate(all="ignore"):
            counted /= counted.sum()
            for d, e in enumerate(edges):
                counted /= np.diff(e).reshape([-1 if k == d else 1 for k in range(len(edges))])
    return counted


@op(None, name="histogram_of", sync="slices", function=False, method=False, out=True, nondiff=("self", "bins", "weight", 0, 1))
def histogram_of(self: Tensor, bins: OptTensor, count, range, weight: OptTensor, density):
    """(histogram, edges), counted on the host."""
    edges = bins if bins is not None else _edges(self, count, range)
    values, weights = self.reshape(-1).astype(np.float64), None if weight is None else weight.reshape(-1).astype(np.float64)
    if not _ascends(edges):
        return _counted_in_any_order(values[:, None], [edges.astype(np.float64)], weights, density).astype(self.dtype), edges
    with np.errstate(all="ignore"):                                         # the density of nothing
        counted, _ = np.histogram(values, bins=edges.astype(np.float64), weights=weights, density=density)
    return counted.astype(self.dtype), edges


@composite(asked=True)
def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """``(hist, bin_edges)``: how many elements, or how much weight, falls into each bin; ``bins`` is a number or the edges.

    >>> torch.histogram(torch.tensor([1., 2., 1.]), bins=2, range=(0., 3.)).hist
    tensor([2., 1.])
    """
    whole = isinstance(bins, int)
    if whole and bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if range is not None and range[0] > range[1]:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {range[0]:g} max {range[1]:g} for dimension 0")
    _check_weight((*input.shape, 1), input.dtype, weight)
    if not whole:
        _check_edges(1, input.dtype, [bins])
    if input.dtype.name not in ("float32", "float64"):
        raise not_implemented("histogramdd", input.dtype)
    for name, where, target in zip(("hist", "bin_edges"), ("", " for dimension 0"), out or ()):
        if target.dtype is not input.dtype:
            raise RuntimeError(f"torch.histogram: input tensor and {name} tensor should have the same dtype, but got input "
                               f"{dtypes.cpp_name(input.dtype)} and {name} {dtypes.cpp_name(target.dtype)}{where}")
    made = histogram_of(input, None if whole else bins, bins if whole else None, range, weight, density)
    from ...base.return_types import return_type
    answer = return_type("histogram", ("hist", "bin_edges"))(made)
    if out is None:
        from ...tensor.underivable import without_derivative
        without_derivative("histogram", [t for t in (input, None if whole else bins, weight) if t is not None], answer)
        return answer
    for target, value in zip(out, answer):
        target.resize_(value.shape).copy_(value)
    return return_type("histogram_out", ("hist", "bin_edges"))(out)


@op(None, name="histogramdd_of", sync="slices", function=False, method=False, nondiff=("self", "edges", "weight", 0))
def histogramdd_of(self: Tensor, edges: Tensors, weight: OptTensor, density):
    """How many points, or how much weight, lie between the edges of all dimensions; counted on the host."""
    points = self.reshape(-1, self.shape[-1]).astype(np.float64)
    edges, weights = [e.astype(np.float64) for e in edges], None if weight is None else weight.reshape(-1).astype(np.float64)
    if not all(map(_ascends, edges)):
        return _counted_in_any_order(points, edges, weights, density).astype(self.dtype)
    with np.errstate(all="ignore"):
        counted, _ = np.histogramdd(points, bins=edges, weights=weights, density=density)
    return counted.astype(self.dtype)


def _check_weight(shape, dtype, weight):
    """PyTorch's errors for a weight that is not one number for each of the points, which lie along the last dimension of ``shape``."""
    if weight is not None and tuple(weight.shape) != tuple(shape[:-1]):
        raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
                           f"its innermost dimension, but got input with shape {list(shape)} and weight with shape {list(weight.shape)}")
    if weight is not None and weight.dtype is not dtype:
        raise RuntimeError("torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, "
                           f"but got input({dtypes.cpp_name(dtype)}), and weight({dtypes.cpp_name(weight.dtype)})")


def _check_histogramdd(input, weight, range):
    n = input.shape[-1]
    _check_weight(input.shape, input.dtype, weight)
    if range is not None and len(range) != 2 * n:
        raise RuntimeError(f"torch.histogramdd: for a {n}-dimensional histogram range should have {2 * n} elements, but got {len(range)}")


def _edges_of_counts(input, bins, range):
    """Edges as far apart as each other, in each dimension; one number of bins is that of all."""
    import jtensor
    n = input.shape[-1]
    bins = [bins] * n if isinstance(bins, int) else list(bins)
    if len(bins) != n:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    for d, count in enumerate(bins):
        if count <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {d}")
    points, edges = input.detach().reshape(-1, n), []
    for d, count in enumerate(bins):
        low, high = range[2 * d:2 * d + 2] if range is not None else (
            (points[:, d].min().item(), points[:, d].max().item()) if points.shape[0] else (0.0, 1.0))
        if not (np.isfinite(low) and np.isfinite(high)):
            raise RuntimeError(f"torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {d}")
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        edges.append(jtensor.linspace(low, high, count + 1, dtype=input.dtype, device=input.device))
    return edges


def _check_edges(n, dtype, bins):
    if len(bins) != n:
        raise RuntimeError(f"torch.histogramdd: expected {n} sequences of bin edges for a {n}-dimensional histogram but got {len(bins)}")
    for d, edges in enumerate(bins):
        if edges.dtype is not dtype:
            raise RuntimeError("torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                               f"{dtypes.cpp_name(dtype)} and bins for dimension {d} with dtype {dtypes.cpp_name(edges.dtype)}")
        if edges.ndim != 1:
            raise RuntimeError(f"torch.histogramdd: bins tensor should have one dimension, but got {edges.ndim} dimensions in the bins "
                               f"tensor for dimension {d}")
        if not edges.numel():
            raise RuntimeError("torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
                               f"dimension {d}")


@composite(method=False, asked=True)
def histogramdd(input, bins, range=None, weight=None, density=False):
    """``(hist, bin_edges)`` of points ``(*, N)``: ``bins`` is a number, one for each dimension, or the edges in each.

    >>> torch.histogramdd(torch.tensor([[0., 1.], [1., 0.], [2., 2.]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    if input.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    counts = isinstance(bins, int) or all(isinstance(b, int) for b in bins)
    _check_histogramdd(input, weight, range)
    if not counts:
        _check_edges(input.shape[-1], input.dtype, bins)
    if input.dtype.name not in ("float32", "float64"):
        raise not_implemented("histogramdd", input.dtype)
    from ...base.return_types import return_type
    from ...tensor.underivable import without_derivative
    weights = () if weight is None else (weight,)
    if counts:
        edges = _edges_of_counts(input, bins, range)
        without_derivative("_histogramdd_bin_edges", (input, *weights), edges)
    else:
        edges = [e.clone() for e in bins]
    made = histogramdd_of(input, edges, weight, density)
    name = "_histogramdd_from_bin_cts" if counts else "_histogramdd_from_bin_tensors"
    without_derivative(name, (input, *(() if counts else bins), *weights), (made,))
    return return_type("histogramdd", ("hist", "bin_edges"))((made, tuple(edges)))
