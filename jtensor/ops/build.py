"""From an operator and the descriptions of its arguments to a `Plan`: promotion, checks, broadcasting, output strides.

Runs once per new signature; the dispatcher keeps the answer. Arguments are given as a template: a Spec for a tensor, a tuple of Specs for a
list, a `Wrapped` kind for a Python number that is a run-time input, None for an absent tensor, the value itself for a static.
May not know: tensors, storages, the tape.
"""
import jax
import jax.numpy as jnp

from ..base import devices, dtypes, sites
from ..trace import plan as plans
from ..trace.cache.shapes import REMEMBERED
from ..trace.lowering import sizes
from ..trace.op_by_op import elementwise
from ..trace.spec import Spec, aval, spec, within
from . import fitting, layout
from .operator import ARRAYS, Number, Tensor, TensorOrNumber, Tensors


class Wrapped:
    """A Python number as a run-time input: 'f', 'i', 'b' or 'c'."""

    __slots__ = ("kind", "dtype_of")

    def __init__(self, kind, number):
        self.kind, self.dtype_of = kind, number

    @property
    def dtype(self):
        return dtypes.of_scalar(self.dtype_of)

    def __repr__(self):
        return f"number:{self.kind}"


WRAPPED = {float: Wrapped("f", 0.0), int: Wrapped("i", 0), bool: Wrapped("b", False), complex: Wrapped("c", 0j)}


def broadcast_shapes(shapes):
    """The broadcast shape, or PyTorch's error about the first pair that does not fit."""
    result = ()
    for shape in shapes:
        if shape == result:
            continue
        a, b = result, shape
        n = max(len(a), len(b))
        out = []
        for d in reversed(range(n)):                               # the last dimension that does not fit is the one that is named
            x = a[d - n + len(a)] if d - n + len(a) >= 0 else 1
            y = b[d - n + len(b)] if d - n + len(b) >= 0 else 1
            if x != y and x != 1 and y != 1:
                raise RuntimeError(f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {d}")
            out.append(y if x == 1 else x)
        result = tuple(reversed(out))
    return result


def broadcast_inplace(own, *others):
    """PyTorch's errors where operands (Specs) do not broadcast to the tensor that is written to."""
    full = broadcast_shapes([tuple(s.size) for s in (own, *others)])
    if full != tuple(own.size):
        raise RuntimeError(f"output with shape {list(own.size)} doesn't match the broadcast shape {list(full)}")


class Signature:
    """The template of a call taken apart: where each parameter's arrays and scalars are among the plan's inputs."""

    __slots__ = ("template", "specs", "kinds", "where", "common")

    def __init__(self, operator, template):
        self.template, self.specs, self.kinds, self.where, self.common = template, [], [], {}, None
        for parameter, given in zip(operator.parameters, template, strict=True):
            if type(given) is Spec:
                self.where[parameter.name] = len(self.specs)
                self.specs.append(given)
            elif parameter.kind is Tensors:
                self.where[parameter.name] = tuple(range(len(self.specs), len(self.specs) + len(given)))
                self.specs.extend(given)
        for parameter, given in zip(operator.parameters, template, strict=True):
            if type(given) is Wrapped:
                self.where[parameter.name] = ~len(self.kinds)
                self.kinds.append(given.kind)


def promoted_dtype(operator, template):
    """The type the operator computes in, or None if it does not promote."""
    dimensioned, zero_dim, numbers = [], [], []
    chosen = operator.promoted
    for parameter, given in zip(operator.parameters, template, strict=True):
        if chosen is not None and parameter.name not in chosen:
            continue
        if type(given) is Spec:
            (dimensioned if given.ndim else zero_dim).append(given.dtype)
        elif type(given) is Wrapped:
            if parameter.kind is TensorOrNumber:
                numbers.append(given.dtype)
        elif parameter.kind is Tensors:
            for s in given:
                (dimensioned if s.ndim else zero_dim).append(s.dtype)
    common = dtypes.result_type(dimensioned, zero_dim, numbers)
    if operator.promote == "float" and common.category < 2:
        common = dtypes.get_default_dtype()
    return common


def plan_for(operator, template, inplace=False):
    """The `Plan` of a call; raises PyTorch's errors for arguments that do not fit."""
    check = operator.check_inplace if inplace else operator.check
    if check is not None:
        try:
            check(*template)
        except NotImplementedError as error:               # PyTorch looks at sizes and at the result before it looks for a kernel
            if operator.promote is not None and "\" not implemented for '" in str(error):
                broadcast_shapes([tuple(s.size) for s in Signature(operator, template).specs])
            if inplace:
                refuse_result(operator, Signature(operator, template), promoted_dtype(operator, template) if operator.promote else None)
            raise
    signature = Signature(operator, template)
    common = None
    if operator.promote is not None:
        broadcast_shapes([tuple(s.size) for s in signature.specs])
        common = signature.common = promoted_dtype(operator, template)
    if signature.specs and signature.specs[-1].dtype.is_complex:
        _say_what_is_lost(operator, signature, template)
    device = device_of(operator, signature)
    if inplace and device is not signature.specs[0].device:
        raise RuntimeError(f"Tensor on device {device} is not on the expected device {signature.specs[0].device}!")
    function = function_of(operator, signature)
    if inplace:
        function = into_self(operator, signature, function, common)
    inputs = tuple(s.aval for s in signature.specs)
    flips = template[operator.by_name["flips"]] if "flips" in operator.by_name else ""
    if flips:
        letters = {signature.where[name]: letter for name, letter in operator.letters.items()}
        flipped = tuple(at for at, letter in letters.items() if letter in flips)
        inputs = tuple(aval(a.shape[::-1], a.dtype, a.device) if at in flipped else a for at, a in enumerate(inputs))
    kinds = tuple(signature.kinds)
    key = (operator.key + ("_" if inplace else ""), static_key(template), str(common))
    alike = operator.promote is not None and operator.layout == "pointwise"
    outputs = _outputs(key, function, inputs, kinds, device, alike)
    made = plans.Plan(key, function, inputs, outputs, kinds, operator.moves)
    made.operator, made.notes = operator, signature
    made.elementwise = key if alike else None
    if flips:
        made.flipped = flipped
    if inplace:
        made.specs = (signature.specs[0],)
        if tuple(outputs[0].shape) != tuple(signature.specs[0].size):
            raise RuntimeError(
                f"output with shape {list(signature.specs[0].size)} doesn't match the broadcast shape {list(outputs[0].shape)}"
            )
    else:
        made.specs = output_specs(operator, signature, outputs, device)
    if operator.fits:
        numbers = {parameter.name for parameter, given in zip(operator.parameters, template, strict=True) if type(given) is Wrapped}
        made.fits = fitting.fitting(operator, numbers, common or signature.specs[0].dtype)
        if made.fits:
            made.least, made.most = fitting.common_bounds(made.fits)
    if "c" in kinds:
        refuse_complex(operator, template, made.specs[0].dtype, {name for name, *_ in made.fits})
    made.spec = made.specs[0] if len(made.specs) == 1 else None
    if operator.inverse is not None and (operator.promote is None or operator.parameters[0].kind is Tensors or len(
            {s.dtype for s in signature.specs}) == 1 and (len(signature.specs) == 1 or not signature.specs[0].dtype.is_complex)):
        made.inverse = operator.inverse
    made.differentiable = tuple(s.dtype.differentiable and at not in operator.nondiff for at, s in enumerate(made.specs))
    return made


def _outputs(key, function, inputs, kinds, device, alike):
    """The avals of the results: as another process has found, or tracing says; of an elementwise operation, as those of another shape."""
    def inferred():
        text = sizes.named(key, inputs, kinds)
        return REMEMBERED.outputs(f"{text}{device}", device, lambda: sizes.outputs(
            text, device, lambda: plans.infer(function, inputs, kinds, device)))
    return elementwise.outputs(key, inputs, kinds, device, inferred) if alike else inferred()


def _say_what_is_lost(operator, signature, template):
    """Warns, once in a process, of a complex tensor that becomes a real one: by a ``dtype`` that was asked for, or written into one."""
    if "dtype" in operator.by_name:
        wanted = template[operator.by_name["dtype"]]
    else:
        wanted = signature.specs[0].dtype if operator.overwrites else None
    if wanted is not None and wanted.category in (1, 2):           # a truth value loses nothing
        sites.warn_once("Casting complex values to real discards the imaginary part")


def refuse_complex(operator, template, dtype, fits):
    """Refuses a complex factor (``alpha``, ``value``) of what is real; operands promote instead, and what has to fit is asked later."""
    if not dtype.is_complex and any(parameter.kind is Number and type(given) is Wrapped and given.kind == "c"
                                    and parameter.name not in fits
                                    for parameter, given in zip(operator.parameters, template, strict=True)):
        raise RuntimeError(f"value cannot be converted to type {dtypes.converted_name(dtype)} without overflow")


def device_of(operator, signature):
    """The device the operation runs on; tensors of several devices raise, but a 0-d CPU tensor may join any."""
    if not signature.specs:
        at = operator.by_name.get("device")
        return devices.cpu if at is None else signature.template[at]       # an operator of two numbers
    found = None
    for s in signature.specs:
        if found is None or (found.type == "cpu" and s.device is not found):
            found = s.device
    for s in signature.specs:
        if s.device is not found and not (s.device.type == "cpu" and s.ndim == 0):
            first = signature.specs[0].device
            if devices.meta in (found, s.device) and operator.promote is not None:
                other = next(t.device for t in signature.specs if t.device is not first)
                raise RuntimeError(f"Tensor on device {other} is not on the expected device {first}!")
            raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {found} and {s.device}!")
    return found


def function_of(operator, signature):
    """The pure function ``(*arrays, *scalars) -> tuple`` of a call: puts arguments in their places, promotes, calls the body."""
    body, common = operator.body, signature.common
    n = len(signature.specs)
    target = common.numpy if common is not None else None
    slots = []
    for parameter, given in zip(operator.parameters, signature.template, strict=True):
        where = signature.where.get(parameter.name)
        cast = argument_dtype(operator, parameter.name, given, target) if parameter.kind in ARRAYS else None
        slots.append((where, given, cast, parameter.keyword_only and parameter.name))
    unrounded = any(cast is not None and cast != target for _, _, cast, _ in slots)

    def function(*xs):
        args, kwargs = [], {}
        for where, given, cast, keyword in slots:
            if where is None:
                x = given
            elif type(where) is tuple:
                x = [xs[i] for i in where]
                if cast is not None:
                    x = [cast_to(v, cast) for v in x]
            else:
                x = xs[where] if where >= 0 else xs[n + ~where]
                if cast is not None:
                    x = cast_to(x, cast)
            if keyword:
                kwargs[keyword] = x
            else:
                args.append(x)
        outs = body(*args, **kwargs)
        if unrounded:
            outs = cast_to(outs, target)
        return tuple(outs) if isinstance(outs, (tuple, list)) else (outs,)
    return function


NARROW = (jnp.dtype(jnp.float16), jnp.dtype(jnp.bfloat16))


def argument_dtype(operator, name, given, target):
    """What an argument of an operator that computes in ``target`` is cast to; None: it stays as it is."""
    if target is None or operator.promoted is not None and name not in operator.promoted:
        return None
    if name in operator.unrounded and jnp.dtype(target) in NARROW and (type(given) is Wrapped or type(given) is Spec and given.numel == 1):
        return jnp.dtype(jnp.float32)
    return target


def cast_to(x, target):
    """``x.astype(target)`` as PyTorch casts: a complex number loses its imaginary part (and is true for it), a float is truncated."""
    if x.dtype == target:
        return x
    if target == jnp.bool_:
        return x != 0
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(target, jnp.complexfloating):
        x = x.real
    if jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(target, jnp.integer):
        return _truncate(x if x.dtype == jnp.float64 else x.astype(jnp.float32), target)     # narrow ones do not reach to the limits
    if target == dtypes.float8_e4m3fn.numpy:
        x = _within(x, dtypes.LARGEST_E4M3FN)
    return jax.lax.convert_element_type(x, target)


def _within(x, most):
    """A real number that a type without infinities is to hold: what is larger than all of its numbers becomes the largest. NaN stays."""
    if x.dtype != jnp.float64:
        x = x.astype(jnp.float32)
    return jnp.where(x > most, most, jnp.where(x < -most, -most, x)).astype(x.dtype)


def _truncate(x, target):
    """Float to integer as x86 does it: through a signed type, wrapping for narrow ones; out of range gives the lowest value."""
    wide = jnp.int64 if jnp.dtype(target).itemsize == 8 or target in (jnp.uint32,) else jnp.int32
    top = 2.0 ** (63 if wide == jnp.int64 else 31)
    lowest = jnp.asarray(jnp.iinfo(wide).min, wide)
    y = jnp.where((x >= -top) & (x < top), x, 0).astype(wide)
    y = jnp.where((x >= -top) & (x < top), y, lowest)
    return y.astype(target)


def refuse_result(operator, signature, common):
    """PyTorch's errors for a result that does not go into the first tensor, by its shape or by its type."""
    own = signature.specs[0]
    if common is not None:
        broadcast_inplace(*signature.specs)
        result = operator.result_dtype(common) if operator.result_dtype else (dtypes.bool if operator.promote == "bool" else common)
        if not dtypes.can_cast(result, own.dtype):
            named = dtypes.cpp_name if operator.name.startswith("clamp") and operator.name.endswith("_Scalar") else dtypes.scalar_name
            raise RuntimeError(f"result type {dtypes.scalar_name(result)} can't be cast to the desired output type {named(own.dtype)}")


def into_self(operator, signature, function, common):
    """The in-place form: the result is cast to the first tensor's type, if PyTorch allows it."""
    refuse_result(operator, signature, common)
    target = signature.specs[0].dtype.numpy

    def inplace(*xs):
        return (cast_to(function(*xs)[0], target),)
    return inplace


def output_specs(operator, signature, outputs, device):
    """The tensors' specs of the outputs, with PyTorch's strides."""
    how = operator.layout
    if how == "contiguous":
        strides = [None] * len(outputs)
    elif how == "pointwise":
        operands = [layout.operand(s) for s in signature.specs]
        numbers = not operator.name.startswith("clamp") and any(
            type(t) is Wrapped and p.kind is TensorOrNumber for p, t in zip(operator.parameters, signature.template, strict=True)
        )
        strides = [layout.pointwise(out.shape, operands, numbers) if operands else None for out in outputs]
    elif how == "columns":
        strides = [layout.columns(out.shape) if len(out.shape) >= signature.specs[0].ndim else None for out in outputs]
    elif how == "suggested":
        first = signature.specs[0]
        strides = [layout.suggested(first.size, first.stride, out.shape) for out in outputs]
    elif how == "like":
        first = signature.specs[0]
        strides = [layout.like(first.size, first.stride) if tuple(first.size) == out.shape else None for out in outputs]
    else:
        statics = {p.name: t for p, t in zip(operator.parameters, signature.template, strict=True)}
        strides = how(signature.specs, outputs, statics)
    return tuple(_output_spec(out, s, device) for out, s in zip(outputs, strides, strict=True))


def _output_spec(out, strides, device):
    made = spec(out.shape, None if strides is None else tuple(strides), out.dtype, device)
    return within(made, strides.elements) if isinstance(strides, layout.Within) else made


def static_key(template):
    """What of a template names the operation in another process: statics by their text, tensors and numbers by their places.

    What kind of tensors and numbers these are the avals tell, but not that `where(c, 0.0, x)` is another operation than `where(c, x, 0.0)`.
    """
    return tuple("·" if type(t) is Spec else "#" if type(t) is Wrapped else len(t) if isinstance(t, tuple) and t and type(t[0]) is Spec else
                 repr(t) for t in template)


__all__ = ["Number", "Tensor", "Wrapped", "WRAPPED", "aval", "broadcast_shapes", "plan_for", "promoted_dtype"]
