"""The declaration of an operator: one `@op` gives the function, the method, `name_`, `out=`, the autograd node, promotion and stub.

The body is a pure function of `jax.numpy` arrays whose signature is PyTorch's. Annotations say what each parameter is:

    Tensor            a tensor; takes part in differentiation (if its dtype can)
    TensorOrNumber    a tensor, or a Python number that is a run-time input (0-d array, a wrapped number in promotion)
    Tensors           a list or tuple of tensors
    OptTensor         a tensor or None
    Number            a Python number that is a run-time input: a new value never recompiles (alpha, lr, eps, fill values)
    anything else     static: part of the operation's identity (dims, shapes, flags, dtypes, integer exponents)

A default value of a `Number` is static while the caller leaves it alone.

    @op("float", inplace=True, out=True, grad=lambda grad, result: grad * jnp.conj(result))
    def exp(self: Tensor):
        return jnp.exp(self)

May not know: tensors as objects, storages, the tape.
"""
import inspect

from .quirks import NONE
from .registry import REGISTRY

# -- what a parameter is ----------------------------------------------------------------------------------------------


class Kind:
    """A kind of parameter; compared by identity."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


Tensor, TensorOrNumber, Tensors, OptTensor, Number, Static = map(
    Kind, ("Tensor", "TensorOrNumber", "Tensors", "OptTensor", "Number", "Static"))
REQUIRED = inspect.Parameter.empty
ARRAYS = (Tensor, TensorOrNumber, Tensors, OptTensor)


class Parameter:
    """One parameter of an operator: name, kind, default (`inspect.Parameter.empty` if required), keyword-only or not."""

    __slots__ = ("name", "kind", "default", "keyword_only", "required", "text")

    def __init__(self, name, kind, default, keyword_only, text=None):
        self.name, self.kind, self.default, self.keyword_only = name, kind, default, keyword_only
        self.required = default is REQUIRED
        self.text = text


class Operator:
    """What `op` makes of a body.

    promote    None: inputs arrive as they are. "numeric": cast to their promoted type. "float": the same, integers become the
               default float. "bool": promoted, for comparisons. "complex": like float for ints, complex allowed (same as float).
    layout     strides of the result: "pointwise" (PyTorch's TensorIterator: inputs' permutation is kept), "contiguous", "like"
               (strides of the first input if dense), "suggested" (channels last if the first input's strides suggest that), "columns"
               (matrices as LAPACK leaves them; results of fewer dimensions than the first input are none), or a function (specs of
               inputs, output avals, statics dict) -> list of strides.
    saves      what the default gradient (jax.vjp of the body) needs: () for linear operators, a tuple of parameter names (and "result"),
               or a dict {differentiable input: names}. None: every tensor input.
    grad       formulas instead of jax.vjp, PyTorch's convention (conjugates written out): for one differentiable input a function, for
               several a dict {input: function or None}. A function asks by parameter name for: "grad" (or "grads" where there are several
               outputs), "result" (or "results"), any parameter of the operator, "needs". What it asks for is what is saved, and only that.
               Arrays arrive promoted; the answer is summed to the input's shape and cast to its dtype.
    check      function of the same parameters (Specs for tensors) that raises PyTorch's error; runs once per new signature.
    check_inplace  the same for `name_`, where it asks otherwise.
    nondiff    names of inputs without gradient, and positions of outputs without.
    inplace    `name_` exists as a method (and function); out: `out=` is accepted.
    function, method   whether it is public as torch.name / Tensor.name.
    backward   the autograd node's name, default CamelCase + "Backward0".
    inverse    a backward made of public operators, for gradients that are views of the gradient (sum: expand), cost less so (add: the
               gradient itself) or are none (a norm of order 0): a function (grad, node) of tensors -> a tuple along ``node.needs``, with
               None for no gradient; or None instead of the tuple, to go by ``grad`` or the replay after all.
    on_host    of operators that put a list of tensors together, the same for NumPy arrays of one type (the list, the statics): where lists
               are of another length every time (`tensor/changing.py`).
    overwrites an in-place operator whose result does not depend on the old values (fill, copy): they are not read. "src": it is the value
               of that parameter, in the tensor's type and shape.
    flipped    (operator, {parameter: letter}): the twin that takes matrices as they lie in memory where they are transposed views of it; it
               is told by the static parameter ``flips``, a text of letters.
    double     the name that PyTorch's graph shows for the gradient under create_graph, where it is not CamelCase + "BackwardBackward0": the
               operator that its formula ends with; a dict {input: name} where it depends. "=" for a gradient that is handed on as it is
               ("=*": but for an ``alpha``), "-" for one without history, "+" for one that is summed to the input's shape; a name that ends
               with "!" says that what is saved only chooses (by comparisons), so that the history goes through the gradient alone.
    unrounded  parameters that, where they are one number and the operator computes in float16 or bfloat16, arrive in float32; the result
               is rounded, and only that.
    fits       numbers that PyTorch converts to the type it computes in, and refuses where that does not hold them: {parameter: "own"},
               "wide" where that is float32 for float16 and bfloat16, "narrow" where it is asked of these two alone, or
               "negated" where it is minus the number that has to fit.
               Numbers that promote as operands do are no such, but for bounds.
    sync       the body runs on concrete NumPy arrays, because its output shapes depend on the data (nonzero, unique), or because NumPy
               or SciPy has it. Inside of `vmap` it is refused, or runs slice by slice if this is "slices".
    outputs    field names: a named tuple torch.return_types.<name> is answered.
    on_meta    of a ``sync`` operator whose results' sizes are known: what it gives of tensors without data, a function like the body.
    quirks     what else PyTorch's implementation shows (`ops.quirks`).
    """

    def __init__(self, body, promote, layout, saves, grad, check, nondiff, inplace, out, function, method, backward, sync, outputs, name,
                 method_name, promoted, double, moves, result_dtype, inverse, overwrites, flipped, check_inplace=None, unrounded=(),
                 on_host=None, fits=None, on_meta=None, quirks=NONE):
        self.body, self.name = body, name or body.__name__
        self.promote, self.layout, self.saves, self.check = promote, layout, saves, check
        self.nondiff = frozenset(nondiff)
        self.inplace, self.out, self.function, self.method = inplace, out, function, method
        self.method_name = method_name or self.name
        self.backward = backward or camel(self.name) + "Backward0"
        self.sync, self.outputs, self.promoted, self.double = sync, outputs, promoted, double
        self.moves, self.inverse, self.overwrites = moves, inverse, overwrites
        self.flipped, self.unrounded, self.on_host = flipped, frozenset(unrounded), on_host
        self.fits, self.on_meta, self.quirks = fits or {}, on_meta, quirks
        self.letters = None
        self.node_class = None               # of the graph's nodes, made by the room above
        self.by_result = None                # the operator that stands for this one in place: the gradient is made of the result
        if flipped is not None:
            flipped[0].letters = flipped[1]
        self.result_dtype, self.check_inplace = result_dtype, check_inplace or check
        self.parameters = parameters_of(body)
        self.by_name = {p.name: at for at, p in enumerate(self.parameters)}
        self.arrays = [p.name for p in self.parameters if p.kind in ARRAYS]
        self.grad = _formulas(self, grad)
        self.key = f"{body.__module__.rsplit('.', 1)[-1]}.{self.name}"
        self.__doc__ = body.__doc__

    def single_output(self):
        """Whether every call answers one tensor, as far as the declaration tells."""
        return self.outputs is None and self.promote is not None

    def __repr__(self):
        return f"<operator {self.name}>"


def camel(name):
    """``log_softmax`` -> ``LogSoftmax``, PyTorch's way of naming backward nodes."""
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


def parameters_of(body):
    """A body's parameters, read from its code: `inspect.signature` for hundreds of operators would cost a third of the import."""
    body = inspect.unwrap(body)
    code, annotations = body.__code__, body.__annotations__
    n, keyword_only = code.co_argcount, code.co_kwonlyargcount
    positional = body.__defaults__ or ()
    defaults = dict(zip(code.co_varnames[n - len(positional):n], positional, strict=True)) | (body.__kwdefaults__ or {})
    found = []
    for at, name in enumerate(code.co_varnames[:n + keyword_only]):
        kind = annotations.get(name, Static)
        found.append(Parameter(name, kind if isinstance(kind, Kind) else Static, defaults.get(name, REQUIRED), at >= n))
    return found


def _formulas(operator, grad):
    """{input name: (function, names it asks for)} or None."""
    if grad is None:
        return None
    if not isinstance(grad, dict):
        inputs = [p.name for p in operator.parameters if p.kind in ARRAYS and p.name not in operator.nondiff]
        grad = {inputs[0]: grad}
    return {name: f and (f, asked(f)) for name, f in grad.items()}


def asked(formula):
    """The names of a formula's parameters."""
    code = getattr(inspect.unwrap(formula), "__code__", None)
    if code is None:                # a partial application or another object with a signature of its own
        return tuple(inspect.signature(formula).parameters)
    return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]


RAW = {"function": False, "method": False}         # for the declaration of an operator that users do not see by its name


def op(promote=None, *, layout=None, saves=None, grad=None, check=None, nondiff=(), inplace=False, out=False, function=True, method=True,
       backward=None, sync=False, outputs=None, name=None, method_name=None, promoted=None, double=None, moves=False, result_dtype=None,
       inverse=None, overwrites=False, flipped=None, check_inplace=None, unrounded=(), on_host=None, fits=None, on_meta=None,
       quirks=NONE):
    """Declares the decorated body as an operator and registers it; answers the `Operator`. See the class for the fields."""
    if layout is None:
        layout = "pointwise" if promote else "contiguous"

    def declare(body):
        operator = Operator(body, promote, layout, saves, grad, check, nondiff, inplace, out, function, method, backward, sync,
                            outputs, name, method_name, promoted, double, moves, result_dtype, inverse, overwrites, flipped,
                            check_inplace, unrounded, on_host, fits, on_meta, quirks)
        REGISTRY.add(operator)
        return operator
    return declare
