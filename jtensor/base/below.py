"""What is below autograd in a thread: the modes that are asked there, and whether somebody is asking already.

Owns: that state alone, where all can see it who must know whether an operator is called by a handler. How is asked: `jtensor.dispatching`.
"""
import threading


class _State(threading.local):
    """``modes``: from the outermost to the innermost; ``below``: a handler runs, of whose calls autograd does not hear; ``kernel``: an
    operator runs, and what it is made of is nobody's business; ``silent``: no class is asked."""

    below = kernel = silent = False

    def __init__(self):
        self.modes = []


STATE = _State()


class Layer:
    """What `jtensor.dispatching` puts here once it is wanted: ``again(overload, args, kwargs)``, a call by a handler; ``admit(cls)``, of
    which there is a tensor; ``wrapper(cls, size, ...)``; ``aliased(func, args, kwargs, out)``; ``open()`` and ``close()``, as a mode
    begins and ends. ``wanted()``, which `namespace` has put here, has it do so."""

    again = admit = wrapper = aliased = open = close = wanted = None
