"""What an operation saves, and the plan of its backward.

A backward is an operation like any other: a `Plan` whose inputs are the gradients that arrived and what was saved, so that it is recorded
on the tape, and differentiable in its turn. It replays the operator's function through `jax.vjp`, or evaluates the operator's formulas.
Inputs that are not saved stand as zeros in the replay, since by declaration the gradient does not depend on them.
May not know: tensors, graph nodes.
"""
import jax
import jax.numpy as jnp

from ..trace import plan as plans
from ..trace.spec import Spec, aval, of_aval, spec
from .build import argument_dtype, broadcast_shapes, cast_to
from .layout import pointwise
from .operator import Operator, TensorOrNumber


class GradientOperator:
    """The operator of a backward plan: it is differentiated by `jax.vjp` and saves all its inputs."""

    __slots__ = ("name", "backward", "key", "node_class", "double")
    inverse = None
    grad = saves = outputs = None
    nondiff = frozenset()
    layout, promote = "contiguous", None

    def __init__(self, name):
        self.name, self.backward, self.key, self.node_class, self.double = name, name, name, None, name

    def __repr__(self):
        return f"<gradient operator {self.name}>"


_gradient_operators = {}


def gradient_operator(operator, name):
    """The operator of ``operator``'s backward, whose node goes by a name of PyTorch's."""
    found = _gradient_operators.get((operator, name))
    if found is None:
        found = _gradient_operators[operator, name] = GradientOperator(name)
    return found


# -- what PyTorch's graph shows under create_graph ---------------------------------------------------------------------

PASSED_ON, CONSTANT, SUMMED, CHOOSES, TIMES_ALPHA = "=", "-", "+", "!", "=*"


def parts(plan, needs):
    """The gradients that one node of PyTorch's makes under create_graph: ((name, positions), ...).

    The name is that of the operator which its formula ends with; `PASSED_ON` says that the gradient is handed on as it is, `CONSTANT` that
    the answer has no history.
    """
    key = ("parts", needs)
    found = plan.vjps.get(key)
    if found is None:
        groups = {}
        for at in needs:
            name = _double_name(plan, at)
            alone = "BackwardBackward" not in name and name not in (PASSED_ON, CONSTANT)           # each gradient has a formula of its own
            groups.setdefault((name, at if alone else None), []).append(at)
        found = plan.vjps[key] = tuple([(name, tuple(places)) for (name, _), places in groups.items()])
    return found


# Inputs that the double backward saves though it does not always read them: the formula's last operator is differentiated by them.
KEPT = {"abs": ("self",), "pow_Tensor_Scalar": ("self",), "hardtanh": ("self",), "leaky_relu": ("self",), "hardshrink": ("self",),
        "softshrink": ("self",), "threshold": ("self",), "mse_loss": ("self", "target"), "fmod_Tensor": ("self", "other")}
# Inputs of which the formula computes something first, which is what it saves: they may be written to after that.
COMPUTED = {"log1p": ("self",), "log2": ("self",), "log10": ("self",), "var_dims": ("self",), "logaddexp": ("self", "other"),
            "addcmul": ("tensor1", "tensor2"), "addcdiv": ("tensor1",), "xlogy_Tensor": ("self",),
            "binary_cross_entropy_with_logits": ("self", "target", "weight", "pos_weight")}


# Operators whose formula multiplies the gradient by what it has computed of the inputs or the result: by that product's other factor, as it
# was, the second backward multiplies again.
FACTOR_COMPUTED = frozenset((
    "pow_Tensor_Scalar", "pow_Tensor_Number", "pow_Scalar", "sin", "cos", "tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh",
    "atanh", "sqrt", "rsqrt", "reciprocal", "expm1", "erf", "erfc", "erfinv", "lgamma", "digamma", "sinc", "silu", "mish", "log_sigmoid",
    "exp2", "linalg_vector_norm", "prod_all", "prod_dim", "logsumexp", "pow_Tensor_Tensor"))


def positions_named(plan, codes, table):
    """Which of ``codes`` are inputs that a table of the above names for the plan's operator."""
    names = table.get(plan.operator.name, ())
    return tuple([k for k, code in enumerate(codes) if code >= 0 and _parameter_at(plan, code) in names]) if names else ()


def passed_on(plan, needs):
    """The inputs among ``needs`` whose gradient is the very gradient that arrives."""
    key = ("passed on", needs)
    found = plan.vjps.get(key)
    if found is None:
        found = plan.vjps[key] = tuple([at for name, places in parts(plan, needs) if name == PASSED_ON for at in places])
    return found


_CONSTANT_IF = {"AsStridedBackward0": lambda plan: 0 in plan.outputs[0].shape, "sgn": lambda plan: not plan.inputs[0].dtype.is_complex,
                "pow_Tensor_Scalar": lambda plan: plan.notes.template[1] == 0}


def _double_name(plan, at):
    operator = plan.operator
    declared = operator.double
    if operator.name in _CONSTANT_IF and _CONSTANT_IF[operator.name](plan):
        return CONSTANT
    if type(declared) is dict:
        declared = declared.get(_parameter_at(plan, at))
    if declared == TIMES_ALPHA:
        declared = "MulBackward1" if _scaled(plan, "alpha") else PASSED_ON
    shape = tuple(plan.inputs[at].shape)
    if isinstance(operator, Operator) and operator.promote is not None:
        if plan.notes.common is not None and plan.inputs[at].dtype is not plan.notes.common and not _takes_part(plan, at):
            return "ToCopyBackward0"
        if shape != broadcast_shapes([tuple(a.shape) for a in plan.inputs]):
            declared = SUMMED
        elif declared == PASSED_ON and plan.inputs[at].dtype is not plan.outputs[0].dtype and not _part_of_complex(plan, at):
            return "ToCopyBackward0"                               # added in place to a tensor of another type
    elif declared == PASSED_ON and plan.inputs[at].dtype is not plan.outputs[0].dtype and not _part_of_complex(plan, at):
        return "ToCopyBackward0"
    elif declared == PASSED_ON and _scaled(plan, "beta"):
        declared = "MulBackward1"
    elif declared == PASSED_ON and shape != tuple(plan.outputs[0].shape):
        declared = SUMMED
    if declared == SUMMED:
        name = "SumBackward0" if not shape else "ViewBackward0" if len(shape) < len(plan.outputs[0].shape) else "SumBackward1"
        return name + CHOOSES if type(operator.double) is str and operator.double.endswith(CHOOSES) else name
    return declared or operator.backward.replace("Backward", "BackwardBackward", 1)


def _part_of_complex(plan, at):
    """Whether this input is real and of a complex result's shape: then PyTorch's gradient is the real part, a view, of a complex one."""
    a, out = plan.inputs[at], plan.outputs[0]
    return out.dtype.is_complex and not a.dtype.is_complex and tuple(a.shape) == tuple(out.shape)


def _takes_part(plan, at):
    """Whether a formula makes that complex gradient. Of a number and a tensor without dimensions PyTorch makes one of double precision."""
    operator = plan.operator
    if not (isinstance(operator, Operator) and operator.promote is not None and operator.grad is not None and _part_of_complex(plan, at)):
        return False
    formula = operator.grad.get(_parameter_at(plan, at))
    return bool(plan.inputs[at].shape) or formula is None or not any(_is_number(operator, plan.notes, name) for name in formula[1])


def _scaled(plan, factor):
    """Whether the operation's ``alpha`` or ``beta`` is another than 1."""
    place = plan.operator.by_name.get(factor) if isinstance(plan.operator, Operator) else None
    return place is not None and plan.notes.template[place] is not plan.operator.parameters[place].default


def _parameter_at(plan, at):
    for name, where in plan.notes.where.items():
        if at == where or type(where) is tuple and at in where:
            return name
    return None


def saved(plan, needs):
    """What a node of this plan saves if these inputs (a tuple of positions) need gradients: codes i (input) or ~k (output k)."""
    cache = plan.saves
    if cache is None:
        cache = plan.saves = {}
    found = cache.get(needs)
    if found is None:
        found = cache[needs] = _saved(plan, needs)
    return found


def _saved(plan, needs):
    operator = plan.operator
    names = None
    if not isinstance(operator, Operator) and operator.saves is not None:
        return operator.saves
    if isinstance(operator, Operator):
        if 0 in operator.nondiff:
            return ()
        signature = plan.notes
        if operator.grad is not None:
            names = set()
            for name, formula in operator.grad.items():
                if formula is not None and _touches(signature.where.get(name), needs):
                    names.update(formula[1])
        elif operator.saves is not None:
            if isinstance(operator.saves, dict):
                names = set()
                for name, wanted in operator.saves.items():
                    if _touches(signature.where.get(name), needs):
                        names.update(wanted)
            else:
                names = set(operator.saves)
    if names is None:
        return _by_name(plan, range(len(plan.inputs))) if isinstance(operator, Operator) else _read(plan, needs)
    asked = [at for at in range(len(plan.inputs)) if any(_touches(signature.where.get(name), (at,)) for name in names)]
    codes = list(_by_name(plan, asked))
    if "result" in names or "results" in names:
        codes.extend(~k for k in range(len(plan.outputs)))
    for name in names:
        if name.startswith("result") and name[6:].isdigit():
            codes.append(~int(name[6:]))
    if not codes and any(_is_number(operator, signature, name) for name in names):
        return ONLY_NUMBERS
    return tuple(codes)


def _by_name(plan, positions):
    """Input positions by their parameters' names: in that order PyTorch looks at what was saved, to complain of the first that changed."""
    return tuple(sorted(positions, key=lambda at: _parameter_at(plan, at) or ""))


class _OnlyNumbers(tuple):
    """Nothing to save as PyTorch would count it empty: a number that it keeps as a tensor, so that the graph can be freed."""

    __slots__ = ()

    def __bool__(self):
        return True


ONLY_NUMBERS = _OnlyNumbers()


def _is_number(operator, signature, name):
    at = signature.where.get(name)
    return type(at) is int and at < 0 and operator.parameters[operator.by_name[name]].kind is TensorOrNumber


def _read(plan, needs):
    """The inputs of a backward that its own backward reads: PyTorch's formulas save no others, so a later write to those is allowed."""
    every = tuple(range(len(plan.inputs)))
    function = _by_vjp(plan, needs, tuple(range(len(plan.outputs))), every)
    structs = [a.struct for a in plan.outputs] + [a.struct for a in plan.inputs] + [plans.scalar_struct(kind) for kind in plan.scalar_kinds]
    try:
        with jax.enable_x64(True):
            jaxpr = jax.make_jaxpr(function)(*structs).jaxpr
    except (ValueError, NotImplementedError):                      # no second derivative: that is said when it is asked for
        return every
    live = {v for v in jaxpr.outvars if not hasattr(v, "val")}
    for equation in reversed(jaxpr.eqns):
        if any(v in live for v in equation.outvars):
            live.update(v for v in equation.invars if not hasattr(v, "val"))
    return tuple([at for at in every if jaxpr.invars[len(plan.outputs) + at] in live or at in plan.kept])


def _touches(where, positions):
    if where is None:
        return False
    if type(where) is tuple:
        return any(w in positions for w in where)
    return where in positions


def backward_plan(plan, needs, defined):
    """The plan of the backward: inputs are the defined gradients, then the saved values; outputs the gradients of ``needs``.

    ``needs`` are input positions, ``defined`` the output positions whose gradient is there (the others are zero).
    """
    key = (needs, defined)
    found = plan.vjps.get(key)
    if found is None:
        codes = saved(plan, needs)
        operator = plan.operator
        real = [at for at in needs if not plan.inputs[at].dtype.is_complex]
        if operator.name in _KEEP_COMPLEX and plan.outputs[0].dtype.is_complex and real:
            raise RuntimeError("Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got "
                               "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
        if getattr(operator, "grad", None) is not None:
            _refuse(plan, needs)
            function = _by_formulas(plan, needs, defined, codes)
        else:
            function = _by_vjp(plan, needs, defined, codes)
        inputs = tuple(plan.outputs[k] for k in defined) + tuple(plan.inputs[c] if c >= 0 else plan.outputs[~c] for c in codes)
        outputs = tuple([_whole(plan, at) for at in needs])
        found = plans.Plan(("vjp", plan.key, plan.inputs, needs, defined), function, inputs, outputs, plan.scalar_kinds)
        found.operator = gradient_operator(operator, parts(plan, needs)[0][0].removesuffix(CHOOSES))
        if plan.flipped:
            found.flipped = tuple(len(defined) + at for at, code in enumerate(codes) if code in plan.flipped)
        found.specs = tuple([_lying(plan, at, a) for at, a in zip(needs, outputs, strict=True)])
        found.spec = found.specs[0] if len(outputs) == 1 else None
        found.differentiable = tuple(a.dtype.differentiable for a in outputs)
        found.notes = len(defined)
        found.kept = tuple([len(defined) + k for k in positions_named(plan, codes, KEPT)])
        plan.vjps[key] = found
    return found


# Reductions and copies whose gradient lies as what it is computed of.
_BY_ELEMENTS = frozenset(("prod_all", "prod_dim", "var_dims", "std_dims", "linalg_vector_norm", "amax", "amin", "aminmax", "logsumexp",
                          "nansum_dim", "dist", "flip.raw", "_to_copy"))
# What is saved comes before the gradient in these formulas: it decides where the two lie differently.
SAVED_FIRST = frozenset(("relu", "threshold", "leaky_relu", "clamp_Scalar", "clamp_Tensor", "clamp_min_Scalar", "clamp_min_Tensor",
                          "clamp_max_Scalar", "clamp_max_Tensor"))


def lie_plainly(plan):
    """Whether the gradients are contiguous if those that arrive are."""
    found = plan.vjps.get("plain")
    if found is None:
        operator = plan.operator
        by_elements = isinstance(operator, Operator) and operator.name != "copy" and (
            operator.promote is not None or operator.layout == "like" or operator.name in _BY_ELEMENTS)
        plain = by_elements and all(s.contiguous for s in (*plan.notes.specs, *plan.specs))
        found = plan.vjps["plain"] = True if plain else False if by_elements else ALWAYS
    return found


ALWAYS = "always"        # not computed by elements: the gradients are contiguous whatever arrives


def elementwise(plan, needs, backward, codes, grads):
    """The Specs of gradients computed element by element: PyTorch lays them out by what they are computed of.

    ``grads``: the Specs of the gradients that arrived.
    """
    key = ("elementwise", needs, grads)
    found = plan.vjps.get(key)
    if found is None:
        operator = plan.operator
        operands = [plan.notes.specs[c] if c >= 0 else plan.specs[~c] for c in codes]
        operands = [*operands, *grads] if operator.name in SAVED_FIRST else [*grads, *operands]
        found = []
        for at, a in zip(needs, backward.outputs, strict=True):
            shape = tuple(a.shape)
            own = [(shape, s.stride) for s in operands if tuple(s.size) == shape]
            by_elements = operator.name in _BY_ELEMENTS or shape == tuple(plan.outputs[0].shape) and (at == 0 or bool(operator.promote))
            found.append(spec(shape, pointwise(shape, own) if own and by_elements else None, a.dtype, a.device))
        found = plan.vjps[key] = tuple(found)
    return found


def columns(plan):
    """Factors of a product that lie column by column: PyTorch makes their gradients as transposes of what does not."""
    found = plan.vjps.get("columns")
    if found is None:
        letters = plan.operator.flipped[1]
        found = plan.vjps["columns"] = tuple([
            at for at, s in enumerate(plan.notes.specs) if _parameter_at(plan, at) in letters and s.stride == (1, s.size[0])])
    return found


def _lying(plan, at, a):
    """The Spec of an input's gradient."""
    if type(plan.notes) is Spec:
        return plan.notes
    if getattr(plan.operator, "flipped", None) is not None and at in columns(plan):
        return spec(a.shape, (1, a.shape[0]), a.dtype, a.device)
    return of_aval(a)


def _whole(plan, at):
    """The aval of an input's gradient as its formula makes it."""
    a = plan.inputs[at]
    return aval(tuple(a.shape), plan.outputs[0].dtype, a.device) if _takes_part(plan, at) else a


# PyTorch's formulas of these do not take the real part for a real tensor, and it refuses the gradient.
_KEEP_COMPLEX = frozenset(("fill_tensor", "masked_fill.Tensor", "index_fill.Tensor", "where_self", "where_method", "index_put.mask"))


def _refuse(plan, needs):
    """Raises for an operator that PyTorch does not differentiate either."""
    for name, formula in plan.operator.grad.items():
        never = formula and getattr(formula[0], "never", None)
        if never and _touches(plan.notes.where.get(name), needs):
            raise RuntimeError(never.format("" if plan.key[0] == plan.operator.key else "_"))         # in place it has another name
        allows = formula and getattr(formula[0], "allows", None)
        if allows is not None:
            allows(*[plan.notes.template[plan.operator.by_name[asked]] for asked in formula[1] if asked in plan.operator.by_name])


def _unpack(plan, needs, defined, codes, xs):
    """The backward's inputs by role: cotangents of all outputs (None where undefined), saved by code, scalars."""
    cotangents = [None] * len(plan.outputs)
    for k, x in zip(defined, xs, strict=False):
        cotangents[k] = x
    at = len(defined)
    values = dict(zip(codes, xs[at:at + len(codes)], strict=True))
    return cotangents, values, xs[at + len(codes):]


def _zeros(a):
    return jnp.zeros(a.shape, a.dtype.numpy)


def _is_complex(x):
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def _by_vjp(plan, needs, defined, codes):
    """Replays the function through `jax.vjp`; PyTorch's complex gradient is the conjugate of JAX's."""
    def function(*xs):
        cotangents, values, scalars = _unpack(plan, needs, defined, codes, xs)
        primals = [values[i] if i in values else _zeros(a) for i, a in enumerate(plan.inputs)]

        def forward(*chosen):
            full = list(primals)
            for at, x in zip(needs, chosen, strict=True):
                full[at] = x
            outs = plan.function(*full, *scalars)
            return [outs[k] for k in defined]

        _, pull = jax.vjp(forward, *[primals[at] for at in needs])
        cts = [cotangents[k] for k in defined]
        grads = pull([jnp.conj(c) if _is_complex(c) else c for c in cts])
        return tuple(jnp.conj(g) if _is_complex(g) else g for g in grads)
    return function


def formula_alone(plan, at, defined, codes):
    """The formula of one input's gradient, whose answer is left as it is."""
    return _by_formulas(plan, (at,), defined, codes, False)


def _by_formulas(plan, needs, defined, codes, fit=True):
    """Evaluates the operator's formulas and sums each answer to its input's shape."""
    operator, signature = plan.operator, plan.notes
    target = signature.common.numpy if signature.common is not None else None

    def function(*xs):
        cotangents, values, scalars = _unpack(plan, needs, defined, codes, xs)
        cotangents = [_zeros(a) if c is None else c for c, a in zip(cotangents, plan.outputs, strict=True)]

        def array(at, name):
            x = values[at] if at in values else None
            if x is None:
                return None
            cast = argument_dtype(operator, name, signature.template[operator.by_name[name]], target)
            return x if cast is None else cast_to(x, cast)

        def asked(name):
            if name == "grad":
                return cotangents[0]
            if name == "grads":
                return cotangents
            if name == "result":
                return values[~0]
            if name == "results":
                return [values.get(~k) for k in range(len(plan.outputs))]
            if name.startswith("result") and name[6:].isdigit():
                return values[~int(name[6:])]
            if name == "needs":
                return needs
            if name == "shapes":
                return [a.shape for a in plan.inputs]
            where = signature.where.get(name)
            if where is None:
                return signature.template[operator.by_name[name]]
            if type(where) is tuple:
                return [array(w, name) for w in where]
            if where < 0:
                x = scalars[~where]
                tensor_like = operator.parameters[operator.by_name[name]].kind.name == "TensorOrNumber"
                cast = argument_dtype(operator, name, signature.template[operator.by_name[name]], target) if tensor_like else None
                return x if cast is None else cast_to(x, cast)
            return array(where, name)

        answers = {}
        for name, formula in operator.grad.items():
            where = signature.where.get(name)
            if where is None or not _touches(where, needs):
                continue
            answer = formula[0](*[asked(n) for n in formula[1]])
            for at, x in zip(where, answer, strict=True) if type(where) is tuple else ((where, answer),):
                answers[at] = x
        return tuple([_fit(answers[at], _whole(plan, at)) if fit else answers[at] for at in needs])
    return function


def _fit(x, a):
    """A formula's answer summed over broadcast dimensions and cast to the input's type."""
    if x.ndim > len(a.shape):
        x = x.sum(tuple(range(x.ndim - len(a.shape))))
    axes = tuple(d for d, (n, m) in enumerate(zip(x.shape, a.shape, strict=True)) if n != m and m == 1)
    if axes:
        x = x.sum(axes, keepdims=True)
    if x.shape != tuple(a.shape):
        x = jnp.broadcast_to(x, a.shape)
    return cast_to(x, a.dtype.numpy)
