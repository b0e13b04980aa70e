"""Single steps of recurrent networks: RNNCell, LSTMCell, GRUCell."""
import math

import jtensor

from .. import init
from .module import Module
from .utils import add_parameter

__all__ = ["RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]


class RNNCellBase(Module):
    """Parameters ``weight_ih``, ``weight_hh``, ``bias_ih``, ``bias_hh``, drawn uniformly from ±1/sqrt(hidden_size)."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        for name, shape in (("weight_ih", (gates, input_size)), ("weight_hh", (gates, hidden_size)), ("bias_ih", (gates,)),
                            ("bias_hh", (gates,))):
            wanted = bias or name.startswith("weight")
            add_parameter(self, name, wanted, shape, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _weights(self):
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _check(self, what, tensor):
        if tensor.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {tensor.dim()}D instead")

    def _prepared(self, input, hx):
        """Input and hidden state with a batch, zeros where no hidden state was given, and whether there was a batch."""
        self._check("input", input)
        if hx is not None:
            self._check("hidden", hx)
        is_batched = input.dim() == 2
        if not is_batched:
            input, hx = input.unsqueeze(0), None if hx is None else hx.unsqueeze(0)
        if hx is None:
            hx = jtensor.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        return input, hx, is_batched

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.bias is not True:
            parts.append(f"bias={self.bias}")
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            parts.append(f"nonlinearity={self.nonlinearity}")
        return ", ".join(parts)


class RNNCell(RNNCellBase):
    """One step of an RNN: ``(N, input_size)`` and ``(N, hidden_size)`` to ``(N, hidden_size)``.

    >>> import jtensor as torch
    >>> torch.nn.RNNCell(10, 20)(torch.ones(3, 10)).shape
    torch.Size([3, 20])
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        input, hx, is_batched = self._prepared(input, hx)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        step = jtensor.rnn_tanh_cell if self.nonlinearity == "tanh" else jtensor.rnn_relu_cell
        answer = step(input, hx, *self._weights())
        return answer if is_batched else answer.squeeze(0)


class LSTMCell(RNNCellBase):
    """One step of an LSTM; the state is a pair ``(h, c)``.

    >>> import jtensor as torch
    >>> hidden, cell = torch.nn.LSTMCell(3, 5)(torch.zeros(2, 3))
    >>> hidden.shape, cell.shape
    (torch.Size([2, 5]), torch.Size([2, 5]))
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        self._check("input", input)
        if isinstance(hx, jtensor.Tensor):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        for i, state in enumerate(() if hx is None else hx):
            self._check(f"hx[{i}]", state)
        if hx is not None and len(hx) != 2:
            raise RuntimeError("lstm_cell expects two hidden states")
        is_batched = input.dim() == 2
        if not is_batched:
            input, hx = input.unsqueeze(0), hx and (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        if hx is None:
            zeros = jtensor.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = zeros, zeros
        answer = jtensor.lstm_cell(input, hx, *self._weights())
        return answer if is_batched else tuple(state.squeeze(0) for state in answer)


class GRUCell(RNNCellBase):
    """One step of a GRU.

    >>> import jtensor as torch
    >>> torch.nn.GRUCell(3, 5)(torch.zeros(2, 3)).shape
    torch.Size([2, 5])
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        input, hx, is_batched = self._prepared(input, hx)
        answer = jtensor.gru_cell(input, hx, *self._weights())
        return answer if is_batched else answer.squeeze(0)
