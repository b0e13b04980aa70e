"""Recurrent layers over a whole sequence in one direction: one operator each, whose steps are a loop inside of the program.

Unrolled on the tape a layer is a dozen operations for every step, which Python records and XLA compiles for every length anew. What the
inputs contribute to the gates is one matrix product for all steps, made outside; so is, backwards, the gradient of the weight, of what
the loop answers. Gradients are written as formulas, since a replay would compute the forward loop again. Owns: these loops. May not know:
layers upon layers, directions, packed sequences.
"""
import jax
import jax.numpy as jnp

from ..loops import scan
from ..operator import RAW, Tensor, Tensors, op
from .activations import logistic
from .contracting import contract


def _gates(h, w):
    """``h @ w.T``."""
    return contract(h, w, ((1,), (1,)))


def _through(d, w):
    """``d @ w``: a gradient of the gates as one of the state."""
    return contract(d, w, ((1,), (0,)))


def _of_weight(d, before):
    """The gradient of the weight: the gates' gradients of all steps, times the states before these."""
    return contract(d.reshape(-1, d.shape[-1]), before.reshape(-1, before.shape[-1]), ((0,), (0,)))


def _before(first, states, reverse):
    """The state before each step, of those after them."""
    if reverse:
        return jnp.concatenate([states[1:], first[None]])
    return jnp.concatenate([first[None], states[:-1]])


def _loop(step, state, steps, reverse):
    """``lax.scan``; a single step stands for itself, since XLA would take the loop from around it, and then fences are missing."""
    if jax.tree.leaves(steps)[0].shape[0] > 1:
        return scan(step, state, steps, reverse=reverse)
    state, made = step(state, jax.tree.map(lambda x: x[0], steps))
    return state, jax.tree.map(lambda x: x[None], made)


# -- packed sequences --------------------------------------------------------------------------------------------------

def _unpadded_gradient(grad, rows, shapes):
    steps, samples, size = shapes[0]
    made = jnp.zeros((steps * samples, size), grad.dtype)
    return made.at[rows].set(grad, mode="promise_in_bounds", unique_indices=True).reshape(shapes[0])


@op(name="unpadded", backward="CatBackward0", nondiff=("rows",), grad={"states": _unpadded_gradient}, **RAW)
def unpadded(states: Tensor, rows: Tensor):
    """Of states ``(T, N, H)`` those at the places ``t * N + n`` of a packed sequence, whose steps PyTorch puts together in the end."""
    steps, samples, size = states.shape
    return states.reshape(steps * samples, size).at[rows].get(mode="promise_in_bounds")


# -- LSTM -------------------------------------------------------------------------------------------------------------

def _lstm(tensors, reverse):
    """``(from_input (T, N, 4H), h (N, H), c (N, H), w_hh (4H, H))`` to all states, the last pair, all cells, and all opened gates."""
    from_input, h, c, w = tensors

    def step(state, x):
        h, c = state
        entered, kept, new, shown = jnp.split(_gates(h, w) + x, 4, 1)
        entered, kept, new, shown = logistic(entered), logistic(kept), jnp.tanh(new), logistic(shown)
        c = kept * c + entered * new
        h = shown * jnp.tanh(c)
        return (h, c), (h, c, jnp.concatenate([entered, kept, new, shown], 1))

    (h, c), (states, cells, opened) = _loop(step, (h, c), from_input, reverse)
    return states, h, c, cells, opened


def _lstm_gradient(grads, tensors, result0, result3, result4, reverse, defined):
    _, h, c, w = tensors
    others = tuple([grads[at] for at in (3, 4) if at in defined])          # of the cells and gates: none but in a second backward

    def step(state, at):
        dh, dc = state
        arrived, others, opened, before, cell = at
        entered, kept, new, shown = jnp.split(opened, 4, 1)
        bent = jnp.tanh(cell)
        dh = dh + arrived
        dc = dc + dh * shown * (1 - bent * bent)
        if 3 in defined:
            dc = dc + others[0]
        d = jnp.concatenate([dc * new, dc * before, dc * entered, dh * bent], 1)
        if 4 in defined:
            d = d + others[-1]
        d = d * jnp.concatenate([entered * (1 - entered), kept * (1 - kept), 1 - new * new, shown * (1 - shown)], 1)
        return (_through(d, w), dc * kept), d

    steps = grads[0], others, result4, _before(c, result3, reverse), result3
    (dh, dc), d = _loop(step, (grads[1], grads[2]), steps, not reverse)
    return d, dh, dc, _of_weight(d, _before(h, result0, reverse))


_LSTM = {"grad": {"tensors": _lstm_gradient}, **RAW}


@op(name="mkldnn_rnn_layer", backward="MkldnnRnnLayerBackward0", **_LSTM)
def mkldnn_rnn_layer(tensors: Tensors, reverse):
    """An LSTM's layer in float32, for which PyTorch has an operator, too."""
    return _lstm(tensors, reverse)


@op(name="lstm_layer", backward="StackBackward0", **_LSTM)
def lstm_layer(tensors: Tensors, reverse):
    """An LSTM's layer where PyTorch records the steps, and puts their answers together in the end."""
    return _lstm(tensors, reverse)


# -- GRU --------------------------------------------------------------------------------------------------------------

def _gru_gradient(grads, tensors, result0, result2, reverse, defined):
    _, h, w, _ = tensors
    others = (grads[2],) if 2 in defined else ()                            # of the gates: none but in a second backward

    def step(dh, at):
        arrived, others, opened, before = at
        reset, update, new, new_h = jnp.split(opened, 4, 1)
        dh = dh + arrived
        d_update, d_new, d_reset, d_new_h = dh * (before - new), dh * (1 - update), 0, 0
        if others:
            d_reset, of_update, of_new, d_new_h = jnp.split(others[0], 4, 1)
            d_update, d_new = d_update + of_update, d_new + of_new
        d_update, d_new = d_update * update * (1 - update), d_new * (1 - new * new)
        d_reset = (d_new * new_h + d_reset) * reset * (1 - reset)
        from_state = jnp.concatenate([d_reset, d_update, d_new * reset + d_new_h], 1)
        return dh * update + _through(from_state, w), (jnp.concatenate([d_reset, d_update, d_new], 1), from_state)

    before = _before(h, result0, reverse)
    dh, (d, from_state) = _loop(step, grads[1], (grads[0], others, result2, before), not reverse)
    return d, dh, _of_weight(from_state, before), from_state.sum((0, 1))


@op(name="gru_layer", backward="StackBackward0", grad={"tensors": _gru_gradient}, **RAW)
def gru_layer(tensors: Tensors, reverse):
    """``(from_input (T, N, 3H), h (N, H), w_hh (3H, H), b_hh (3H))`` to all states, the last one, and all gates as they opened."""
    from_input, h, w, b = tensors

    def step(h, x):
        reset_x, update_x, new_x = jnp.split(x, 3, 1)
        reset_h, update_h, new_h = jnp.split(_gates(h, w) + b, 3, 1)
        reset, update = logistic(reset_h + reset_x), logistic(update_h + update_x)
        new = jnp.tanh(new_x + new_h * reset)
        h = (h - new) * update + new
        return h, (h, jnp.concatenate([reset, update, new, new_h], 1))

    h, (states, opened) = _loop(step, h, from_input, reverse)
    return states, h, opened


# -- plain ------------------------------------------------------------------------------------------------------------

def _rnn_gradient(grads, tensors, result0, relu, reverse):
    _, h, w, _ = tensors

    def step(dh, at):
        arrived, state = at
        dh = dh + arrived
        d = jnp.where(state <= 0, jnp.zeros_like(dh), dh) if relu else dh * (1 - state * state)
        return _through(d, w), d

    dh, d = _loop(step, grads[1], (grads[0], result0), not reverse)
    return d, dh, _of_weight(d, _before(h, result0, reverse)), d.sum((0, 1))


@op(name="rnn_layer", backward="StackBackward0", grad={"tensors": _rnn_gradient}, **RAW)
def rnn_layer(tensors: Tensors, relu, reverse):
    """``(from_input (T, N, H), h (N, H), w_hh (H, H), b_hh (H))`` to all states and the last one."""
    from_input, h, w, b = tensors

    def step(h, x):
        h = _gates(h, w) + b + x
        h = jnp.where(h <= 0, jnp.zeros_like(h), h) if relu else jnp.tanh(h)
        return h, h

    h, states = _loop(step, h, from_input, reverse)
    return states, h
