"""PyTorch's refusals of in-place operations and `out=`, with its messages.

Asked before anything is changed, so that a refused operation leaves every tensor as it was. May not know: the Tensor class.
"""
from ..base import geometry, sites
from ..base.bounded import MANY, Bounded
from ..ops import out_types
from ..trace.tape import LOCAL

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
OVERLAP = ("unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the "
           "tensor before performing the operation.")

PARTIAL = ("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please "
           "clone() the tensor before performing the operation.")


def before_inplace(self, recording):
    """May ``self`` be written to? ``recording``: some operand requires grad and grad mode is on."""
    if not (recording and LOCAL.grad_enabled) or self._inference_tensor() is True:
        return
    info = self._info
    if info is not None and info.differentiable:
        view_may_be_rebased(self, info)
        if self.requires_grad and info.base._edge is None:
            raise RuntimeError(VIEW_OF_LEAF)
    if self.requires_grad and self._edge is None:      # so is a view whose base got a history since, until somebody asks for its own
        raise RuntimeError(LEAF)


AMBIGUOUS = (" Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the "
             "view and the "
             "inplace either both inside the {0} block (if you don't want the inplace to be tracked) or both outside (if you want "
             "the inplace "
             "to be tracked).")
WHY_NOT = {
    "multi": " This view is the output of a function that returns multiple views. Such functions do not allow the output views to "
             "be modified "
             "inplace. You should replace the inplace operation by an out-of-place one.",
    "nested": " jtensor does not have the history of a nested tensor that is written to through a view of its memory; what works: writes "
              "to the nested tensor itself, or to a clone of the view.",
    "no_grad": AMBIGUOUS.format("no_grad"),
    "inference": AMBIGUOUS.format("inference_mode"),
    "custom": " This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle "
              "view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This "
              "behavior is forbidden. You can fix this by cloning the output of the custom Function.",
}


def view_may_be_rebased(self, info, indirect=False):
    """Views made in no_grad mode, by multi-view functions or by custom functions refuse to be modified in place with grad mode on.

    ``indirect``: not the view, but its base or a sibling was written to.
    """
    creation = info.creation
    if creation == "default":
        return
    how = "its base or another view of its base has been" if indirect else "is being"
    edge = self._edge
    if creation in ("no_grad", "inference") or edge is None:
        lead = "A view was created in"
        if edge is not None:
            lead = f"Output {edge[1]} of {edge[0].forward_name()} is a view of a view which was created in"
        mode, end = ("inference", "in normal mode.") if creation == "inference" else ("no_grad", "with grad mode enabled.")
        text = f"{lead} {mode} mode and {how} modified inplace {end}"
    else:
        text = f"Output {edge[1]} of {edge[0].forward_name()} is a view and {how} modified inplace."
    raise RuntimeError(text + WHY_NOT[creation])


INFERENCE = ("Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before "
             "doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.")


def counting_allowed(self):
    """Of inference tensors changes are not counted, and refused where they would be, which is when they have been made."""
    if self._auto is not None and self._inference_tensor() is True and not LOCAL.inference:
        raise RuntimeError(INFERENCE)


def no_internal_overlap(self):
    spec = self._spec
    if not spec.dense and geometry.has_internal_overlap(tuple(spec.size), spec.stride) == "yes":
        raise RuntimeError(OVERLAP)


def no_partial_overlap(self, other):
    """An operand that shares some, but not exactly all, of the memory that is written to."""
    if overlap(self._spec, self._offset, other._spec, other._offset) == "partial":
        raise RuntimeError(PARTIAL)


APART = ("index_put", "index_copy", "index_add", "index_reduce", "scatter", "scatter_add", "scatter_reduce", "put")
_ASKED_BEFORE = ("index_put.mask", "index_put.mask_number")
_ANYHOW = ("fill_tensor", "index_fill", "masked_scatter")
_GROWS = frozenset(("cat", "stack"))                   # which ask before the memory that is written to is resized
_OUTAPART = frozenset(("gather", "index_select", "take", "max", "min", "topk", "mode", "median", "nanmedian", *_GROWS))
ASKED_FIRST = frozenset((              # about elements in one place, before it is resized, as those that go element by element
    "angle", "frexp", "index_select", "logical_xor", "masked_select", "nan_to_num", "nonzero", "outer", "scatter", "scatter_add",
    "scatter_reduce", "sub", "take", *[f"special_{name}" for name in """airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0
    modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1
    spherical_bessel_j0""".split()]))
# Written even where elements of ``out=`` share a place, and what stays there: the last of them, or one result of all, since PyTorch's
# kernel takes a dimension that the memory does not have for one more to reduce.
OUT_OVERLAPS = {
    **dict.fromkeys(("sum", "sum_dim", "nansum", "nansum_dim", "linalg_vecdot", "linalg_matrix_rank"), "sum"),
    **dict.fromkeys(("prod", "prod_dim"), "prod"), **dict.fromkeys(("all", "all_dim", "all_dims"), "all"),
    **dict.fromkeys(("any", "any_dim", "any_dims"), "any"), "amax": "amax", "amin": "amin", "eye": "amax",
    **dict.fromkeys(("ones", "zeros", "full", "empty", "triu", "mv", "bmm"), "last")}
_OUTWHOLE = frozenset(("cumsum", "cumprod", "logcumsumexp", "sort"))               # may write over their operand, not over a part of it


def operand_may_overlap(self, other, name):
    """Refuses an operand of an in-place operator that shares memory with what is written: some, or for writes by index any of it."""
    if name in _ASKED_BEFORE or name != "copy" and resolved_first(self, other):
        return
    name = name.split(".")[0]
    if name in APART:
        no_overlap(self, other)
    elif other is not self and name not in _ANYHOW:
        no_partial_overlap(self, other)


def out_memory(operator, result, target, operands):
    """The same for ``out=``; operators that go element by element ask before they resize."""
    pointwise = operator.promote is not None and operator.layout == "pointwise"
    if pointwise or operator.name.split(".")[0] in ASKED_FIRST:
        no_internal_overlap(target)
    if pointwise:
        size, full = list(target._spec.size), list(result._spec.size)
        if size != full and any(other is target for other in operands):         # what is read, too, is not resized
            raise RuntimeError(f"output with shape {size} doesn't match the broadcast shape {full}")
    elif tuple(target._spec.size) != tuple(result._spec.size) and operator.name not in _GROWS:
        return
    name = operator.name.split(".")[0].split("_dim")[0]
    for other in operands:
        if other._storage is not target._storage or resolved_first(target, other):
            continue
        if operator.promote is not None and operator.name not in _GROWS:
            if other is not target:
                no_partial_overlap(target, other)
        elif name in _OUTAPART:
            no_overlap(target, other)
        elif name in _OUTWHOLE and other is not target:
            no_partial_overlap(target, other)


def resolved_first(target, other):
    """Whether PyTorch copies one of the two before it computes, as it does what is lazily conjugated or negated, but to copy it."""
    a, b = target._spec, other._spec
    return a.conj or a.neg or b.conj or b.neg


def no_overlap(self, other):
    """An operand that shares any of the memory that is written to."""
    if resolved_first(self, other):
        return
    if other is self or overlap(self._spec, self._offset, other._spec, other._offset) in ("partial", "full"):
        raise RuntimeError(PARTIAL)


def overlap(a, at_a, b, at_b):
    """How much of one memory two geometries at offsets have in common, as PyTorch finds it: see `geometry.overlap_between`."""
    return geometry.overlap_between(tuple(a.size), a.stride, at_a, tuple(b.size), b.stride, at_b, a.dtype.itemsize, b.dtype.itemsize)


def apart_at(a, at_a, b, at_b):
    """Whether PyTorch finds no element that two geometries at offsets have in common; else its rules are asked. Remembered."""
    key = a, at_a, b, at_b
    found = _apart.get(key)
    if found is None:
        found = _apart[key] = overlap(a, at_a, b, at_b) in ("no", "too_hard")
    return found


_apart = Bounded(MANY)


def apart(target, other):
    """The same for two tensors on one storage."""
    return apart_at(target._spec, target._offset, other._spec, other._offset)


def apart_or_same(target, other):
    """The same where the two may also be one geometry, as all but writes by index (`APART`) allow."""
    return target._spec is other._spec and target._offset == other._offset or apart(target, other)


def out_fits(operator, result, target, tensors=(), place=0):
    if result._spec.device != target._spec.device:
        if "meta" in (result._spec.device.type, target._spec.device.type):
            raise RuntimeError(f"Attempting to copy from device {result._spec.device} to device {target._spec.device}, but cross-device "
                               "copies are not allowed!")
        raise RuntimeError(f"Expected out tensor to have device {result._spec.device}, but got {target._spec.device} instead")
    name = operator.name
    if name == "abs" and tensors[0]._spec.dtype.is_complex:               # a length is computed like a number, and cast
        name = "abs_of_complex"
    if name == "mv" and target._spec.size != result._spec.size:          # of another size it is resized first, and its type asked there
        name = "mm"
    out_types.refuse(name, operator.promote, result._spec.dtype, target._spec.dtype, place)


def warn_resize(target, result):
    if target._spec.numel == 0:
        return
    sites.warn(f"An output with one or more elements was resized since it had shape {list(target._spec.size)}, which does not match the "
                  f"required output shape {list(result._spec.size)}. This behavior is deprecated, and in a future PyTorch release outputs "
                  "will not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, "
                  "inplace, to "
                  "zero elements with t.resize_(0).")
