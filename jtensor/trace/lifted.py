"""Values that stand for more than an array: for a batch of arrays (`batches`), or for an array and its tangent (`ops.tangents`).

Owns: `Lifted`, a Value with the shape of what it stands for and ``parts``, plainer Values that make it up; `Level`, which knows how an
operation of such values is recorded as operations of their parts. Levels are nested, the innermost is taken apart first: the parts of its
values may be lifted in their turn. Nothing above the tape knows of it: a lifted value has an aval, is read, written and saved as any other,
and what is recorded of it comes to `record` here, since its position is on no tape. May not know: tensors, what a level is for.
"""
import itertools

from . import tape
from .tape import LIFTED, LOCAL, Value

_serials = itertools.count(1).__next__


class Lifted(Value):
    """``parts`` are Values, ``level`` says what they mean. ``owed``: it is, or comes of, a gradient that has entered the level from
    outside, and so leaves it where it gets to what is outside (`Level.left`)."""

    __slots__ = ("level", "parts", "owed")

    segment = property(lambda self: LOCAL.segment)          # whoever looks for the value on a tape finds `LIFTED` for its position

    def __init__(self, level, parts, aval, owed=False):
        self.array, self.position, self.aval, self.owned = None, LIFTED, aval, False
        self.level, self.parts, self.owed = level, parts, owed

    def seen(self, reason):
        """The plainer Value that is seen where somebody looks at the numbers; or an error."""
        return self.level.seen(self, reason)


class Level:
    """One `vmap`, or one differentiation forwards. ``depth``: how many of PyTorch's levels are around it, and itself. ``spans``: when it
    was open, as the first and the last number of the graph's nodes that were made then. ``awake``: in how many backwards it is open
    again. ``quiet``: it belongs to autograd's own functions, inside of which gradients may be asked for."""

    extra = 0                    # how many dimensions a part has before those of the value

    def __init__(self, depth=1, quiet=False):
        self.quiet = quiet
        self.serial, self.depth, self.spans, self.awake = _serials(), depth, [], 0

    def kind(self):
        """What another level must have in common with this one to take its place."""
        return type(self)

    def record(self, plan, values, scalars):
        """Values of the plan's results, of which those that depend on lifted ones are lifted."""
        raise NotImplementedError

    def left(self, value):
        """What a gradient that is owed is to what is outside of the level."""
        raise NotImplementedError

    def entered(self, value):
        """The gradient, owed, of a value for the gradient of what `left` makes of it."""
        raise NotImplementedError

    def exported(self, value):
        """The plainer value that NumPy may see and write to; or an error."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def text(self, *parts):
        """The text of a tensor with a value of this level, made of its parts' texts; None: it shows its tangent behind its own."""
        raise NotImplementedError

    def admit(self):
        """Raises where a value of this level may not be put into a storage that has had none."""

    def joined(self, value):
        """What takes the place of a value of this level where a value is put that is none."""
        return value


def record(plan, values, scalars=()):
    """Records a plan of values some of which are lifted: by the innermost level."""
    level = max([v.level for v in values if v.position is LIFTED], key=serial)
    return level.record(plan, values, scalars)


def serial(level):
    """How far inside a level lies: greater further in."""
    return level.serial


tape.record_lifted = record


def transforming():
    """Whether this thread is inside of a function of functions, where PyTorch refuses what would lead out of it."""
    return bool(LOCAL.differentiated) or any(not level.quiet for level in LOCAL.levels)


def beneath(value, level):
    """Whether a value is of a level that lies further inside than this one."""
    return value.position is LIFTED and value.level.serial > level.serial


def levels_of(value):
    """All levels of a value."""
    found = set()
    while value.position is LIFTED:
        found.add(value.level)
        value = value.parts[0]
    return found


def nest(value):
    """The levels of a value, the innermost first."""
    found = []
    while value.position is LIFTED:
        found.append(value.level)
        value = value.parts[0]
    return found


def back_in(value, levels):
    """A value that was made a second time, by opening again what had been open (`checkpoint`): in the levels that it was in at first."""
    now = nest(value)
    if now == levels or [level.kind() for level in now] != [level.kind() for level in levels]:
        return value
    return _renamed(value, dict(zip(now, levels, strict=True)))


def _renamed(value, names):
    if value.position is not LIFTED:
        return value
    return Lifted(names[value.level], tuple([_renamed(part, names) for part in value.parts]), value.aval, value.owed)


def is_owed(value, level):
    """Whether a value is a gradient that is owed to what is outside of a level."""
    while value.position is LIFTED:
        if value.level is level:
            return value.owed
        value = value.parts[0]
    return False
