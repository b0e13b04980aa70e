"""Which functions of the engine ask below autograd, and as which operators of PyTorch.

Almost all follow from the registry: an operator or composite asks if PyTorch has an operator of its name below autograd (`schemas`), and
is made of others if it has not. Owns: the names and arguments that differ, the short cuts that step aside, and `open_doors`/`close_doors`,
between which they do so (`exchange`). May not know: what is asked, who answers.
"""
import functools
import types
from functools import partial

import jtensor

from ..base.below import STATE
from ..ops.families import index as indices
from ..ops.registry import REGISTRY
from ..random import draws, fills, per_element
from ..signal import top_level
from ..tensor import backward, convert, copying, custom, dispatch, indexing, looking, picking, quick
from ..tensor.core import Tensor
from ..tensor.creating import create, from_data, likes, ranges
from ..tensor.recording import dunders, inplace, overwriting, together
from ..tensor.replaying import replay, retrace, updates
from ..tensor.viewing import pieces, views
from . import classes, entries, schemas, special
from .exchange import ASKS, close_for, enter, innermost, open_for

# -- operators by other names -------------------------------------------------------------------------------------------


def _first(made):
    return made[0]


def _to_copy(args, kwargs):
    return [args[0]], {"dtype": args[1], **getattr(STATE, "asked_of_to", {})}


def _embedding(args, kwargs):
    weight, index, padding, scaled = (*args, None, False)[:4]
    return ([weight, index] + ([-1 if padding is None else padding, scaled] if padding is not None or scaled else [])), {}


def _softmax(args, kwargs):
    return [args[0], args[1], len(args) > 2 and args[2] is not None and args[0].dtype is jtensor.float16], {}


def _group_norm(args, kwargs):
    x, groups, weight, bias, eps = args
    rest = 1
    for n in x.shape[2:]:
        rest *= n
    return [x, weight, bias, x.shape[0], x.shape[1], rest, groups, eps], {}


def _nll(args, kwargs):
    x, target, weight, reduction, ignored = (*args, *(None, 1, -100)[len(args) - 2:])
    return [x, target, weight, reduction, ignored], {}


def _flash(args, kwargs):
    query, key, value, mask, causal, scale = args
    return [query, key, value, 0.0, causal], {"attn_mask": mask, "scale": scale}


def _but_last(args, kwargs):
    return list(args[:-1]), {}


# {operator of the registry: (PyTorch's name, what its arguments are there (None: the same), what of its results the engine's are)}
RENAMED = {
    "_softmax": ("_softmax", _softmax, None), "_log_softmax": ("_log_softmax", _softmax, None),
    "contiguous_copy": ("clone", lambda args, kwargs: (list(args), {"memory_format": jtensor.contiguous_format}), None),
    "_to_copy": ("_to_copy", _to_copy, None), "embedding.raw": ("embedding", _embedding, None),
    "native_group_norm.raw": ("native_group_norm", _group_norm, None),
    "nll_loss": ("nll_loss_forward", _nll, _first), "nll_loss2d": ("nll_loss2d_forward", _nll, _first),
    "adaptive_avg_pool2d": ("_adaptive_avg_pool2d", None, None), "adaptive_avg_pool3d": ("_adaptive_avg_pool3d", None, None),
    "linalg_cross.raw": ("linalg_cross", lambda args, kwargs: (list(args[:2]), {"dim": args[2]}), None),
    "log_sigmoid": ("log_sigmoid_forward", None, _first),
    "_scaled_dot_product_flash_attention_for_cpu": ("_scaled_dot_product_flash_attention_for_cpu", _flash, None),
    "div_Tensor": ("div", None, None), "pow_Tensor_Scalar": ("pow", None, None), "pow_Tensor_Tensor": ("pow", None, None),
    "pow_Tensor_Number": ("pow", None, None), "pow_Scalar": ("pow", None, None), "pow_Integer_Scalar": ("pow", None, None),
    "where_self": ("where", None, None), "where_method": ("where", lambda args, kwargs: ([args[1], args[0], args[2]], kwargs), None),
    "gather.raw": ("gather", _but_last, None), "scatter_add.raw": ("scatter_add", _but_last, None),
    "sort_dim.stable": ("sort", lambda args, kwargs: ([args[0]], {"stable": True, "dim": args[1], "descending": args[2]}), None),
    "fill_tensor": ("fill", None, None),
    "polygamma_of": ("polygamma", lambda args, kwargs: ([args[1], args[0]], kwargs), None),
}
WRITTEN = {**dict.fromkeys(("pow_Tensor_Scalar", "pow_Tensor_Number", "pow_Tensor_Tensor"), "pow_"),
           "fill": "fill_", "fill_tensor": "fill_", "zero": "zero_", "copy": "copy_", "div_Tensor": "div_"}


# -- all of them --------------------------------------------------------------------------------------------------------


def _nothing(*args, **kwargs):
    return None


def _no(*args, **kwargs):
    return False


def _doors():
    """[(function, what makes its entry of the function as it was)]."""
    found = []
    for operator in REGISTRY.operators.values():
        found += _of_operator(operator)
    for composite in REGISTRY.composites.values():
        name = composite.name.removeprefix("Tensor.")
        if innermost(composite.body).__name__ == "where_by_method":
            found.append((composite.body, partial(special.Aside, instead=_where_by_method)))
        elif schemas.forms(name) and name not in _OTHERWISE:
            found.append((composite.body, partial(_kind(name), name)))
    for name, method in vars(Tensor).items():
        method = innermost(method) if isinstance(method, types.FunctionType) else None
        if method is not None and method.__code__.co_filename == "<jtensor recorder>":     # Python's operators, which have their own
            found.append((method, partial(special.Shifted, name=name) if name in ("__lshift__", "__rshift__") else partial(
                special.Infix, instead=method.__globals__["general"])))
        elif method is not None and name in dunders.OF_TWO:
            found.append((method, partial(special.Infix)))
    for room in (create, ranges, likes, draws, top_level):
        found += [(function, partial(special.Made, name)) for name, function in vars(room).items() if name in _FACTORIES]
    found += [(method, partial(special.Made, name)) for name, method in likes.METHODS.items() if name in _FACTORIES]
    found += [(method, partial(special.Drawn, name)) for name, method in fills.METHODS.items() if schemas.forms(name)]
    found += [(getattr(per_element, name), partial(entries.Entry, name)) for name in ("bernoulli", "multinomial", "poisson")]
    return found + [(function, partial(kind, name)) for function, kind, name in _by_hand()] + [
        (function, partial(special.Aside, instead=instead)) for function, instead in _short_cuts()]


def _kind(name):
    if name[-1] == "_":
        return entries.Written
    return special.Made if name in _FACTORIES else special.Spread if name in _SPREAD else special.Chosen if name == "where" \
        else entries.Entry


def _by_hand():
    """(function, its kind, its name) of those that are in no table."""
    return [
        (views.view_of, special.View, "view"), (pieces._multi, special.Pieces, "split"), (pieces._each, special.Slices, "slice"),
        (Tensor.detach, entries.Entry, "detach"), (Tensor.data.fget, entries.Entry, "detach"), (from_data.tensor, special.Lifted, "tensor"),
        (looking.item, special.Number, "item"), (looking.to_bool, special.Number, "bool"), (copying.copy_, entries.Written, "copy_"),
        (indices.index_read, special.Indexed, "index"), (indices.index_write, special.IndexWritten, "index_put_"),
        (indexing.setitem, special.SetItem, "setitem"), (convert.to, special.To, "to"), (convert.type_as, special.To, "type_as"),
        (REGISTRY.composites["batch_norm"].body, special.Normalised, "batch_norm"), (draws.dropout_noise, special.Noise, "dropout"),
        (dispatch.call, special.Called, ""), (inplace.call_inplace, special.Called, "in place"), (dispatch.call_out, entries.OutOf, "out"),
        (likes.make_subclass, special.Quiet, ""), (backward.backward, classes.Backward, ""), (backward.grad, classes.Backward, ""),
        (backward.of_tensor, classes.Backward, "backward"), (retrace.backward, classes.Walked, ""), (replay.apply, classes.Replayed, ""),
        (custom._same_view, classes.Same, "view"), (custom._without_history, classes.Same, "detach"),
        (looking.tolist, classes.Unseen, "tolist"), (convert.numpy, classes.Unseen, "numpy"),
        *[(vars(Tensor)[name], classes.OfLayout, f"_{name}") for name in _LAYOUTS],
        *[(vars(Tensor)[name], classes.OfLayout, name) for name in _OF_SPARSE]]


def _short_cuts():
    """(function, what is called in its place): what the engine does in fewer steps than PyTorch steps aside."""
    return [(quick.getitem, indexing.getitem), (quick.setitem, indexing.setitem), (quick.turned, lambda self, letter: self.t()),
            (picking.pick, _nothing), (picking.pick_along, _nothing), (picking.put, _no), (overwriting.fill, _no), (overwriting.copy, _no),
            (together.put_together, _nothing), (updates.update, special.step)]


_LAYOUTS = "to_sparse", "to_dense", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc"
_OF_SPARSE = ("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices", "is_coalesced", "sparse_dim",
              "dense_dim")
_OTHERWISE = frozenset(("norm", "frobenius_norm", "nuclear_norm"))           # whose functions in Python are made of others
_SPREAD = frozenset(("std", "var", "std_mean", "var_mean"))
_FACTORIES = frozenset("""zeros ones empty full rand randn randint randperm arange linspace logspace eye empty_strided empty_permuted
    scalar_tensor normal zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_zeros new_ones new_empty
    new_full new_empty_strided tril_indices triu_indices
    hann_window hamming_window bartlett_window blackman_window kaiser_window""".split())


def _where_by_method(self, condition, other):
    return jtensor.where(condition, self, other)


def _plain(name):
    """``sum_dim`` and ``roll.raw`` without what tells the engine's operators apart."""
    name = name.partition(".")[0]
    for tail in ("_dims", "_dim", "_all", "_of", "_Tensor", "_Scalar"):
        name = name.removesuffix(tail)
    return name


def _of_operator(operator):
    name, given, taken = RENAMED.get(operator.name, (operator.name, None, None))
    if not schemas.forms(name):
        name = _plain(name)
    entries.NAMES[operator] = name
    known = bool(schemas.forms(name))
    record = operator.record
    entry = partial(entries.Operation, operator, name, given=given, taken=taken) if known else partial(
        classes.Finite if name == "isfinite" else entries.Unknown, operator.name)
    found = [(record, entry)] if not isinstance(record, partial) else []
    if operator.inplace:
        written = WRITTEN.get(operator.name, operator.name + "_")
        made = partial(entries.WrittenOperation, operator, written) if schemas.forms(written) else partial(
            entries.Unknown, written)
        found.append((operator.write, made))
    return found

# -- another code for a function ----------------------------------------------------------------------------------------


@functools.cache
def listed():
    """Has each function known, with what it calls in its own place while somebody may ask: [(function, that)]."""
    found = _doors()
    for function, entry in found:
        enter(ASKS, function, lambda row, entry=entry: entry(original=row.own))
    return found


def open_doors():
    """From here on the functions ask."""
    listed()
    open_for(ASKS)


def close_doors():
    """They do no longer, if nobody else wants them to."""
    close_for(ASKS)
