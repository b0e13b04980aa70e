"""Random programs for `fence_fuzz`: what their nodes are, and how one is written.

A program is a list of nodes (operator, input positions); gradients are nodes as well, as on the tape: the vjp of one operator's body each.
"""
import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

DTYPES = "float32", "float64", "bfloat16", "float16", "complex64"


@dataclasses.dataclass(frozen=True)
class Op:
    """An operator with its static arguments, named so that a name and input types mean one kernel."""

    name: str
    function: object
    grad: bool = True

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


@dataclasses.dataclass
class Node:
    op: Op
    inputs: tuple  # positions of values
    outputs: tuple


@dataclasses.dataclass
class Program:
    inputs: dict  # position: array
    nodes: list
    values: dict  # position: what it is worth op by op
    wanted: tuple


# -- operators --------------------------------------------------------------------------------------------------------


def gelu(x):
    return 0.5 * x * (1 + lax.erf(x / np.sqrt(2).astype(x.dtype)))


def layer_norm(x, w, b):
    m = jnp.mean(x, -1, keepdims=True)
    v = jnp.mean(jnp.square(x - m), -1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5) * w + b


def looped(x, y):
    return lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c) * y + x, x)


def scanned(x):
    return lax.scan(lambda c, a: (c * 0.5 + a, jnp.exp(-c * c) + a), jnp.zeros_like(x[0]), x)[1]


def branched(x, y):
    return lax.cond(jnp.sum(x) > 0, lambda x, y: x * y + x, lambda x, y: x * x - y, x, y)


def logistic_loss(x, y):
    return jnp.maximum(x, 0) - x * y + jnp.log1p(jnp.exp(-jnp.abs(x)))


UNARY = {  # name: (function, domain)
    "exp": (lambda x: jnp.exp(x), 20),
    "log": (jnp.log, "positive"),
    "log1p": (jnp.log1p, "positive"),
    "expm1": (jnp.expm1, 20),
    "sqrt": (jnp.sqrt, "positive"),
    "rsqrt": (lax.rsqrt, "positive"),
    "tanh": (jnp.tanh, None),
    "sigmoid": (jax.nn.sigmoid, None),
    "sin": (jnp.sin, 1000),
    "cos": (jnp.cos, 1000),
    "tan": (jnp.tan, 10),
    "atan": (jnp.arctan, None),
    "sinh": (jnp.sinh, 20),
    "cosh": (jnp.cosh, 20),
    "asinh": (jnp.arcsinh, None),
    "cbrt": (jnp.cbrt, "real"),
    "exp2": (jnp.exp2, "real20"),
    "erf": (lax.erf, "real"),
    "erfc": (lax.erfc, "real20"),
    "gelu": (gelu, "real"),
    "gelu_tanh": (lambda x: jax.nn.gelu(x), "real"),
    "silu": (jax.nn.silu, None),
    "softplus": (jax.nn.softplus, "real"),
    "relu": (lambda x: jnp.maximum(x, 0), "real"),
    "square": (jnp.square, None),
    "cube": (lambda x: x**3, None),
    "recip": (lambda x: 1 / x, None),
    "neg": (lambda x: -x, None),
    "abs": (jnp.abs, None),
    "plus1": (lambda x: x + 1, None),
    "half": (lambda x: x * 0.5, None),
    "third": (lambda x: x / 3, None),
    "square_plus": (lambda x: x * x + 0.5, None),
    "asin": (lambda x: jnp.arcsin(x / (1 + jnp.abs(x))), "real"),
    "acos": (lambda x: jnp.arccos(x / (1 + jnp.abs(x))), "real"),
    "atanh": (lambda x: jnp.arctanh(x / (1.5 + jnp.abs(x))), "real"),
    "acosh": (lambda x: jnp.arccosh(1 + jnp.abs(x)), "real"),
    "erfinv": (lambda x: lax.erf_inv(x / (1.1 + jnp.abs(x))), "real"),
    "lgamma": (lax.lgamma, "positive"),
    "digamma": (lax.digamma, "positive"),
    "round": (jnp.round, "real"),
    "floor": (jnp.floor, "real"),
    "to_f32": (lambda x: x.astype(jnp.float32).astype(x.dtype), "real"),
    "to_bf16": (lambda x: x.astype(jnp.bfloat16).astype(x.dtype), "real"),
    "clip": (lambda x: jnp.clip(x, -1.5, 1.5), "real"),
    "pow_25": (lambda x: x**2.5, "positive"),
    "zeros": (jnp.zeros_like, None),
    "full": (lambda x: jnp.full_like(x, 3), None),
    "conj": (jnp.conj, "complex"),
    "angle": (jnp.angle, "real"),
}
BINARY = {
    "add": (jnp.add, None),
    "sub": (jnp.subtract, None),
    "mul": (jnp.multiply, None),
    "div": (jnp.divide, None),
    "max": (jnp.maximum, "real"),
    "min": (jnp.minimum, "real"),
    "axpy": (lambda x, y: 0.3 * x + y, None),
    "hypot": (lambda x, y: jnp.sqrt(x * x + y * y), None),
    "atan2": (jnp.arctan2, "real"),
    "where": (lambda x, y: jnp.where(x > y, x, y * 2), "real"),
    "logaddexp": (jnp.logaddexp, "real"),
    "lerp": (lambda x, y: x + 0.25 * (y - x), None),
    "loss": (logistic_loss, "real"),
    "select": (lambda x, y: jnp.where(jnp.arange(x.shape[-1]) % 2 == 0, x, y) if x.ndim else x, None),
    "fmod": (jnp.fmod, "real"),
    "pow": (lambda x, y: jnp.abs(x) ** jnp.clip(y, -3, 3), "real"),
    "looped": (looped, "real"),
    "branched": (branched, "real"),
}
REDUCED = {
    "sum": jnp.sum,
    "mean": jnp.mean,
    "var": jnp.var,
    "amax": jnp.max,
    "amin": jnp.min,
    "prod": jnp.prod,
    "logsumexp": jax.nn.logsumexp,
    "norm": lambda x, axis, keepdims: jnp.sqrt(jnp.sum(x * x, axis=axis, keepdims=keepdims)),
    "std": jnp.std,
}
REDUCED_COMPLEX = "sum", "mean", "prod", "norm"
ALONG = {
    "softmax": jax.nn.softmax,
    "log_softmax": jax.nn.log_softmax,
    "cumsum": jnp.cumsum,
    "flip": jnp.flip,
    "sort": jnp.sort,
    "roll": lambda x, axis: jnp.roll(x, 1, axis),
    "cat": lambda x, axis: jnp.concatenate([x, x * 2], axis),
    "pad": lambda x, axis: jnp.pad(x, [(1, 2) if a == axis else (0, 0) for a in range(x.ndim)]),
    "narrow": lambda x, axis: lax.slice_in_dim(x, 0, max(1, x.shape[axis] - 1), axis=axis),
    "cumprod": jnp.cumprod,
    "top": lambda x, axis: lax.top_k(x, 1 + x.shape[-1] // 2)[0],
    "gather": lambda x, axis: jnp.take(x, jnp.arange(x.shape[axis]) // 2, axis=axis),
    "update": lambda x, axis: lax.dynamic_update_slice_in_dim(x, lax.slice_in_dim(x, 0, 1, axis=axis) * 2, x.shape[axis] // 2, axis),
    "expand": lambda x, axis: jnp.broadcast_to(jnp.expand_dims(x, axis), (*x.shape[:axis], 3, *x.shape[axis:])),
    "cummax": lax.cummax,
}
ALONG_COMPLEX = "cumsum", "flip", "roll", "cat", "pad", "narrow", "gather", "update", "expand"


class Writer:
    """Writes one program, running it op by op as it goes."""

    def __init__(self, seed, dtype, kernels, length=20):
        self.rng, self.dtype, self.kernels = np.random.default_rng(seed), dtype, kernels
        self.complex = dtype.startswith("complex")
        self.values, self.inputs, self.nodes = {}, {}, []
        r = self.rng.random()
        self.most = 40000
        if r < 0.5:
            shape = tuple(int(n) for n in self.rng.integers(1, 12, self.rng.integers(1, 4)))
        elif r < 0.8:
            shape = tuple(int(n) for n in self.rng.integers(1, 71, self.rng.integers(1, 3)))
        else:
            shape = self.one_of([(1000,), (4099,), (64, 64), (7, 300), (300, 7), (3, 41, 41), (2, 4097)])
        self.shape = shape
        for _ in range(3):
            self.add_input(shape)
        self.add_input(shape[1:] if self.rng.random() < 0.5 else (*shape[:-1], 1))
        self.add_input((shape[-1], int(self.rng.integers(1, 9))))
        self.scalar = self.new(np.float64(self.one_of([0.1, 3.0, -0.7, 1.7])))
        self.inputs[self.scalar] = self.values[self.scalar]
        for _ in range(6 * length):
            if len(self.nodes) >= length:
                break
            self.add_node()
        if self.rng.random() < 0.8:
            self.differentiate()
        made = [v for node in self.nodes for v in node.outputs]
        share = self.one_of([0.05, 0.3, 0.7])
        wanted = [v for v in made if self.rng.random() < share] or made[-1:]
        self.program = Program(self.inputs, self.nodes, self.values, tuple(dict.fromkeys(wanted + made[-2:])))

    def one_of(self, items):
        items = list(items)
        return items[self.rng.integers(len(items))]

    def new(self, value):
        position = len(self.values)
        self.values[position] = value
        return position

    def add_input(self, shape):
        x = self.rng.standard_normal(shape)
        if self.rng.random() < 0.2:
            x = self.rng.integers(-3, 4, shape).astype(float)
        if self.complex:
            x = x + 1j * self.rng.standard_normal(shape)
        x = np.asarray(x, self.dtype)
        self.inputs[self.new(x)] = x

    def floats(self):
        return [v for v, x in self.values.items() if v != self.scalar and x.size <= self.most]

    def suits(self, x, domain):
        if domain is None:
            return True
        if domain == "complex":
            return self.complex
        x = np.asarray(x)
        if x.dtype.kind == "c" and isinstance(domain, str):
            return False
        x = x.astype(complex if x.dtype.kind == "c" else float)
        if domain == "positive":
            return bool((x > 0).all())
        if domain == "real":
            return True
        return bool((np.abs(x) < (20 if domain == "real20" else domain)).all())

    def choose(self):
        rng, floats = self.rng, self.floats()
        recent = floats[-8:] if rng.random() < 0.7 else floats
        x = self.one_of(recent)
        shape = self.values[x].shape
        kind = self.one_of(
            ["unary"] * 8
            + ["binary"] * 8
            + ["scalar"] * 2
            + ["reduce"] * 3
            + ["along"] * 3
            + ["move"] * 2
            + ["matmul", "norm", "scan", "conv"]
        )
        if kind == "unary":
            name, (function, domain) = self.one_of(UNARY.items())
            if self.suits(self.values[x], domain):
                return Op(name, function), (x,)
        elif kind == "binary":
            name, (function, domain) = self.one_of(BINARY.items())
            others = [v for v in floats if broadcasts(self.values[v].shape, shape)]
            y = self.one_of(others)
            if name in ("looped", "branched", "where") and self.values[y].shape != shape:
                return None
            if self.suits(self.values[x], domain):
                return Op(name, function), ((x, y) if rng.random() < 0.5 or name == "select" else (y, x))
        elif kind == "scalar":
            name, function = self.one_of(
                {
                    "mul_s": lambda x, s: x * s.astype(x.dtype),
                    "div_s": lambda x, s: x / s.astype(x.dtype),
                    "add_s": lambda x, s: x + s.astype(x.dtype),
                    "s_div": lambda x, s: s.astype(x.dtype) / x,
                    "pow_s": lambda x, s: jnp.abs(x) ** s.astype(x.dtype),
                    "axpy_s": lambda x, s: x + x * s.astype(x.dtype),
                }.items()
            )
            return Op(name, function), (x, self.scalar)
        elif kind == "reduce" and shape:
            name = self.one_of(REDUCED_COMPLEX if self.complex else REDUCED)
            axis = self.one_of([*range(len(shape)), None])
            keep = bool(rng.random() < 0.5)
            return Op(f"{name} {axis} {keep}", functools.partial(REDUCED[name], axis=axis, keepdims=keep)), (x,)
        elif kind == "along" and shape:
            name = self.one_of(ALONG_COMPLEX if self.complex else ALONG)
            axis = int(rng.integers(len(shape)))
            return Op(f"{name} {axis}", functools.partial(ALONG[name], axis=axis)), (x,)
        elif kind == "move" and len(shape) > 1:
            order = tuple(int(a) for a in rng.permutation(len(shape)))
            return self.one_of([(Op(f"permute {order}", lambda x: jnp.transpose(x, order)), (x,)), (Op("flat", jnp.ravel), (x,))])
        elif kind == "matmul" and shape:
            fits = [
                v
                for v in floats
                if self.values[v].ndim
                and 0 < len(shape)
                and self.values[v].shape[-2 if self.values[v].ndim > 1 else 0] == shape[-1]
                and broadcasts(self.values[v].shape[:-2], shape[:-2])
            ]
            if fits:
                return Op("matmul", jnp.matmul), (x, self.one_of(fits))
        elif kind == "norm" and shape and not self.complex:
            rows = [v for v in floats if self.values[v].shape == shape[-1:]]
            if len(rows) > 1:
                return Op("layer_norm", layer_norm), (x, self.one_of(rows), self.one_of(rows))
        elif kind == "scan" and len(shape) > 1 and not self.complex:
            return Op("scanned", scanned), (x,)
        elif kind == "conv" and len(shape) == 3 and shape[-1] > 2 and not self.complex:
            return Op("conv", lambda x: lax.conv_general_dilated(x, x[:2, :, :2], (1,), "SAME")), (x,)
        return None

    def add_node(self):
        found = self.choose()
        if found is None:
            return
        op, inputs = found
        arrays = [self.values[v] for v in inputs]
        try:
            results = self.kernels.run(op, arrays)
        except TypeError:  # an operator of real numbers met a complex one
            return
        if all(tame(r) for r in results):
            self.append(op, inputs, results)

    def append(self, op, inputs, results):
        outputs = tuple(self.new(r) for r in results)
        self.nodes.append(Node(op, tuple(inputs), outputs))
        return outputs

    def apply(self, op, *inputs):
        return self.append(op, inputs, self.kernels.run(op, [self.values[v] for v in inputs]))

    def differentiate(self):
        """Reverse mode, as nodes: the vjp of one operator each."""
        forward = list(self.nodes)
        last = forward[-1].outputs[0]
        (gradient,) = self.apply(Op("ones", jnp.ones_like), last)
        gradients = {last: gradient}
        for node in reversed(forward):
            cotangent = gradients.get(node.outputs[0])
            if cotangent is None:
                continue
            wants = tuple(at for at, v in enumerate(node.inputs) if v != self.scalar)
            op = Op(f"vjp {node.op.name} {wants}", functools.partial(vjp, node.op.function, wants))
            try:
                found = self.apply(op, *node.inputs, cotangent)
            except TypeError:  # since JAX 0.11 there are gradients of extremes for real numbers alone
                continue
            for at, g in zip(wants, found):
                v = node.inputs[at]
                gradients[v] = self.apply(Op("accumulate", jnp.add), gradients[v], g)[0] if v in gradients else g


def vjp(function, wants, *arguments):
    *inputs, cotangent = arguments

    def partial(*chosen):
        full = list(inputs)
        for at, x in zip(wants, chosen):
            full[at] = x
        return function(*full)

    return jax.vjp(partial, *[inputs[at] for at in wants])[1](cotangent)


def broadcasts(a, b):
    try:
        return len(np.broadcast_shapes(a, b)) <= max(len(a), len(b))
    except ValueError:
        return False


def tame(x):
    """Whether comparing this tells anything: mostly finite, no denormals, no exploding sizes."""
    x = np.asarray(x)
    if x.size > 40000 or not x.size:
        return False
    size = np.abs(x.astype(complex if x.dtype.kind == "c" else float))
    smallest = {"float16": 7e-5, "float64": 1e-300}.get(str(x.dtype), 1e-35)
    largest = {"float16": 6e4, "float64": 1e250}.get(str(x.dtype), 1e30)
    return bool((np.isfinite(size) & (size < largest)).mean() > 0.9) and not bool(((size > 0) & (size < smallest)).any())
