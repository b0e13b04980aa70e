"""Recurrent networks: RNN, LSTM and GRU over whole sequences. (Their single steps: ``rnn_cell``.)

Owns parameters, checks and packed sequences; the arithmetic stands in ``nn.functional.recurrent``.
"""
import math
import numbers
import warnings

import jtensor

from .. import init
from ..functional import recurrent
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module
from .rnn_cell import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS = {"LSTM": recurrent.lstm, "GRU": recurrent.gru, "RNN_TANH": recurrent.rnn_tanh, "RNN_RELU": recurrent.rnn_relu}


def _check_settings(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
    if dropout > 0 and num_layers == 1:
        warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
                      f"greater than 1, but got dropout={dropout} and num_layers={num_layers}", stacklevel=4)
    for name, value in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(value, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if mode not in _GATES:
        raise ValueError("Unrecognized RNN mode: " + mode)


def apply_permutation(tensor, permutation, dim=1):
    """The slices of a tensor along a dimension, in another order: a deprecated name of ``index_select``."""
    warnings.warn("`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead", FutureWarning,
                  stacklevel=2)
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Parameters ``weight_ih_l0``, ``weight_hh_l0``, ``bias_ih_l0``, ``bias_hh_l0`` and so on for every layer; those of the
    backward direction end in ``_reverse``. All are drawn uniformly from ±1/sqrt(hidden_size), in that order."""

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
                     "proj_size"]

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        self.mode = mode
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.bidirectional, self.proj_size = bias, batch_first, bidirectional, proj_size
        _check_settings(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.dropout = float(dropout)
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:1 + bool(bidirectional)]:
                names = []
                for name, shape in self._shapes(layer):
                    names.append(f"{name}_l{layer}{suffix}")
                    setattr(self, names[-1], Parameter(jtensor.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()

    def _shapes(self, layer):
        """(name, shape) of the parameters of one layer and direction."""
        gates, answered = _GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        seen = self.input_size if layer == 0 else answered * (1 + bool(self.bidirectional))
        yield "weight_ih", (gates, seen)
        yield "weight_hh", (gates, answered)
        if self.bias:
            yield "bias_ih", (gates,)
            yield "bias_hh", (gates,)
        if self.proj_size:
            yield "weight_hr", (self.proj_size, self.hidden_size)

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name, None) for name in self._flat_weights_names]

    def __getstate__(self):
        # PyTorch takes these from a file as they are.
        return {**super().__getstate__(), "_flat_weights": self._flat_weights, "_flat_weights_names": self._flat_weights_names}

    def __setstate__(self, state):
        super().__setstate__({name: value for name, value in state.items() if not name.startswith("_flat_weight")})

    @property
    def all_weights(self):
        """The parameters, a list for every layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Does nothing: one contiguous block of weights is a matter of cuDNN."""

    def reset_parameters(self):
        """Draws all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # ---------------------------------------------------------------------------------------------------------- checks

    def check_input(self, input, batch_sizes):
        """Dtype, number of dimensions and features of an input."""
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                             f"input.to({dtype}), or convert model: model.to({input.dtype})")
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _expected(self, input, batch_sizes, features):
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0 if self.batch_first else 1)
        return (self.num_layers * (1 + bool(self.bidirectional)), batch, features)

    def get_expected_hidden_size(self, input, batch_sizes):
        """The shape that the hidden state has to have."""
        return self._expected(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """RuntimeError where the shapes differ."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        """All checks of one call."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """The hidden state with its batch in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # --------------------------------------------------------------------------------------------------------- calling

    def _zeros(self, input, batch_sizes):
        return jtensor.zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _batched(self, hx, is_batched):
        """The given hidden state with a batch dimension; RuntimeError where it has another number of them than the input."""
        wanted, what = (3, "batched 3-D") if is_batched else (2, "unbatched 2-D")
        if hx.dim() != wanted:
            raise RuntimeError(f"For {what} input, hx should also be {wanted}-D but got {hx.dim()}-D tensor")
        return hx if is_batched else hx.unsqueeze(1)

    def _unbatched(self, hidden):
        return hidden.squeeze(1)

    def _bad_input(self, input):
        tail = "D tensor instead" if self.mode.startswith("RNN") else "D instead"
        return ValueError(f"{self.mode.partition('_')[0]}: Expected input to be 2D or 3D, got {input.dim()}{tail}")

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise self._bad_input(input)
        is_batched, batch_dim = input.dim() == 3, 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        hx = self._zeros(input, None) if hx is None else self._batched(hx, is_batched)
        self.check_forward_args(input, hx, None)
        output, hidden = self._compute(input, hx, self.batch_first)
        return (output, hidden) if is_batched else (output.squeeze(batch_dim), self._unbatched(hidden))

    def _compute(self, input, *states_and_form):
        """The outputs and the hidden state. Of a packed sequence the batch sizes stand before the state, else ``batch_first`` after
        all settings."""
        *states, last = states_and_form
        settings = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        packed = isinstance(last, (tuple, jtensor.Tensor))
        given = (*states, last, *settings) if packed else (*states, *settings, last)
        output, *hidden = _FUNCTIONS[self.mode](input, *given)
        return output, hidden[0] if len(hidden) == 1 else tuple(hidden)

    def _forward_packed(self, packed, hx):
        input, batch_sizes, sorted_indices, unsorted_indices = packed
        hx = self._zeros(input, batch_sizes) if hx is None else self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(input, hx, batch_sizes)
        output, hidden = self._compute(input, batch_sizes, hx)
        return (PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices),
                self.permute_hidden(hidden, unsorted_indices))

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        parts += [f"{name}={getattr(self, name)}" for name, usual in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0),
            ("bidirectional", False)) if getattr(self, name) != usual]
        return ", ".join(parts)


def _without_projection(kwargs):
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`` over a sequence; ``nonlinearity``: "tanh" or "relu".

    Input ``(L, N, input_size)`` (``(N, L, ...)`` with ``batch_first``, ``(L, ...)`` without a batch, or a PackedSequence);
    answers with the outputs of all steps and the last hidden state of every layer and direction.

    >>> import jtensor as torch
    >>> output, hidden = torch.nn.RNN(3, 5, batch_first=True)(torch.zeros(2, 7, 3))
    >>> output.shape, hidden.shape
    (torch.Size([2, 7, 5]), torch.Size([1, 2, 5]))
    """

    def __init__(self, *args, **kwargs):
        _without_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent units over a sequence; input and answer as of RNN.

    >>> import jtensor as torch
    >>> output, hidden = torch.nn.GRU(3, 5, batch_first=True)(torch.zeros(2, 7, 3))
    >>> output.shape, hidden.shape
    (torch.Size([2, 7, 5]), torch.Size([1, 2, 5]))
    """

    def __init__(self, *args, **kwargs):
        _without_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory over a sequence; the hidden state is a pair ``(h, c)``. Input and answer as of RNN.

    >>> import jtensor as torch
    >>> output, (h, c) = torch.nn.LSTM(3, 5, num_layers=2)(torch.ones(7, 4, 3))
    >>> output.shape, h.shape
    (torch.Size([7, 4, 5]), torch.Size([2, 4, 5]))
    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        """The shape that the cell state has to have."""
        return self._expected(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes):
        """All checks of one call."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}")
        if len(hidden) != 2:
            raise RuntimeError("lstm expects two hidden states")

    def permute_hidden(self, hx, permutation):
        """Both states with their batch in another order."""
        return hx if permutation is None else tuple(h.index_select(1, permutation) for h in hx)

    def _zeros(self, input, batch_sizes):
        hidden = super()._zeros(input, batch_sizes)
        return hidden, jtensor.zeros(self.get_expected_cell_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _batched(self, hx, is_batched):
        wanted, what = (3, "batched 3-D") if is_batched else (2, "unbatched 2-D")
        if hx[0].dim() != wanted or hx[1].dim() != wanted:
            raise RuntimeError(f"For {what} input, hx and cx should also be {wanted}-D but got ({hx[0].dim()}-D, "
                               f"{hx[1].dim()}-D) tensors")
        return hx if is_batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def _unbatched(self, hidden):
        return tuple(h.squeeze(1) for h in hidden)
