"""`torch.quasirandom`: points that fill a cube more evenly than random ones.

Owns: Sobol's sequence, with PyTorch's numbers and PyTorch's way to scramble it. The polynomials and the numbers that the sequence begins
with are those of Joe and Kuo, which SciPy brings along (JAX needs SciPy). May not know: how random numbers are drawn.
"""
import functools
from importlib import resources

import numpy as np

import jtensor

from .base.dtypes import scalar_name

__all__ = ["SobolEngine"]

BITS, MOST = 30, 21201


@functools.cache
def _beginnings():
    """(polynomials as bits, numbers to begin with) for each dimension."""
    with (resources.files("scipy") / "stats" / "_sobol_direction_numbers.npz").open("rb") as file:
        tables = np.load(file)
        return tables["poly"].astype(np.int64), tables["vinit"].astype(np.int64)


def _directions(count):
    """The direction numbers of the first dimensions, (count, 30) integers below 2**30."""
    polynomials, beginnings = (table[:count] for table in _beginnings())
    degrees = np.frompyfunc(int.bit_length, 1, 1)(polynomials).astype(np.int64) - 1
    numbers = np.ones((count, BITS), np.int64)
    for degree in np.unique(degrees[1:]):
        rows = np.flatnonzero(degrees == degree)
        rows = rows[rows > 0]                                          # the first dimension has ones throughout
        polynomial, v = polynomials[rows], np.zeros((len(rows), BITS), np.int64)
        v[:, :degree] = beginnings[rows, :degree]
        for at in range(degree, BITS):
            v[:, at] = v[:, at - degree]
            for back in range(1, degree + 1):
                v[:, at] ^= (polynomial >> (degree - back) & 1) * (v[:, at - back] << back)
        numbers[rows] = v
    return numbers << np.arange(BITS - 1, -1, -1)


class SobolEngine:
    """Sobol's sequence of points in the unit cube of ``dimension`` dimensions, 1 to 21201 (ValueError otherwise).

    ``scramble``: a random linear scrambling and shift of it, by ``seed`` or by the generator of `torch.manual_seed`. The points are
    PyTorch's. Its state is in attributes: ``sobolstate`` (the direction numbers), ``shift``, ``quasi`` (the last point), int64, and
    ``num_generated``.

    >>> engine = torch.quasirandom.SobolEngine(dimension=3)
    >>> engine.draw(3)
    tensor([[0.0000, 0.0000, 0.0000],
            [0.5000, 0.5000, 0.5000],
            [0.7500, 0.2500, 0.2500]])
    >>> torch.quasirandom.SobolEngine(2, scramble=True, seed=3).draw(2)
    tensor([[0.0685, 0.2245],
            [0.6215, 0.7231]])
    """

    MAXBIT, MAXDIM = BITS, MOST
    __module__ = "torch.quasirandom"

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > MOST or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {MOST}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = jtensor.tensor(_directions(dimension), device="cpu")
        self.shift = jtensor.zeros(dimension, dtype=jtensor.int64, device="cpu")
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**BITS).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self):
        """A shift, and for each dimension a lower triangular matrix of bits, with ones in its diagonal, that the bits are multiplied by."""
        generator = None if self.seed is None else jtensor.Generator().manual_seed(self.seed)
        shift, matrices = (jtensor.randint(2, (self.dimension, *size), generator=generator, device="cpu").numpy()
                           for size in ((BITS,), (BITS, BITS)))
        matrices = np.tril(matrices, -1) + np.eye(BITS, dtype=np.int64)
        places = np.arange(BITS - 1, -1, -1)
        bits = self.sobolstate.numpy()[:, :, None] >> places & 1
        self.sobolstate = jtensor.tensor((bits @ matrices.transpose(0, 2, 1) % 2 << places).sum(-1), device="cpu")
        self.shift = jtensor.tensor((shift << np.arange(BITS)).sum(1), device="cpu")

    def _next(self, count, before):
        """The last point and the ones after it as integers: each differs from the one before it by one direction number."""
        lowest = ~np.arange(before, before + count)
        steps = np.frompyfunc(int.bit_length, 1, 1)(lowest & -lowest).astype(np.int64) - 1
        return np.bitwise_xor.accumulate(np.vstack([self.quasi.numpy()[None], self.sobolstate.numpy().T[steps]]), axis=0)

    def draw(self, n=1, out=None, dtype=None):
        """The next ``n`` points, (n, dimension), of the default type unless ``dtype`` says another; ``out`` is resized for them.

        NotImplementedError for another type than float32 and float64.

        >>> torch.quasirandom.SobolEngine(1).draw(4).flatten()
        tensor([0.0000, 0.5000, 0.7500, 0.2500])
        """
        dtype = jtensor.get_default_dtype() if dtype is None else dtype
        begins = self.num_generated == 0
        more = n - begins
        if more < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {more}: [{more}, {self.dimension}]")
        result = self._first_point.to(dtype)
        if more or not begins:
            if dtype not in (jtensor.float32, jtensor.float64):
                raise NotImplementedError(f'"_sobol_engine_draw" not implemented for \'{scalar_name(dtype)}\'')
            points = self._next(more, self.num_generated - (not begins))
            self.quasi, points = (jtensor.tensor(one, device="cpu") for one in (points[-1], points[1:]))
            points = points.to(dtype).mul_(2.0**-BITS)
            result = jtensor.cat((result, points), dim=-2) if begins else points
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m, out=None, dtype=None):
        """The next ``2**m`` points. ValueError where there will not have been a power of 2 of them altogether, which keeps them balanced.

        >>> torch.quasirandom.SobolEngine(2).draw_base2(3).shape
        torch.Size([8, 2])
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been "
                             f"previously generated, then: n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                             "'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Back to the first point; answers the engine."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Leaves ``n`` points out; answers the engine.

        >>> torch.quasirandom.SobolEngine(1).fast_forward(2).draw()
        tensor([[0.7500]])
        """
        begins = self.num_generated == 0
        self.quasi.copy_(jtensor.tensor(self._next(n - begins, self.num_generated - (not begins))[-1], device="cpu"))
        self.num_generated += n
        return self

    def __repr__(self):
        said = [f"dimension={self.dimension}"] + ["scramble=True"] * bool(self.scramble)
        return f"SobolEngine({', '.join(said + [f'seed={self.seed}'] * (self.seed is not None))})"
