"""Recurrent layers: one operator of ONNX for each layer, whose gates are in another order. Owns: how they are written as ONNX."""
from ...base import dtypes
from ..table import Refused, aten
from ..writing import constant

_ORDERS = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


def _layers(graph, kind, input, states, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, activations=None):
    """The output, and a list of the last states of each kind."""
    ways, each = 2 if bidirectional else 1, 4 if has_biases else 2
    if dropout and train:
        raise Refused("with dropout between layers")
    if len(params) != each * ways * num_layers:
        raise Refused("with projections")
    if input.rank != 3:
        raise Refused("without a batch")
    x = graph.transpose(input, [1, 0, 2]) if batch_first else input
    ends = [[] for _ in states]
    settings = {"direction": "bidirectional" if bidirectional else "forward"}
    if kind == "GRU":
        settings["linear_before_reset"] = 1
    if activations:
        settings["activations"] = [activations] * ways
    for layer in range(num_layers):
        own = [params[(layer * ways + way) * each:][:each] for way in range(ways)]
        hidden = own[0][1].shape[1]
        inside, inner = [_stacked(graph, [_ordered(graph, kind, one[at], hidden) for one in own]) for at in (0, 1)]
        bias = _stacked(graph, [graph.op("Concat", *[_ordered(graph, kind, one[at], hidden) for at in (2, 3)], axis=0)
                                for one in own]) if has_biases else None
        begin = [graph.slice(one, 0, layer * ways, (layer + 1) * ways) if num_layers > 1 else one for one in states]
        made = graph.op(kind, x, inside, inner, bias, None, *begin, outputs=1 + len(states), dtype=[x.dtype] * (1 + len(states)),
                        hidden_size=hidden, **settings)
        steps = graph.transpose(made[0], [0, 2, 1, 3])
        x = graph.op("Reshape", steps, constant([0, 0, ways * hidden], dtypes.int64), shape=(None, None, ways * hidden))
        for kept, one in zip(ends, made[1:], strict=True):
            kept.append(one)
    ends = [one[0] if len(one) == 1 else graph.op("Concat", *one, axis=0) for one in ends]
    return graph.transpose(x, [1, 0, 2]) if batch_first else x, ends


def _ordered(graph, kind, edge, hidden):
    """The gates of a weight in ONNX's order."""
    order = _ORDERS[kind]
    if len(order) == 1:
        return edge
    parts = graph.op("Split", edge, constant([hidden] * len(order), dtypes.int64), outputs=len(order), axis=0)
    return graph.op("Concat", *[parts[at] for at in order], axis=0)


def _stacked(graph, edges):
    made = [graph.unsqueeze(one, 0) for one in edges]
    return made[0] if len(made) == 1 else graph.op("Concat", *made, axis=0)


@aten("lstm")
def _lstm(graph, input, hx=None, params=None, has_biases=None, num_layers=None, dropout=None, train=None, bidirectional=None,
          batch_first=None, batch_sizes=None):
    _whole(batch_sizes)
    output, ends = _layers(graph, "LSTM", input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
    return [output, *ends]


def _whole(batch_sizes):
    if batch_sizes is not None:
        raise Refused("of packed sequences")


def _one_state(name, kind, activations=None):
    def write(graph, input, hx=None, params=None, has_biases=None, num_layers=None, dropout=None, train=None, bidirectional=None,
              batch_first=None, batch_sizes=None):
        _whole(batch_sizes)
        output, ends = _layers(graph, kind, input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
                               activations)
        return [output, *ends]
    aten(name)(write)


_one_state("gru", "GRU")
_one_state("rnn_tanh", "RNN", "Tanh")
_one_state("rnn_relu", "RNN", "Relu")
