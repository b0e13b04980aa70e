"""Recurrent networks: single steps, layers in one or two directions, and stacks of them, on padded or packed sequences.

A layer over a sequence is one operator (`ops.families.recurrent`), packed sequences are laid out as padded ones for it; single steps,
projected states and narrow types are unrolled on the tape. The flat list of weights has, for every layer and direction, w_ih, w_hh, then
with biases b_ih, b_hh, then w_hr where hidden states are projected.
"""
import functools

import numpy as np

import jtensor

from ...base import sites
from ...tensor import raw
from ...tensor.viewing.shapes import transposed_result
from .dropout import dropout as _dropout
from .linear import linear

__all__ = ["lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"]


# ------------------------------------------------------------------------------------------------------------ one step
# A step gets what the input contributes to the gates, the state, and the weights; it answers with the new state.

def _step_tanh(from_input, h, w_hh, b_hh, w_hr):
    return jtensor.tanh(linear(h, w_hh, b_hh) + from_input)


def _step_relu(from_input, h, w_hh, b_hh, w_hr):
    return jtensor.relu(linear(h, w_hh, b_hh) + from_input)


def _step_gru(from_input, h, w_hh, b_hh, w_hr):
    reset_x, update_x, new_x = from_input.unsafe_chunk(3, 1)
    reset_h, update_h, new_h = linear(h, w_hh, b_hh).unsafe_chunk(3, 1)
    reset = (reset_h + reset_x).sigmoid()
    update = (update_h + update_x).sigmoid()
    new = (new_x + new_h * reset).tanh()
    return (h - new) * update + new


def _step_lstm(from_input, state, w_hh, b_hh, w_hr):
    h, c = state
    entered, kept, new, shown = (linear(h, w_hh, b_hh) + from_input).unsafe_chunk(4, 1)
    c = kept.sigmoid() * c + entered.sigmoid() * new.tanh()
    h = shown.sigmoid() * c.tanh()
    return (h if w_hr is None else linear(h, w_hr)), c


def _check_cell(input, states, w_ih, hidden_size):
    if input.size(1) != w_ih.size(1):
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {w_ih.size(1)}")
    for i, state in enumerate(states):
        if input.size(0) != state.size(0):
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {state.size(0)}")
        if state.size(1) != hidden_size:
            raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {state.size(1)}, expected {hidden_size}")


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of an LSTM: ``(N, I)`` and the pair ``hx`` of ``(N, H)`` to the next pair."""
    _check_cell(input, hx, w_ih, w_hh.size(1))
    return _step_lstm(linear(input, w_ih, b_ih), hx, w_hh, b_hh, None)


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a GRU: ``(N, I)`` and ``(N, H)`` to ``(N, H)``."""
    _check_cell(input, (hx,), w_ih, w_hh.size(1))
    return _step_gru(linear(input, w_ih, b_ih), hx, w_hh, b_hh, None)


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a network with tanh: ``(N, I)`` and ``(N, H)`` to ``(N, H)``."""
    _check_cell(input, (hx,), w_ih, w_hh.size(1))
    return _step_tanh(linear(input, w_ih, b_ih), hx, w_hh, b_hh, None)


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a network with relu: ``(N, I)`` and ``(N, H)`` to ``(N, H)``."""
    _check_cell(input, (hx,), w_ih, w_hh.size(1))
    return _step_relu(linear(input, w_ih, b_ih), hx, w_hh, b_hh, None)


# ------------------------------------------------------------------------------------------------- one layer, one direction

def _shown(state):
    return state[0] if isinstance(state, tuple) else state


def _mapped(fn, *states):
    """``fn`` of tensors, or of each of the pair that an LSTM's states are."""
    if isinstance(states[0], tuple):
        return tuple(fn(*parts) for parts in zip(*states))
    return fn(*states)


def _layer(step, input, state, weights, has_biases, reverse):
    """A layer in one direction as one operator: (outputs, last state, all states); None where that is for single steps."""
    w_ih, w_hh, *biases = weights
    first, is_lstm = _shown(state), step is _step_lstm
    types = {t.dtype for t in (input, *weights, *(state if is_lstm else (state,)))}
    if not input.numel() or not first.numel() or types not in ({jtensor.float32}, {jtensor.float64}):
        return None
    size = first.size(1)
    if w_hh.shape != (w_ih.size(0), size) or w_ih.size(0) != _GATES[step] * size or input.size(1) != first.size(0):
        return None
    bias = None if not has_biases else biases[0] + biases[1] if is_lstm else biases[0]
    from_input = linear(input, w_ih, bias)
    if from_input.dtype is not input.dtype:                         # a region of autocast, which casts the product
        return None
    if is_lstm:
        layer = raw.mkldnn_rnn_layer if input.dtype is jtensor.float32 else raw.lstm_layer
        outputs, h, c, cells = layer([from_input, *state, w_hh], reverse)[:4]
        return outputs, (h, c), (outputs, cells)
    given = [from_input, state, w_hh, biases[1] if has_biases else input.new_zeros(w_hh.size(0))]
    outputs, h = raw.gru_layer(given, reverse)[:2] if step is _step_gru else raw.rnn_layer(given, step is _step_relu, reverse)
    return outputs, h, outputs


_GATES = {_step_lstm: 4, _step_gru: 3, _step_tanh: 1, _step_relu: 1}


def _packed_layer(step, data, sizes, state, weights, has_biases, reverse):
    """A layer over a packed sequence as one operator: (outputs, last state); None where that is for single steps.

    Unrolled it would be other operations for each batch, whose lengths never come again. A sample does not see what the others do, nor
    what comes later: so each goes on beyond its end, by its last element, or its first one where it is read from behind, and what it
    answers there nobody takes. But a network with relu may grow there beyond all numbers, and zero times infinity is no gradient.
    """
    if step is _step_relu or sum(sizes) != data.size(0) or any(later > earlier for earlier, later in zip(sizes, sizes[1:])):
        return None
    places, rows, last = [jtensor.tensor(at, device=data.device) for at in _grid(tuple(sizes), reverse)]
    done = _layer(step, data[places], state, weights, has_biases, False)
    if done is None:
        return None
    outputs, _, states = done
    return raw.unpadded(outputs, rows), _mapped(lambda s: s.flatten(0, 1)[last], states)


@functools.lru_cache(maxsize=64)
def _grid(sizes, reverse):
    """Which rows of the packed data make the padded sequences, which places of those hold the packed outputs, and which the last ones."""
    runs = np.array(sizes)[:, None] > np.arange(sizes[0])
    samples, lengths, starts = np.arange(sizes[0]), runs.sum(0), np.cumsum((0, *sizes[:-1]))
    time = np.arange(_rounded(len(sizes)))[:, None]
    places = starts[np.maximum(lengths - 1 - time, 0) if reverse else np.minimum(time, lengths - 1)] + samples
    step, sample = np.nonzero(runs)
    rows = (lengths[sample] - 1 - step if reverse else step) * len(samples) + sample
    return places, rows, (lengths - 1) * len(samples) + samples


def _rounded(length):
    """At least ``length``: one of four numbers between a power of two and the next, so that there are few programs for all lengths."""
    unit = 1 << max(0, (length - 1).bit_length() - 3)
    return -(-length // unit) * unit


def _run(step, inputs, state, w_hh, b_hh, w_hr, reverse):
    """Over the first dimension of ``inputs`` (already times w_ih): (outputs, last state)."""
    outputs = []
    if not inputs.size(0):
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    steps = inputs.unbind(0)
    for from_input in reversed(steps) if reverse else steps:
        state = step(from_input, state, w_hh, b_hh, w_hr)
        outputs.append(_shown(state))
    if reverse:
        outputs.reverse()
    return jtensor.stack(outputs, 0), state


def _run_packed(step, inputs, sizes, state, w_hh, b_hh, w_hr, reverse):
    """As ``_run``, over a packed sequence: the samples are sorted, ``sizes[t]`` of them are that long.

    Forward, samples drop out of the batch as they end, and their states wait. Backward, they join as they begin.
    """
    starts = [sum(sizes[:t]) for t in range(len(sizes))]
    outputs, ended = [None] * len(sizes), []
    initial, now = state, sizes[-1] if reverse else sizes[0]
    state = _mapped(lambda s: s.narrow(0, 0, now), state)
    for t in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        size = sizes[t]
        if size < now:
            ended.append(_mapped(lambda s: s.narrow(0, size, now - size), state))  # noqa: B023 - used at once
            state = _mapped(lambda s: s.narrow(0, 0, size), state)  # noqa: B023
        elif size > now:
            state = _mapped(lambda s, first: jtensor.cat([s, first.narrow(0, now, size - now)]), state, initial)  # noqa: B023
        now = size
        state = step(inputs.narrow(0, starts[t], size), state, w_hh, b_hh, w_hr)
        outputs[t] = _shown(state)
    if ended:
        state = _mapped(lambda *parts: jtensor.cat(parts), state, *reversed(ended))
    return jtensor.cat(outputs, 0), state


# -------------------------------------------------------------------------------------------------------------- all layers

def _layers(step, input, states, params, has_biases, num_layers, dropout, train, bidirectional, sizes, projected):
    """``states``: one for each layer and direction. Answers with the outputs and the last states in the same order."""
    each = 2 + 2 * has_biases + projected
    directions = 2 if bidirectional else 1
    last = []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            i = layer * directions + direction
            weights = params[i * each:(i + 1) * each]
            w_ih, w_hh = weights[:2]
            b_ih, b_hh = weights[2:4] if has_biases else (None, None)
            w_hr = weights[-1] if projected else None
            reverse = direction == 1
            if sizes is not None:
                done = None if projected else _packed_layer(step, input, sizes, states[i], weights, has_biases, reverse)
                output, state = done or _run_packed(step, linear(input, w_ih, b_ih), sizes, states[i], w_hh, b_hh, w_hr, reverse)
            else:
                done = None if projected else _layer(step, input, states[i], weights, has_biases, reverse)
                output, state = done[:2] if done else _run(step, linear(input, w_ih, b_ih), states[i], w_hh, b_hh, w_hr, reverse)
            outputs.append(output)
            last.append(state)
        input = outputs[0] if directions == 1 else jtensor.cat(outputs, -1)
        if dropout and train and layer < num_layers - 1:
            input = _dropout(input, dropout)
    return input, last


def _recurrent(step, args, is_lstm):
    """The two forms that PyTorch's functions have: padded ``(input, hx, params, has_biases, num_layers, dropout, train,
    bidirectional, batch_first)`` and packed ``(data, batch_sizes, hx, params, ..., bidirectional)``."""
    if isinstance(args[3], (list, tuple)):  # the parameters: packed sequences have one argument more before them
        input, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional = args
        sizes, batch_first = batch_sizes.tolist(), False
        if is_lstm and len(set(sizes)) == 1:
            input.view(len(sizes), sizes[0], input.size(-1))                # refuses rows that are missing in PyTorch's words
    else:
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first = args
        sizes = None
    if batch_first:
        input = input.transpose(0, 1)
    states = list(zip(hx[0].unbind(0), hx[1].unbind(0))) if is_lstm else list(hx.unbind(0))
    projected = is_lstm and hx[0].size(2) != hx[1].size(2)
    if projected and sizes is None and input.is_cpu and jtensor.backends.mkldnn.enabled and (
            input.dtype in (jtensor.float32, jtensor.bfloat16) or input.dtype is jtensor.float16 and not jtensor.is_grad_enabled()):
        sites.warn_once("LSTM with projections is not supported with oneDNN. Using default implementation.")
    output, last = _layers(step, input, states, list(params), bool(has_biases), num_layers, dropout, train, bidirectional, sizes,
                           projected)
    if batch_first:
        output = output.transpose(0, 1) if is_lstm else transposed_result(output)
    if is_lstm:
        return output, jtensor.stack([h for h, _ in last], 0), jtensor.stack([c for _, c in last], 0)
    return output, jtensor.stack(last, 0)


def lstm(*args):
    """Long short-term memory: ``(input, (h, c), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``
    or, of a packed sequence, ``(data, batch_sizes, (h, c), params, ..., bidirectional)``, to ``(output, h, c)``."""
    return _recurrent(_step_lstm, args, True)


def gru(*args):
    """Gated recurrent units; arguments as of ``lstm``, the state a single tensor. Answers ``(output, h)``."""
    return _recurrent(_step_gru, args, False)


def rnn_tanh(*args):
    """A plain recurrent network with tanh; arguments as of ``gru``."""
    return _recurrent(_step_tanh, args, False)


def rnn_relu(*args):
    """A plain recurrent network with relu; arguments as of ``gru``."""
    return _recurrent(_step_relu, args, False)
