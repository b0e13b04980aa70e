"""View operators: another geometry over the same storage, with PyTorch's history.

A view records nothing by itself; it is read when it is used. For the gradient each has a plan on logical values: the same rule applied to a
contiguous input, read by the same access programs, and differentiated by replay (views are linear: nothing is saved).
Owns: `view_of`, the public view operators, histories of views after in-place writes. Geometry rules are in `jtensor.views.rules`.
"""

from ..autograd.graph import node_class, sequence
from ..base import devices, dtypes
from ..ops.registry import composite
from ..trace import spec as specs
from ..trace.plan import Plan
from ..trace.tape import LOCAL
from ..views import access as accesses
from ..views import geometry, rules
from .core import Tensor, View, make_tensor
from .history import attach, edge_of, move_retained, node_type

# -- making a view ----------------------------------------------------------------------------------------------------


# What the gradient of a view ends with in PyTorch, where it is not "…BackwardBackward0".
_DOUBLE = {"AsStridedBackward0": "AsStridedBackward0", "SplitBackward0": "CatBackward0", "SplitWithSizesBackward0": "CatBackward0",
           "UnbindBackward0": "StackBackward0", "ViewBackward0": "ViewBackward0", "ReshapeAliasBackward0": "ViewBackward0",
           "ExpandBackward0": "+"}


class ViewOperator:
    """Stands for a view operator in the graph: a name, and nothing to save."""

    grad = outputs = promote = None
    saves = ()
    nondiff = frozenset()

    def __init__(self, name):
        self.name, self.backward, self.key, self.double = name, name, "view." + name, _DOUBLE.get(name)


_operators, _plans = {}, {}


def operator_of(name):
    found = _operators.get(name)
    if found is None:
        found = _operators[name] = ViewOperator(name)
    return found


def geometry_of(t):
    spec = t._spec
    return tuple(spec.size), spec.stride, t._offset


def share(self, size, stride, offset, dtype=None, conj=None, neg=None, creation="default"):
    """A tensor with another geometry on this one's storage and version counter, without history yet."""
    spec = self._spec
    made = specs.spec(size, stride, dtype or spec.dtype, spec.device, spec.conj if conj is None else conj, spec.neg if neg is None else neg)
    return share_spec(self, made, offset, creation)


def share_spec(self, made, offset, creation="default"):
    """`share` for a geometry that is a Spec already."""
    out = make_tensor(self._storage, made, offset)
    out._counter = self._counter
    info = self._info
    if self._inference_tensor():
        out._autograd_meta().inference = True
        return out
    if LOCAL.inference:
        creation = "inference"
    elif not LOCAL.grad_enabled:
        creation = "no_grad"
    if info is None or info.base is None:
        base = self
    elif info.differentiable:
        base = info.base
        if creation == "default" or info.creation == "inference":
            creation = info.creation
    else:
        base = self
    out._info = View(base, creation, out._counter.version, True)
    if info is not None and info.replay is not None:
        out._info.replay = lambda base: as_strided(info.replay(base), tuple(made.size), made.stride, offset)
    return out


def replayed(self, out, function):
    """Tells a view that is no mere geometry of its base how to be made again from it: ``function`` makes it from ``self``."""
    info = self._info
    if out._info is None:
        return
    if info is None or info.base is None or not info.differentiable:
        out._info.replay = function
    elif info.replay is not None:
        out._info.replay = lambda base: function(info.replay(base))
    else:
        here = geometry_of(self)
        out._info.replay = lambda base: function(as_strided(base, *here))


def view_of(self, rule, name, *args, inverse=None):
    """The view that a geometry rule makes of a tensor.

    ``inverse(grad)``, where the gradient is a view of the gradient that arrives, as in PyTorch: then it is no copy.
    """
    spec = self._spec
    key = (rule, name, spec, args)
    try:
        found = _geometries.get(key)
    except TypeError:                                # arguments that cannot be keys, such as lists
        return _view_of(self, rule, name, args, inverse)
    if found is None:
        size, stride, delta = rule(tuple(spec.size), spec.stride, 0, *args)
        if len(_geometries) >= 1 << 16:
            _geometries.clear()
        found = _geometries[key] = [specs.spec(size, stride, spec.dtype, spec.device, spec.conj, spec.neg), delta, None, ()]
    out = share_spec(self, found[0], self._offset + found[1])
    if LOCAL.grad_enabled and self.requires_grad:
        plan = found[2]
        if plan is None:
            size = tuple(spec.size)
            plan, starts = logical_plan(name, spec.aval, rule(size, specs.contiguous_strides(size), 0, *args), args if inverse else None)
            if inverse and plan.inverse is None:
                plan.inverse = lambda grad, node: (inverse(grad),)
            found[2], found[3] = plan, starts
        attach(plan, (self,), (0,), (out,), found[3])
    return out


_geometries = {}


def _view_of(self, rule, name, args, inverse):
    size, stride, offset = geometry_of(self)
    out = share(self, *rule(size, stride, offset, *args))
    if LOCAL.grad_enabled and self.requires_grad:
        hang(self, out, name, rule(size, specs.contiguous_strides(size), 0, *args), inverse, args)
    return out


def hang(self, out, name, logical, inverse=None, args=()):
    """Gives a view its node: ``logical`` is its geometry over the contiguous input; the rule's arguments ``args`` name the inverse."""
    plan, starts = logical_plan(name, self._spec.aval, logical, args if inverse else None)
    if inverse and plan.inverse is None:
        plan.inverse = lambda grad, node: (inverse(grad),)
    attach(plan, [self], (0,), [out], starts)


def logical_plan(name, input_aval, logical, args=None):
    size, stride, offset = logical
    shape = tuple(input_aval.shape)
    program, starts = accesses.access(shape, specs.contiguous_strides(shape), tuple(size), tuple(stride), offset)
    key = (name, input_aval, program, args)
    plan = _plans.get(key)
    if plan is None:
        def function(x, *starts):
            return (program.read(x, *starts),)
        plan = _plans[key] = _plan(name, ("view", name, program.key), function, input_aval,
                                   specs.aval(tuple(size), input_aval.dtype, input_aval.device), len(starts))
    return plan, starts


def _plan(name, key, function, input_aval, output_aval, count):
    plan = Plan(key, function, (input_aval,), (output_aval,), ("i",) * count, moves=True)
    plan.operator = operator_of(name)
    plan.specs = (specs.of_aval(output_aval),)
    plan.spec = plan.specs[0]
    plan.differentiable = (output_aval.dtype.differentiable,)
    return plan


def _pure_plan(name, input_aval, function, output_aval, *extra):
    """A plan of a view that changes the elements' type or sign: a function of logical values."""
    key = (name, input_aval, output_aval, extra)
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = _plan(name, ("view", name, repr(extra)), lambda x: (function(x),), input_aval, output_aval, 0)
        plan.moves = False
    return plan


def history_of_view(self, info):
    """After a write to the base or a sibling: the view's history is an `as_strided` of the base's present one."""
    base = info.base
    info.version = self._counter.version
    if info.replay is not None:
        previous, LOCAL.grad_enabled = LOCAL.grad_enabled, True
        try:
            self._edge, self._requires_grad = info.replay(base)._edge, True
        finally:
            LOCAL.grad_enabled = previous
        return
    plan, starts = strided_plan(base._spec, (tuple(self._spec.size), self._spec.stride, self._offset - base._offset), self._spec)
    cls = node_type(plan.operator)
    node = cls.__new__(cls)
    node.edges, node.sequence = (edge_of(base),), sequence()
    node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = node.site = None
    node.plan, node.needs, node.scalars, node.saved = plan, (0,), starts, ()
    move_retained(self, node)
    self._edge, self._requires_grad = (node, 0), True


def strided_plan(base, wanted, spec=None):
    """The plan that reads a geometry out of a tensor's logical value by way of its memory."""
    size, stride, offset = wanted
    target = spec.dtype if spec is not None else base.dtype
    cast = () if target is base.dtype else (base.dtype.numpy, target.numpy)
    if base.dense:
        program, starts = accesses.access(tuple(base.size), base.stride, size, stride, offset, *cast)

        def function(x, *starts):
            return (program.read(x, *starts),)
        key = (program.key,)
    else:
        count = max(geometry.extent(tuple(base.size), base.stride, 0), geometry.extent(size, stride, offset))
        into, into_starts = accesses.access((count,), (1,), tuple(base.size), base.stride, 0)
        program, starts = accesses.access((count,), (1,), size, stride, offset, *cast)

        def function(x, *starts):
            import jax.numpy as jnp
            memory = into.write(jnp.zeros((count,), x.dtype), x, *[jnp.int64(s) for s in into_starts])
            return (program.read(memory, *starts),)
        key = (program.key, into.key, count)
    identity = ("AsStridedBackward0", base, program, target)
    plan = _plans.get(identity)
    if plan is None:
        plan = _plans[identity] = _plan("AsStridedBackward0", ("as_strided", *key), function, base.aval,
                                        specs.aval(size, target, base.device), len(starts))
    return plan, starts


# -- basic ------------------------------------------------------------------------------------------------------------


@composite()
def select(input, dim, index):
    """The slice at ``index`` along ``dim``, without that dimension; a view."""
    return view_of(input, rules.select, "SelectBackward0", dim, _index(index))


def _index(n):
    return n.__index__() if not isinstance(n, int) else n


def slice_(self, dim, start, stop, step):
    return view_of(self, rules.slice_, "SliceBackward0", dim, start, stop, step)


@composite()
def narrow(input, dim, start, length):
    """``length`` elements from ``start`` along ``dim``; a view."""
    return view_of(input, rules.narrow, "SliceBackward0", dim, int(start), length)


@composite(aliases=("swapaxes", "swapdims"))
def transpose(input, dim0, dim1):
    """Two dimensions swapped; a view."""
    return view_of(input, rules.transpose, "TransposeBackward0", dim0, dim1, inverse=lambda grad: transpose(grad, dim0, dim1))


@composite()
def t(input):
    """The transpose of a matrix (vectors stay as they are); a view."""
    return view_of(input, rules.t, "TBackward0", inverse=t)


@composite()
def permute(input, *dims):
    """The dimensions in another order; a view."""
    return _permuted(input, rules.permute, _dims(dims))


def _permuted(self, rule, *args):
    def inverse(grad):
        n = self_ndim
        moved = rule(tuple(range(n)), (1,) * n, 0, *args)[0]
        return permute(grad, *sorted(range(n), key=moved.__getitem__))
    self_ndim = self._spec.ndim
    return view_of(self, rule, "PermuteBackward0", *args, inverse=inverse)


def _dims(dims):
    if len(dims) == 1 and isinstance(dims[0], (tuple, list)):
        dims = dims[0]
    return tuple(_index(d) for d in dims)


@composite(aliases=("moveaxis",))
def movedim(input, source, destination):
    """Dimensions moved to other places; a view."""
    return _permuted(input, rules.movedim, *(tuple(d) if isinstance(d, list) else d for d in (source, destination)))


def _back_to(self):
    """The inverse of a change of shape."""
    size = tuple(self._spec.size)
    return lambda grad: reshape(grad, size)


def _same(size, stride, offset):
    return size, stride, offset


def transposed(self):
    return _permuted(self, rules.T)


def matrix_transposed(self, name):
    if self._spec.ndim < 2:
        return view_of(self, rules.mT, "TransposeBackward0")           # a warning for a number, an error for a vector
    return transpose(self, -2, -1)


def adjoint_property(self, name):
    if name == "H" and self._spec.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self._spec.ndim}-D tensor."
                           + (" For batches of matrices, consider using tensor.mH" if self._spec.ndim > 2 else ""))
    if self._spec.ndim == 0:
        return self.conj() if self._spec.dtype.is_complex else self
    if self._spec.ndim < 2:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got {self._spec.ndim}-D tensor.")
    flipped = transpose(self, -2, -1)
    return flipped.conj() if self._spec.dtype.is_complex else flipped


@composite()
def adjoint(input):
    """The conjugate transpose of the last two dimensions; a view."""
    if input._spec.ndim == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return adjoint_property(input, "adjoint()") if input._spec.ndim else input.conj()


# -- shapes -----------------------------------------------------------------------------------------------------------


@composite(function=False)
def view(self, *shape, dtype=None):
    """The same memory under another shape (or dtype); raises where strides do not allow it."""
    if dtype is not None or len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        return view_dtype(self, dtype or shape[0])
    return view_of(self, rules.view, "ViewBackward0", _dims(shape), inverse=_back_to(self))


@composite(function=False)
def view_as(self, other):
    """The same memory under the other's shape."""
    return view(self, tuple(other._spec.size))


@composite()
def reshape(input, *shape):
    """The tensor under another shape: a view where strides allow it, else a copy."""
    shape = _dims(shape if shape else ((),))
    size, stride, _ = geometry_of(input)
    wanted = rules.infer_size(shape, input._spec.numel)
    if rules.compute_view_strides(size, stride, wanted) is None:
        from ..ops.families.create import contiguous_copy
        from .dispatch import call
        copied = call(contiguous_copy, (input,))
        return unsafe_view(copied, wanted)
    name = "ViewBackward0" if input._spec.contiguous else "ReshapeAliasBackward0"
    return view_of(input, rules.view, name, wanted, inverse=_back_to(input))


def unsafe_view(self, size):
    """A reshaped fresh copy: shares the copy's storage, but PyTorch does not call it a view."""
    out = view_of(self, rules.view, "UnsafeViewBackward0", size, inverse=_back_to(self))
    out._info = None
    return out


@composite(function=False)
def reshape_as(self, other):
    """The tensor under the other's shape."""
    return reshape(self, tuple(other._spec.size))


@composite()
def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions ``start_dim`` to ``end_dim`` made one; a view where strides allow it."""
    size = tuple(input._spec.size)
    wanted = rules.flatten(*geometry_of(input), start_dim, end_dim)[0]
    return input if wanted == size else reshape(input, wanted)


@composite()
def unflatten(input, dim, sizes):
    """One dimension split into several; a view."""
    return view_of(input, rules.unflatten, "ViewBackward0", dim, tuple(sizes) if isinstance(sizes, (tuple, list)) else sizes,
                   inverse=_back_to(input))


@composite()
def ravel(input):
    """The tensor in one dimension."""
    return reshape(contiguous(input), (-1,))


@composite(function=False)
def contiguous(self, memory_format=None):
    """The tensor itself if it is contiguous, else a contiguous copy."""
    from ..ops.families.create import contiguous_copy
    from .dispatch import call
    if memory_format is not None and "channels_last" in str(memory_format):
        return _channels_last(self)
    if self._spec.contiguous:
        return self
    return call(contiguous_copy, (self,))


def _channels_last(self):
    if self._spec.ndim != 4:
        raise RuntimeError("required rank 4 tensor to use channels_last format")
    if geometry.is_channels_last(tuple(self._spec.size), self._spec.stride):
        return self
    return permute(contiguous(permute(self, 0, 2, 3, 1)), 0, 3, 1, 2)


@composite()
def squeeze(input, dim=None):
    """Without its dimensions of size 1 (or those named); a view."""
    size = tuple(input._spec.size)

    def inverse(grad):
        return grad if tuple(grad._spec.size) == size else reshape(grad, size)
    if dim is None:
        return view_of(input, rules.squeeze, "SqueezeBackward0", inverse=inverse)
    if isinstance(dim, (tuple, list)):
        return view_of(input, rules.squeeze, "SqueezeBackward2", tuple(dim), inverse=inverse)
    return view_of(input, rules.squeeze, "SqueezeBackward1", dim, inverse=inverse)


@composite()
def unsqueeze(input, dim):
    """With a dimension of size 1 put in at ``dim``; a view."""
    return view_of(input, rules.unsqueeze, "UnsqueezeBackward0", _index(dim), inverse=lambda grad: squeeze(grad, dim))


@composite(function=False)
def expand(self, *size, implicit=False):
    """Dimensions of size 1 repeated without copying; a view whose elements share memory."""
    own = tuple(self._spec.size)
    return view_of(self, rules.expand, "ExpandBackward0", _dims(size), dtypes.scalar_name(self._spec.dtype),
                   inverse=lambda grad: grad.sum_to_size(own))


@composite(function=False)
def expand_as(self, other):
    """Expanded to the other's size."""
    return expand(self, tuple(other._spec.size))


@composite()
def broadcast_to(input, size):
    """Expanded to ``size``."""
    return expand(input, tuple(size))


@composite()
def diagonal(input, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions as the last one; a view."""
    return view_of(input, rules.diagonal, "DiagonalBackward0", offset, dim1, dim2)


@composite(function=False)
def unfold(self, dimension, size, step):
    """All slices of ``size`` along a dimension, ``step`` apart, as a last dimension; a view."""
    return view_of(self, rules.unfold, "UnfoldBackward0", dimension, size, step)


@composite()
def as_strided(input, size, stride, storage_offset=None):
    """Any geometry over the tensor's storage; a view."""
    size, stride = tuple(map(_index, size)), tuple(map(_index, stride))
    offset = input._offset if storage_offset is None else int(storage_offset)
    storage = input._storage
    rules.as_strided(input._offset, size, stride, offset, storage.nbytes(), input._spec.dtype.itemsize)
    out = share(input, size, stride, offset)
    if LOCAL.grad_enabled and input.requires_grad:
        plan, starts = strided_plan(input._spec, (size, stride, offset - input._offset))
        attach(plan, [input], (0,), [out], starts)
    return out


# -- several ----------------------------------------------------------------------------------------------------------


def views_of(self, geometries, name):
    """Several views that one node makes; PyTorch forbids in-place writes to them where their history is needed."""
    outs = [share(self, *g, creation="multi") for g in geometries]
    return outs


def _multi(self, rule, name, *args):
    size, stride, offset = geometry_of(self)
    outs = views_of(self, rule(size, stride, offset, *args), name)
    if LOCAL.grad_enabled and self.requires_grad:
        logical = rule(size, specs.contiguous_strides(size), 0, *args)
        plan, starts = _multi_plan(name, self._spec.aval, logical)
        attach(plan, [self], (0,), outs, starts)
    return tuple(outs)


def _multi_plan(name, input_aval, logical):
    programs, starts = [], []
    shape = tuple(input_aval.shape)
    for size, stride, offset in logical:
        program, own = accesses.access(shape, specs.contiguous_strides(shape), tuple(size), tuple(stride), offset)
        programs.append((program, len(own)))
        starts.extend(own)
    key = (name, input_aval, tuple(programs))
    plan = _plans.get(key)
    if plan is None:
        def function(x, *starts):
            outs, at = [], 0
            for program, count in programs:
                outs.append(program.read(x, *starts[at:at + count]))
                at += count
            return tuple(outs)
        outputs = tuple(specs.aval(tuple(g[0]), input_aval.dtype, input_aval.device) for g in logical)
        plan = Plan(("view", name, tuple(p.key for p, _ in programs)), function, (input_aval,), outputs, ("i",) * len(starts), moves=True)
        plan.operator = operator_of(name)
        plan.specs = tuple(specs.of_aval(a) for a in outputs)
        plan.spec = plan.specs[0] if len(outputs) == 1 else None
        plan.differentiable = (input_aval.dtype.differentiable,) * len(outputs)
        _plans[key] = plan
    return plan, tuple(starts)


@composite()
def unbind(input, dim=0):
    """The slices along a dimension, as a tuple of views."""
    return _multi(input, rules.unbind, "UnbindBackward0", dim)


@composite()
def split(tensor, split_size_or_sections, dim=0):
    """Pieces of a given size (the last may be smaller), or of given sizes; a tuple of views."""
    if isinstance(split_size_or_sections, (tuple, list)):
        return _multi(tensor, rules.split, "SplitWithSizesBackward0", tuple(split_size_or_sections), dim)
    return _multi(tensor, rules.split, "SplitBackward0", _index(split_size_or_sections), dim)


@composite()
def split_with_sizes(input, split_sizes, dim=0):
    """Pieces of given sizes."""
    return _multi(input, rules.split, "SplitWithSizesBackward0", tuple(split_sizes), dim)


@composite()
def chunk(input, chunks, dim=0):
    """At most ``chunks`` pieces of equal size (the last may be smaller); a tuple of views."""
    return _multi(input, rules.chunk, "SplitBackward0", chunks, dim)


def _each(self, geometries_of, name, *args):
    """Several views, each with a history of its own (PyTorch makes these by slicing)."""
    size, stride, offset = geometry_of(self)
    made = geometries_of(size, stride, offset, *args)
    outs = [share(self, *g) for g in made]
    if LOCAL.grad_enabled and self.requires_grad:
        for out, logical in zip(outs, geometries_of(size, specs.contiguous_strides(size), 0, *args), strict=True):
            hang(self, out, name, logical)
    return tuple(outs)


@composite()
def tensor_split(input, indices_or_sections, dim=0):
    """Pieces of nearly equal size, or cut at given indices; a tuple of views."""
    cuts = indices_or_sections
    if isinstance(cuts, Tensor):
        cuts = cuts.tolist()
    cuts = tuple(cuts) if isinstance(cuts, (tuple, list)) else cuts
    return _each(input, rules.tensor_split, "SliceBackward0", cuts, dim)


# -- other readings of the same memory --------------------------------------------------------------------------------


@composite()
def view_as_real(input):
    """A complex tensor as a real one with a last dimension of 2; a view."""
    import jax.numpy as jnp
    if not input._spec.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if input._spec.conj:
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as "
            "real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original."
        )
    return _retyped(
        input,
        rules.view_as_real,
        "ViewAsRealBackward0",
        input._spec.dtype.to_real(),
        lambda x: jnp.stack([x.real, x.imag], -1),
        view_as_real,
        lambda grad, node: (view_as_complex(contiguous(grad)),),
    )


@composite()
def view_as_complex(input):
    """A real tensor whose last dimension is 2 as a complex one; a view."""
    import jax
    if input._spec.dtype.to_complex() is input._spec.dtype or input._spec.dtype.category != 2:
        raise RuntimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
                           f"{dtypes.scalar_name(input._spec.dtype)}")
    return _retyped(input, rules.view_as_complex, "ViewAsComplexBackward0", input._spec.dtype.to_complex(),
                    lambda x: jax.lax.complex(x[..., 0], x[..., 1]), view_as_complex,
                    lambda grad, node: (view_as_real(resolve_conj(contiguous(grad))),))


def _retyped(self, rule, name, dtype, function, again, inverse):
    size, stride, offset = rule(*geometry_of(self))
    out = share(self, size, stride, offset, dtype, conj=False)
    replayed(self, out, again)
    if LOCAL.grad_enabled and self.requires_grad:
        plan = _pure_plan(name, self._spec.aval, function, specs.aval(size, dtype, self._spec.device))
        plan.inverse = inverse
        attach(plan, [self], (0,), [out], ())
    return out


@composite(method=False)
def real(input):
    """The real part of a complex tensor, a view; a real tensor itself."""
    if not input._spec.dtype.is_complex:
        return input
    plain = _conj_view(input) if input._spec.conj else input
    return view_as_real(plain).select(-1, 0)


@composite(method=False)
def imag(input):
    """The imaginary part of a complex tensor; a view."""
    if not input._spec.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    if input._spec.conj:
        return view_as_real(_neg_view(_conj_view(input))).select(-1, 1)
    return view_as_real(input).select(-1, 1)


def _conj_view(self):
    import jax.numpy as jnp
    out = share(self, *geometry_of(self), conj=not self._spec.conj)
    replayed(self, out, _conj_view)
    if LOCAL.grad_enabled and self.requires_grad:
        plan = _pure_plan("ConjBackward0", self._spec.aval, jnp.conj, self._spec.aval)
        plan.inverse = lambda grad, node: (conj(grad),)
        attach(plan, [self], (0,), [out], ())
    return out


def _neg_view(self):
    out = share(self, *geometry_of(self), neg=not self._spec.neg)
    replayed(self, out, _neg_view)
    if LOCAL.grad_enabled and self.requires_grad:
        attach(_pure_plan("NegViewBackward0", self._spec.aval, lambda x: -x, self._spec.aval), [self], (0,), [out], ())
    return out


@composite()
def conj(input):
    """The complex conjugate, as a view; a real tensor itself."""
    return _conj_view(input) if input._spec.dtype.is_complex else input


@composite()
def resolve_conj(input):
    """The tensor with its conjugation carried out."""
    return input.clone() if input._spec.conj else input


@composite()
def resolve_neg(input):
    """The tensor with its negation carried out."""
    return input.clone() if input._spec.neg else input


@composite()
def is_conj(input):
    """Whether the conjugate bit is set."""
    return input._spec.conj


@composite()
def is_neg(input):
    """Whether the negative bit is set."""
    return input._spec.neg


def view_dtype(self, dtype):
    """The same bytes read as another type; no differentiable view, in PyTorch: like `detach`, it shares memory and version only."""
    spec = self._spec
    if spec.conj or spec.neg:
        raise RuntimeError("torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype."
                           if spec.conj else
                           "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype.")
    size, stride, offset = geometry_of(self)
    if dtype is not spec.dtype:
        try:
            size, stride, offset = rules.view_dtype(size, stride, offset, spec.dtype.itemsize, dtype.itemsize)
        except RuntimeError as error:
            named = f"{dtypes.scalar_name(spec.dtype)} as {dtypes.scalar_name(dtype)}"
            raise RuntimeError(str(error).replace("self as dtype", named)) from None
    out = make_tensor(self._storage, specs.spec(size, stride, dtype, spec.device), offset)
    out._counter = self._counter
    return out


@composite(function=False)
def alias(self):
    """Another tensor on the same memory, with history; a view."""
    return view_of(self, _same, "AliasBackward0", inverse=lambda grad: grad)


# -- in place ---------------------------------------------------------------------------------------------------------


def become(self, made):
    """``self`` takes the geometry and the history of a view of itself (`t_`, `squeeze_`, `unsqueeze_`, ...)."""
    self._spec, self._offset, self._cached = made._spec, made._offset, None
    self._counter.version += 1
    edge = made._edge
    if edge is not None:
        node = edge[0]
        node.__class__ = node_class(INPLACE_NAMES.get(node.name(), node.name()), type(node).__base__)
        self._edge, self._requires_grad = edge, True
        if self._info is not None:
            self._info.version = self._counter.version
    return self


INPLACE_NAMES = {"TBackward0": "TBackward1", "TransposeBackward0": "TransposeBackward1", "UnsqueezeBackward0": "UnsqueezeBackward1",
                 "SqueezeBackward0": "SqueezeBackward3", "SqueezeBackward1": "SqueezeBackward4", "SqueezeBackward2": "SqueezeBackward5",
                 "AsStridedBackward0": "AsStridedBackward1"}


def _inplace(function, name):
    def method(self, *args, **kwargs):
        from ..autograd import gradmode_checks as checks
        if LOCAL.grad_enabled and self.requires_grad:
            checks.before_inplace(self, True)
        return become(self, function(self, *args, **kwargs))
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name[:-1]}`, changing this tensor's own geometry."
    composite(name, function=False)(method)


for _function, _name in ((t, "t_"), (transpose, "transpose_"), (squeeze, "squeeze_"), (unsqueeze, "unsqueeze_"), (transpose, "swapaxes_"),
                         (transpose, "swapdims_"), (as_strided, "as_strided_")):
    _inplace(_function, _name)

__all__ = ["View", "devices", "view_of"]
