"""A line search for LBFGS: a point along a direction where the strong Wolfe conditions hold (Nocedal and Wright, 3.5 and 3.6)."""
from typing import NamedTuple

import jtensor


class _Point(NamedTuple):
    """One place along the direction: step length, value, gradient, and its slope along the direction."""

    t: object
    f: float
    g: object
    slope: object


def _cubic(a, b, bounds=None):
    """The minimum of the cubic through two points with their slopes, within bounds; their middle where there is none."""
    low, high = bounds if bounds is not None else (a.t, b.t) if a.t <= b.t else (b.t, a.t)
    d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1 ** 2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if a.t <= b.t:
        best = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        best = a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(best, low), high)


class _Search:
    """One search: the function, the direction, and how often it was evaluated."""

    def __init__(self, evaluate, d, f, slope, c1, c2):
        self.evaluate, self.d, self.f, self.slope, self.c1, self.c2 = evaluate, d, f, slope, c1, c2
        self.evaluations = 0

    def at(self, t):
        f, g = self.evaluate(t)
        self.evaluations += 1
        return _Point(t, f, g.clone(memory_format=jtensor.contiguous_format), g.dot(self.d))

    def too_high(self, point):
        return point.f > self.f + self.c1 * point.t * self.slope

    def flat(self, point):
        return abs(point.slope) <= -self.c2 * self.slope

    def bracket(self, t, start, max_ls):
        """Goes further and further out: (the two ends of an interval with a good point in it, or one good point; iterations)."""
        previous, point, iteration = start, self.at(t), 0
        while iteration < max_ls:
            if self.too_high(point) or (iteration > 1 and point.f >= previous.f):
                return [previous, point], iteration
            if self.flat(point):
                return [point], iteration
            if point.slope >= 0:
                return [previous, point], iteration
            further = _cubic(previous, point, bounds=(point.t + 0.01 * (point.t - previous.t), point.t * 10))
            previous, point = point, self.at(further)
            iteration += 1
        return [start, point], iteration

    def zoom(self, ends, iteration, max_ls, tolerance_change):
        """Narrows the interval down: the best point found."""
        width = self.d.abs().max()
        stuck = False
        low, high = (0, 1) if ends[0].f <= ends[-1].f else (1, 0)
        while iteration < max_ls and not abs(ends[1].t - ends[0].t) * width < tolerance_change:
            t = _cubic(ends[0], ends[1])
            t, stuck = self._away_from_ends(t, ends, stuck)
            point = self.at(t)
            iteration += 1
            if self.too_high(point) or point.f >= ends[low].f:
                ends[high] = point
                low, high = (0, 1) if ends[0].f <= ends[1].f else (1, 0)
                continue
            done = self.flat(point)
            if not done and point.slope * (ends[high].t - ends[low].t) >= 0:
                ends[high] = ends[low]
            ends[low] = point
            if done:
                break
        return ends[low]

    @staticmethod
    def _away_from_ends(t, ends, stuck):
        """Keeps a point a tenth of the interval away from its ends, if it has come too near twice or lies outside."""
        left, right = min(e.t for e in ends), max(e.t for e in ends)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) >= margin:
            return t, False
        if not (stuck or t >= right or t <= left):
            return t, True
        return (right - margin if abs(t - right) < abs(t - left) else left + margin), False


def strong_wolfe(evaluate, t, d, f, g, slope, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """(value, gradient, step length, number of evaluations) along ``d``; ``evaluate(t)`` gives value and gradient."""
    search = _Search(evaluate, d, f, slope, c1, c2)
    start = _Point(0, f, g.clone(memory_format=jtensor.contiguous_format), slope)
    ends, iteration = search.bracket(t, start, max_ls)
    best = ends[0] if len(ends) == 1 else search.zoom(ends, iteration, max_ls, tolerance_change)
    return best.f, best.g, best.t, search.evaluations


def cubic_interpolate(x1, f1, g1, x2, f2, g2, bounds=None):
    """The place of the minimum of the cubic with these values and slopes at two places, within bounds."""
    return _cubic(_Point(x1, f1, None, g1), _Point(x2, f2, None, g2), bounds)
