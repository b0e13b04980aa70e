"""What recurrent layers are in a trace: one operator for all their steps, as in PyTorch, whatever they are made of here.

Owns: the arguments of these operators. May not know: how an operator is recorded, or computed.
"""
from ..tensor.core import Tensor
from . import operators, schemas

_OPERATORS = {"LSTM": "lstm", "GRU": "gru", "RNN_TANH": "rnn_tanh", "RNN_RELU": "rnn_relu"}


def recorded(trace, layer):
    """A layer's ``_compute``, which is recorded."""
    compute = layer._compute

    def called(input, *states_and_form):
        *states, last = states_and_form
        settings = (layer._flat_weights, layer.bias, layer.num_layers, layer.dropout, layer.training, layer.bidirectional)
        packed = isinstance(last, (tuple, Tensor))
        given = (input, *states, last, *settings) if packed else (input, *states, *settings, last)
        name = _OPERATORS[layer.mode]
        schema, values, _, _ = schemas.bound(name, given, {})
        trace.named_by({id(value): key for key, value in (("hx", last if packed else states[0]), ("input", input))})
        inputs = [operators.argument(trace, kind, value) for kind, value in values]
        output, hidden = trace.aside(compute, input, *states_and_form)
        operators.record(trace, name, schema, inputs, (output, *hidden) if isinstance(hidden, tuple) else (output, hidden))
        return output, hidden
    return called
