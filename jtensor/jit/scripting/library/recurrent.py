"""Recurrent layers, of one sequence or a batch of them. Packed sequences are not here.

Owns: their programs, with their weights by name. May not know: how anything is compiled.
"""
# ruff: noqa: UP006, UP032, UP035, UP045 - written in the language's own words
import ast
from typing import Optional, Tuple

import jtensor as torch

from ....base import sites
from ....tensor.core import Tensor
from ..source import Source

_OPERATORS = {"LSTM": "lstm", "GRU": "gru", "RNN_TANH": "rnn_tanh", "RNN_RELU": "rnn_relu"}

_HEAD = """
def forward(self, input: Tensor, hx: Optional[{state}] = None) -> Tuple[Tensor, {state}]:
    if input.dim() != 2 and input.dim() != 3:
        raise ValueError("{kind}: Expected input to be 2D or 3D, got {{}}D instead".format(input.dim()))
    batched = input.dim() == 3
    batch_dim = {batch}
    if not batched:
        input = input.unsqueeze(batch_dim)
    size = input.size(batch_dim)
"""
_LSTM = """
    if hx is None:
        h = torch.zeros({layers}, size, {out}, dtype=input.dtype, device=input.device)
        c = torch.zeros({layers}, size, {hidden}, dtype=input.dtype, device=input.device)
        hx = (h, c)
    else:
        if not batched:
            hx = (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
    output, h_n, c_n = torch.lstm(input, [hx[0], hx[1]], [{weights}], {bias}, {count}, {dropout}, self.training, {both}, {first})
    if not batched:
        output = output.squeeze(batch_dim)
        h_n = h_n.squeeze(1)
        c_n = c_n.squeeze(1)
    return output, (h_n, c_n)
"""
_OTHER = """
    if hx is None:
        hx = torch.zeros({layers}, size, {hidden}, dtype=input.dtype, device=input.device)
    else:
        if not batched:
            hx = hx.unsqueeze(1)
    output, h_n = torch.{operator}(input, hx, [{weights}], {bias}, {count}, {dropout}, self.training, {both}, {first})
    if not batched:
        output = output.squeeze(batch_dim)
        h_n = h_n.squeeze(1)
    return output, h_n
"""


def complete(described, unit, kind):
    """Adds a layer's ``forward``, unless its class has one of its own."""




    layer = described.module
    if not sites.is_own(type(layer).__module__):
        return
    of_two = layer.mode == "LSTM"
    text = (_HEAD + (_LSTM if of_two else _OTHER)).format(
        state="Tuple[Tensor, Tensor]" if of_two else "Tensor", kind=layer.mode, batch=0 if layer.batch_first else 1,
        layers=layer.num_layers * (2 if layer.bidirectional else 1), hidden=layer.hidden_size, out=layer.proj_size or layer.hidden_size,
        weights=", ".join([f"self.{name}" for name in layer._parameters]), bias=layer.bias, count=layer.num_layers,
        dropout=float(layer.dropout), both=layer.bidirectional, first=layer.batch_first, operator=_OPERATORS[layer.mode])
    node = ast.parse(text.strip()).body[0]
    seen = {"torch": torch, "Tensor": Tensor, "Optional": Optional, "Tuple": Tuple, "ValueError": ValueError}
    read = Source(None, node, text.strip().splitlines(), 1, "<string>", seen)
    described.methods["forward"] = unit.compiled_method(read, f"{described.name}.forward", kind)


class LSTMCell:
    """One step of an LSTM."""

    def forward(self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tensor]:
        if input.dim() not in [1, 2]:
            raise ValueError("LSTMCell: Expected input to be 1D or 2D, got {}D instead".format(input.dim()))
        if hx is not None:
            for i, value in enumerate(hx):
                if value.dim() not in [1, 2]:
                    raise ValueError("LSTMCell: Expected hx[{}] to be 1D or 2D, got {}D instead".format(i, value.dim()))
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        else:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0)) if not is_batched else hx
        ret = torch.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            ret = (ret[0].squeeze(0), ret[1].squeeze(0))
        return ret


class RNNCell:
    """One step of a recurrent network."""

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        if input.dim() not in [1, 2]:
            raise ValueError("RNNCell: Expected input to be 1D or 2D, got {}D instead".format(input.dim()))
        if hx is not None and hx.dim() not in [1, 2]:
            raise ValueError("RNNCell: Expected hidden to be 1D or 2D, got {}D instead".format(hx.dim()))
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        else:
            hx = hx.unsqueeze(0) if not is_batched else hx
        if self.nonlinearity == "tanh":
            ret = torch.rnn_tanh_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        elif self.nonlinearity == "relu":
            ret = torch.rnn_relu_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        else:
            ret = input
            raise RuntimeError("Unknown nonlinearity: {}".format(self.nonlinearity))
        if not is_batched:
            ret = ret.squeeze(0)
        return ret


class GRUCell:
    """One step of a GRU."""

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        if input.dim() not in [1, 2]:
            raise ValueError("GRUCell: Expected input to be 1D or 2D, got {}D instead".format(input.dim()))
        if hx is not None and hx.dim() not in [1, 2]:
            raise ValueError("GRUCell: Expected hidden to be 1D or 2D, got {}D instead".format(hx.dim()))
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        else:
            hx = hx.unsqueeze(0) if not is_batched else hx
        ret = torch.gru_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            ret = ret.squeeze(0)
        return ret
