"""Losses. Owns: how they are written as ONNX."""
from ...base import dtypes
from ..table import Refused, aten
from ..writing import constant

_WORDS = ("none", "mean", "sum")


def _reduced(graph, edge, reduction):
    return edge if reduction == 0 else graph.reduce("ReduceMean" if reduction == 1 else "ReduceSum", edge, None, False)


def _number(edge, value):
    return constant(value, edge.dtype)


@aten("mse_loss")
def _mse_loss(graph, self, target, reduction=1):
    apart = graph.op("Sub", self, target)
    return _reduced(graph, graph.op("Mul", apart, apart), reduction)


@aten("l1_loss")
def _l1_loss(graph, self, target, reduction=1):
    return _reduced(graph, graph.op("Abs", graph.op("Sub", self, target)), reduction)


def _bent(graph, self, target, bend, scale):
    """A square below ``bend``, linear beyond: both divided by ``scale``."""
    size = graph.op("Abs", graph.op("Sub", self, target))
    square = graph.op("Mul", graph.op("Mul", size, size), _number(size, 0.5 / scale))
    line = graph.op("Mul", graph.op("Sub", size, _number(size, bend / 2)), _number(size, bend / scale))
    return graph.where(graph.op("Less", size, _number(size, bend), dtype=dtypes.bool), square, line)


@aten("smooth_l1_loss")
def _smooth_l1_loss(graph, self, target, reduction=1, beta=1.0):
    return _l1_loss(graph, self, target, reduction) if beta == 0 else _reduced(graph, _bent(graph, self, target, beta, beta), reduction)


@aten("huber_loss")
def _huber_loss(graph, self, target, reduction=1, delta=1.0):
    return _reduced(graph, _bent(graph, self, target, delta, 1), reduction)


@aten("cross_entropy_loss")
def _cross_entropy(graph, self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    return _chosen(graph, "SoftmaxCrossEntropyLoss", self, target, weight, reduction, ignore_index, label_smoothing)


@aten("nll_loss_nd")
def _nll_loss(graph, self, target, weight=None, reduction=1, ignore_index=-100):
    return _chosen(graph, "NegativeLogLikelihoodLoss", self, target, weight, reduction, ignore_index)


def _chosen(graph, kind, self, target, weight, reduction, ignore_index, smoothing=0.0):
    if target.dtype.is_floating_point:
        raise Refused("of probabilities")
    if smoothing:
        raise Refused("with smoothed labels")
    if self.rank == 1:
        raise Refused("without a batch")
    return graph.op(kind, self, target, *([] if weight is None else [weight]), reduction=_WORDS[reduction], ignore_index=ignore_index)


@aten("binary_cross_entropy")
def _binary_cross_entropy(graph, self, target, weight=None, reduction=1):
    one, low = _number(self, 1), _number(self, -100)
    yes = graph.op("Max", graph.op("Log", self), low)
    no = graph.op("Max", graph.op("Log", graph.op("Sub", one, self)), low)
    made = graph.op("Neg", graph.op("Add", graph.op("Mul", target, yes), graph.op("Mul", graph.op("Sub", one, target), no)))
    return _reduced(graph, made if weight is None else graph.op("Mul", made, weight), reduction)


@aten("binary_cross_entropy_with_logits")
def _with_logits(graph, self, target, weight=None, pos_weight=None, reduction=1):
    one = _number(self, 1)
    costs = graph.op("Softplus", graph.op("Neg", self))                               # of a yes; of a no it is that and x
    if pos_weight is not None:
        costs = graph.op("Mul", costs, graph.op("Add", graph.op("Mul", graph.op("Sub", pos_weight, one), target), one))
    made = graph.op("Add", graph.op("Mul", graph.op("Sub", one, target), self), costs)
    return _reduced(graph, made if weight is None else graph.op("Mul", made, weight), reduction)


@aten("kl_div")
def _kl_div(graph, self, target, reduction=1, log_target=False):
    if log_target:
        made = graph.op("Mul", graph.op("Exp", target), graph.op("Sub", target, self))
    else:
        zero = _number(self, 0)
        here = graph.op("Greater", target, zero, dtype=dtypes.bool)
        made = graph.op("Mul", target, graph.op("Sub", graph.op("Log", target), self))
        made = graph.where(here, made, zero)
    return _reduced(graph, made, reduction)


@aten("soft_margin_loss")
def _soft_margin_loss(graph, self, target, reduction=1):
    return _reduced(graph, graph.op("Softplus", graph.op("Neg", graph.op("Mul", self, target))), reduction)


@aten("margin_ranking_loss")
def _margin_ranking_loss(graph, input1, input2, target, margin=0.0, reduction=1):
    made = graph.op("Add", graph.op("Mul", graph.op("Neg", target), graph.op("Sub", input1, input2)), _number(input1, margin))
    return _reduced(graph, graph.op("Relu", made), reduction)
