"""The first stage of a program, begun while the rest of its tape is still being recorded.

A loss can be computed while Python records its gradients and the optimizer's step. Should the tape become something else, that was in vain,
and the numbers are the same. Owns: when it is begun, and whether the tape became what was expected. May not know: how tapes run.
"""
import contextlib

import jax

from ..base import compat, devices
from . import tape
from .tape import LOCAL

SURE = 2                           # so often in a row a tape must have gone on as before


def go_ahead(segment):
    """Begins the first stage of what the tape has become from here on lately."""
    found, times = segment.state.ahead
    if times < SURE or LOCAL.eager or found.executable.donated:             # what it writes over may be wanted yet
        return
    inputs, (floats, integers, complexes) = segment.inputs, found.own
    if found.reach > len(inputs) or floats > len(segment.floats) or integers > len(segment.integers) or complexes > len(segment.complexes):
        return                                  # what was read then is a value that comes later
    arrays = []
    for at in found.takes:
        value = inputs[at]
        if tape.there(value) is None:
            return
        arrays.append(sent(value))
    with contextlib.suppress(jax.errors.JaxRuntimeError):              # what fails will fail again, where it is expected
        segment.ahead = found, found.executable.run([*found.own_numbers(segment), *arrays])


tape.go_ahead = go_ahead


def sent(value):
    """The `jax.Array` of a value that is there (`tape.there`), which is sent to its device if the host has it; another thread may do the
    same at the same time."""
    array = value.segment
    if value.array is None and array is not None:
        value.array = compat.put(array, devices.jax_device(value.aval.device))
        value.segment = None
    return value.array


def results(segment, found):
    """The results of the program's first stage if it was begun already, else None; notes what the tape has become."""
    then, ahead = segment.then, segment.ahead
    if then is None:
        return None
    known = then.ahead
    then.ahead = found, known[1] + 1 if known is not None and known[0] is found else 0
    segment.ahead = None
    return ahead[1] if ahead is not None and ahead[0] is found else None
