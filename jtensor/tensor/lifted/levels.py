"""Tensors of lifted values: how a tensor enters a level (`trace.lifted`) and leaves it, with its history, and where gradients cross.

Inside a level a tensor is an ordinary one, whose value is lifted. A `Passage` in its graph leads to what is outside, and what
leaves has one, too. A gradient that goes back through that from outside is owed: it is lifted, and where an edge leads from what was
recorded inside the level to what was recorded before, it has to become what is outside (`crossed`): the sum over a batch, say. Inside a
level is what was recorded while it was open, which the numbers of the nodes tell. May not know: what a level is for.
"""
import contextlib

from ...autograd import engine
from ...autograd.graph import Node, sequence
from ...storage.lifted import LIFTED_MEMORY
from ...trace import spec as specs
from ...trace.lifted import is_owed, levels_of, serial
from ...trace.tape import LOCAL
from ..history import edge_of
from ..printing import tensor_str
from ..values import read, wrap

# -- levels that are open ---------------------------------------------------------------------------------------------


def open_levels():
    """The levels of functions of functions that are open on this thread, the outermost first."""
    if LOCAL.levels == ():
        LOCAL.levels = []
    return LOCAL.levels


def begin(level):
    """From now on what is recorded is inside the level."""
    engine.CROSSING[0] = crossed
    level.spans.append([sequence(), float("inf")])


def end(level):
    """What is recorded from now on is outside."""
    level.spans[-1][1] = sequence()


@contextlib.contextmanager
def opened(level):
    """A level of a function of functions: everything recorded inside is inside it."""
    levels = open_levels()
    begin(level)
    levels.append(level)
    try:
        yield level
    finally:
        levels.pop()
        end(level)


def is_inside(node, level):
    """Whether a node was recorded inside a level; of a leaf's, whether its value is of the level."""
    variable = getattr(node, "variable", None)
    if variable is not None:
        return variable._storage.host is LIFTED_MEMORY and level in levels_of(variable._storage.value)
    return any(begin < node.sequence < end for begin, end in level.spans)


# -- nodes ------------------------------------------------------------------------------------------------------------


class Passage(Node):
    """A node between the inside of a level and the outside; it goes by the name of what PyTorch has there."""

    __slots__ = ("level", "shown")

    def __init__(self, edge, level, shown):
        Node.__init__(self, (edge,))
        self.level, self.shown = level, shown

    def name(self):
        return self.shown

    def release(self):
        """It has saved nothing."""

    def apply(self, grads):
        return [self.passed(grads[0])]


def open_again(level):
    """While gradients are inside a level, it is open again: until the walk has ended."""
    task = engine.current_task()
    if task is not None and level not in task.levels:
        span = [sequence(), float("inf")]

        def ended():
            span[1] = sequence()
            level.awake -= 1
        task.levels[level] = ended
        level.awake += 1
        level.spans.append(span)


def with_passage(out, tensor, kind, level, shown=None):
    """Gives what was made of a tensor its history, if there is one."""
    if LOCAL.grad_enabled and tensor.requires_grad and out._spec.dtype.differentiable and (edge := edge_of(tensor)) is not None:
        out._edge, out._requires_grad = (kind(edge, level, shown or edge[0].name() if edge[0].edges else "AliasBackward0"), 0), True
    return out


def of_value(value):
    """The contiguous tensor of a value."""
    return wrap(value, specs.of_aval(value.aval))


def text(tensor):
    """The text of a tensor whose value is lifted: that of what it is made of, and what the level makes of it; or its own, with its
    tangent."""
    value = read(tensor)
    found = value.level.text(*[repr(of_value(part)) for part in value.parts])
    return found if found is not None else tensor_str(tensor, notes=[f"tangent={of_value(value.parts[1])}"])


# -- gradients --------------------------------------------------------------------------------------------------------


class _Crossing(Passage):
    """Where a gradient that is owed has become what is outside."""

    def passed(self, grad):
        open_again(self.level)
        made = of_value(self.level.entered(read(grad)))
        return with_passage(made, grad, _Return, self.level)


class _Return(Passage):
    def passed(self, grad):
        made = of_value(self.level.left(read(grad)))
        return with_passage(made, grad, _Crossing, self.level)


def crossed(edge, grad):
    """A gradient as it arrives at the end of an edge: what is owed to the outside is settled where the edge leads there."""
    if grad._storage.host is not LIFTED_MEMORY:
        return grad
    value = read(grad)
    for level in sorted(levels_of(value), key=serial, reverse=True):
        if is_owed(value, level) and not is_inside(edge[0], level):
            grad = with_passage(of_value(level.left(value)), grad, _Crossing, level)
            value = read(grad)
    return grad
