"""Sample inputs of the numerical families, by public name, for the laws of this folder. Values are plain lists, so that both libraries can
take them."""
import math

INF, NAN = math.inf, math.nan
MIXED = [-2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.5, 3.0, -0.7, 0.3, 6.0, -3.0, 40.0]
SPECIAL = [*MIXED, INF, -INF, NAN]
POSITIVE = [0.1, 0.5, 1.0, 1.5, 2.5, 3.0, 9.0, 40.0]
UNIT = [-0.9, -0.5, 0.0, 0.3, 0.75, 0.99]
ABOVE_ONE = [1.1, 1.5, 2.0, 7.0]
A = [[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]]
B = [[0.5, 2.0, -1.5], [3.0, -0.75, 4.0]]
P = [[0.5, 2.0, 1.5], [3.0, 0.75, 4.0]]
WHOLE = [[-7, -3, 4], [0, 5, 12]]
DIVISORS = [[2, 3, -5], [7, -2, 4]]

# name: inputs of one call each; a list is a tensor
UNARY = {
    **dict.fromkeys("neg abs sign sgn exp exp2 expm1 sin cos atan sinh cosh asinh tanh sigmoid relu floor ceil trunc round frac nan_to_num "
                    "square reciprocal deg2rad rad2deg sinc erf erfc angle logical_not".split(), SPECIAL),
    **dict.fromkeys("sqrt rsqrt log log2 log10 log1p lgamma digamma i0".split(), POSITIVE),
    **dict.fromkeys("asin acos atanh erfinv logit".split(), UNIT), "acosh": ABOVE_ONE, "tan": UNIT,
}
BINARY = {
    **dict.fromkeys("add sub mul div maximum minimum fmax fmin hypot atan2 copysign logaddexp logaddexp2 remainder fmod "
                    "eq ne lt le gt ge logical_and logical_or logical_xor nextafter xlogy ldexp".split(), (A, B)),
    "pow": (P, B),
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor gcd lcm floor_divide".split(), (WHOLE, DIVISORS)),
    **dict.fromkeys("bitwise_left_shift bitwise_right_shift".split(), (WHOLE, [[1, 2, 3], [0, 4, 5]])),
}
WITH_NUMBER = {name: [(A, 2), (A, -0.7), (WHOLE, 3)] for name in
               "add sub mul div rsub remainder fmod copysign eq lt ge clamp_min clamp_max xlogy".split()}
WITH_NUMBER["pow"] = [(P, 0), (P, 1), (P, 2), (P, 3), (P, -2), (P, 0.5), (P, -0.5), (P, 2.7), (WHOLE, 2)]

# public name: (positional arguments, keyword arguments); the first argument is a tensor
REDUCTIONS = {
    "sum": [((A,), {}), ((A, 1), {}), ((A, (0, 1), True), {}), ((WHOLE,), {})],
    "mean": [((A,), {}), ((A, 0), {})],
    "prod": [((A,), {}), ((A, 1), {}), (([[0.0, 2.0], [0.0, 0.0]], 1), {})],
    "var": [((A,), {}), ((A, 1), {"correction": 0})],
    "std": [((A,), {}), ((A, 0, False), {}), (([[2.0, 2.0], [1.0, 3.0]], 1), {})],
    "var_mean": [((A, 1), {})],
    "std_mean": [((A, 1), {})],
    "amax": [((A, 1), {}), (([[1.0, 1.0], [0.0, 2.0]], 1, True), {})],
    "amin": [((A,), {})],
    "max": [((A,), {}), ((A, 1), {}), ((A, 0, True), {}), (([[1.0, 1.0, 0.0]], 1), {}), (([1.0, 1.0, 0.0],), {})],
    "min": [((A,), {}), ((A, 1), {}), ((WHOLE, 0), {})],
    "argmax": [((A,), {}), ((A, 1), {})],
    "argmin": [((A, 0, True), {})],
    "aminmax": [((A,), {"dim": 1})],
    "all": [((WHOLE,), {}), ((WHOLE, 1), {})],
    "any": [((WHOLE, 0), {})],
    "count_nonzero": [((WHOLE,), {}), ((WHOLE, 1), {})],
    "logsumexp": [((A, 1), {}), (([[-INF, -INF]], 1), {})],
    "norm": [((A,), {}), ((A, 1), {}), ((A, 3, 1), {}), ((A, INF, 0), {}), (([0.0, 0.0],), {})],
    "nansum": [(([1.0, NAN],), {})],
    "median": [((A,), {}), ((A, 1), {}), (([4.0, 1.0, 2.0, 3.0],), {})],
    "nanmedian": [(([NAN, 1.0, 2.0],), {})],
    "quantile": [((A, 0.3), {}), ((A, 0.5, 1), {"interpolation": "nearest"}), ((A, [0.2, 0.5, 0.9], 1), {"keepdim": True})],
    "dist": [((A, B), {}), ((A, B, 1), {})],
    "softmax": [((A, 1), {})],
    "log_softmax": [((A, 0), {})],
    "cumsum": [((A, 1), {}), ((WHOLE, 0), {})],
    "cumprod": [((A, 1), {}), (([2.0, 0.0, 3.0, 0.0, 4.0], 0), {})],
    "cummax": [((A, 1), {})],
    "cummin": [(([3.0, 1.0, 1.0, 2.0], 0), {})],
    "logcumsumexp": [((A, 1), {})],
    "diff": [((A,), {}), ((A, 2), {})],
    "clamp": [((A, -1, 1), {}), ((A, None, 0.5), {}), ((A, B), {})],
    "lerp": [((A, B, 0.3), {}), ((A, B, P), {})],
    "addcmul": [((A, B, P), {"value": 0.5})],
    "addcdiv": [((A, B, P), {"value": 2})],
    "renorm": [((A, 2, 0, 1.0), {})],
    "mvlgamma": [((P, 1), {})],
    "isclose": [((A, B), {})],
    "heaviside": [(([-1.0, 0.0], [0.5]), {})],
}
