"""Which functions of the engine are events of a profile, and by which names.

An event is a call that happens here, under PyTorch's name for it: an operator, a function that is made of operators, a node of the graph
that runs backwards, an optimizer's step, a batch of a loader. What PyTorch does besides in steps of its own (``as_strided`` for a view,
``copy_`` for a clone) does not happen here and is no event. What the engine has and PyTorch has not is one by its name here, with
``jtensor::`` before it.

While a profile records, these functions have another code (`dispatching.exchange`); without one they are as they were. Owns: the list. May
not know: what is told of a call (`telling`), how an event is kept (`recording`).
"""
import functools
import types

from ..autograd import engine
from ..autograd.graph import Node, OperatorNode
from ..base.below import Layer
from ..dispatching import classes, doors, entries, special
from ..dispatching.exchange import TELLS, close_for, enter, open_for
from ..nn import functional
from ..nn.functional import recurrent
from ..ops.registry import REGISTRY
from ..optim.optimizer import Optimizer
from ..tensor import backward, custom, looking
from ..tensor.core import Tensor
from ..trace.op_by_op import by_numpy, kept
from ..utils.data import dataloader
from . import arguments
from .telling import (
    Applied,
    Aside,
    Compiled,
    Contiguous,
    Cut,
    InPlace,
    Lifted,
    OutOf,
    Ran,
    Step,
    Through,
    Told,
    Viewed,
    Walk,
    known,
)

_ASIDE = (special.Quiet, special.SetItem, classes.Backward, classes.Walked, classes.Replayed, classes.Same, classes.Unseen,
          classes.OfLayout)
_BY_NAME = {"item": "aten::item", "bool": "aten::is_nonzero", "dropout": "aten::bernoulli_"}
_WITHOUT = frozenset(("norm", "frobenius_norm", "nuclear_norm", "is_conj", "is_neg"))  # PyTorch's functions in Python; questions
_FUNCTIONAL = {
    "cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd", "logsigmoid": "log_sigmoid", "unfold": "im2col", "fold": "col2im",
    "affine_grid": "affine_grid_generator", "dropout1d": "feature_dropout", "dropout2d": "feature_dropout", "dropout3d": "feature_dropout",
    "grid_sample": "grid_sampler",
}


def _of_engine(function, made):
    """What tells of a function of those that ask below autograd (`doors`): (row) -> `Told`, or None."""
    kind, given = made.func, made.args
    if kind in _ASIDE or function is Tensor.data.fget:                        # PyTorch takes `.data` without an operator
        return None
    if kind is special.Aside:
        return functools.partial(Aside, name=made.keywords["instead"])
    if kind is special.Infix:
        return functools.partial(Aside, name=made.keywords["instead"]) if made.keywords else None
    if kind is special.Called:
        return functools.partial(Through, name=given[0])
    form = arguments.Below()
    if kind in (entries.Unknown, classes.Finite):
        return functools.partial(Told, name=known(given[0]) or f"jtensor::{given[0]}", whole=True)
    if kind is special.View:
        return functools.partial(Viewed, name=None, whole=True, form=form)
    if kind in (special.Pieces, special.Slices):
        return functools.partial(Cut, name=None, whole=True, form=form)
    if kind is special.Lifted:
        return functools.partial(Lifted, name="aten::lift_fresh", whole=True)
    if kind is special.To:
        return functools.partial(Told, name="aten::to", form=arguments.OfTo())
    if kind is entries.OutOf:
        return functools.partial(OutOf, name=None, whole=True)
    name = given[-1] if given else made.keywords["name"]
    whole = kind in (entries.Operation, entries.WrittenOperation) or arguments.is_whole(name) and kind is not special.Normalised
    return functools.partial(Told, name=_BY_NAME.get(name, f"aten::{name}"), form=form, whole=whole)


def _backward(loss, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """``loss.backward()`` without its short cut."""
    return backward.backward(loss, gradient, retain_graph, create_graph, inputs=inputs)


@functools.cache
def _list():
    """Says of each function what is called in its place."""
    for function, made in doors.listed():
        told = _of_engine(function, made)
        if told is not None:
            enter(TELLS, function, told)
    for composite in REGISTRY.composites.values():
        plain = composite.name.removeprefix("Tensor.")
        name = None if plain in _WITHOUT else known(plain)
        if name is not None:
            kind = Contiguous if plain == "contiguous" else Told
            enter(TELLS, composite.body, functools.partial(kind, name=name, form=arguments.Named(composite.body, name)))
    for room in vars(functional).values():
        if isinstance(room, types.ModuleType) and room.__name__.startswith(functional.__name__ + "."):
            for plain in getattr(room, "__all__", ()):
                name, function = known(_FUNCTIONAL.get(plain, plain)), vars(room)[plain]
                if name is not None:
                    form = arguments.Named(function, name)
                    enter(TELLS, function, functools.partial(InPlace if "inplace" in form.parameters else Told, name=name, form=form))
    for plain in ("lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"):
        enter(TELLS, vars(recurrent)[plain], functools.partial(Told, name=f"aten::{plain}"))
    enter(TELLS, backward.of_tensor, functools.partial(Aside, name=_backward))
    for function in (looking.to_int, looking.to_float, looking.to_complex, looking.to_index):
        enter(TELLS, function, functools.partial(Told, name="aten::item", whole=True))
    for plain in "half float double bfloat16 cfloat cdouble bool byte char short int long cpu cuda".split():
        enter(TELLS, vars(Tensor)[plain], functools.partial(Told, name="aten::to", form=arguments.OfTo()))
    for plain, name in (("T", "numpy_T"), ("mT", "mT"), ("H", "matrix_H"), ("mH", "mH")):
        enter(TELLS, vars(Tensor)[plain].fget, functools.partial(Told, name=f"aten::{name}"))
    for function in (kept.Kept.get, by_numpy._begun):
        enter(TELLS, function, functools.partial(Compiled, name="jtensor::compile"))
    enter(TELLS, engine.run, functools.partial(Walk, name=None))
    enter(TELLS, engine._run_node, functools.partial(Ran, name="run"))
    for advance in (Node.advance, OperatorNode.advance):
        enter(TELLS, advance, functools.partial(Ran, name="advance"))
    enter(TELLS, custom.apply_function, functools.partial(Applied, name=None))
    enter(TELLS, Optimizer.zero_grad, functools.partial(Step, name="Optimizer.zero_grad#{0}.zero_grad"))
    enter(TELLS, Optimizer._patch_step_function, functools.partial(Patched, name=None))
    enter(TELLS, dataloader._BaseDataLoaderIter.__next__, functools.partial(Step, name="enumerate(DataLoader)#{0}.__next__"))


class Patched(Told):
    """`Optimizer._patch_step_function()`: from then on the step of its class tells, too."""

    def told(self, recorder, args, kwargs):
        self.row.beneath(*args, **kwargs)
        _enter_step(type(args[0]))


def _enter_step(cls):
    step = vars(cls).get("step")
    if getattr(step, "hooked", False):
        enter(TELLS, step, functools.partial(Step, name="Optimizer.step#{0}.step"))


def _optimizers(cls=Optimizer):
    """The classes of optimizers that there are."""
    for one in cls.__subclasses__():
        yield one
        yield from _optimizers(one)


def begin():
    """From here on the functions tell."""
    Layer.wanted()                      # the modes and classes below autograd, whose list of functions this one begins with
    _list()
    for cls in _optimizers():
        _enter_step(cls)
    open_for(TELLS)


def end():
    """They do no longer."""
    close_for(TELLS)


