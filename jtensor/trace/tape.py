"""Recording: values, and the tape of this thread.

A `Value` is an immutable array: there already (``array``), or promised by a node of a `Segment`. A segment is the stretch of
tape since the last flush; its nodes are ``(plan, positions, scalars, outputs)`` where a position p >= 0 is the p-th value made on
the segment, p < 0 is its external input ``~p``, and outputs are weak references: what nobody holds need not be computed.
Walking the trie (`trie`) while recording makes the segment's identity. `record` is the general way in; `tensor.recording.recorders` has
the same steps in line.

Threads: each has its own segment. A value pending on another thread's segment is computed here from a snapshot of its nodes; they
are pure, so that the owner may compute them again.
"""
import threading
import weakref

from ..base import devices, switches
from .trie import TRIE

reference = weakref.ref


class Value:
    """``array`` is None while pending; then ``segment`` and ``position`` say where it will come from.

    Numbers that the host has made wait there until somebody wants them on the device: then ``segment`` is their ndarray (`hosted`).
    ``bounds`` is set once the smallest and the largest number are known (`ops.families.bounds`), ``number`` once an array of one has been
    looked at (`hand`).
    """

    __slots__ = ("array", "segment", "position", "aval", "owned", "bounds", "number", "__weakref__")


class Segment:
    """A stretch of tape: nodes, external inputs, scalars by kind, and the state of the trie that it has reached.

    ``asked``: the position of a value that will be waited for, such as a loss whose gradients are on the tape; or None. ``then``: the
    state when that was said; ``ahead``: a program whose first stage was begun there, and its results. ``mark``: how many nodes stood
    before a model was called first, ``update``: before an optimizer's step, the last one; or None. ``turn``: both numbers at the end of
    an earlier step, behind which the tape went on for another optimizer's that did not come: (nodes, `update`), or None. ``running``: the
    `donation.Run` of a program that writes over its inputs, from its beginning until all values have their arrays. ``kept``: a closed
    tape as it was, if the collector has run meanwhile (`asides.keep`), or None.
    """

    __slots__ = ("nodes", "state", "inputs", "slots", "floats", "integers", "complexes", "count", "asked", "then", "ahead", "mark",
                 "update", "turn", "running", "kept", "__weakref__")

    def __init__(self):
        self.asked = self.then = self.ahead = self.mark = self.update = self.turn = self.running = self.kept = None
        self.nodes, self.inputs, self.slots, self.count = [], [], {}, 0
        self.floats, self.integers, self.complexes = [], [], []
        self.state = TRIE.root


_counting = threading.Lock()
_alive = {}                             # {reference to a thread's `_Presence`: the thread's number}


class _Presence:
    """Lies among a thread's own things, which are gone when the thread has ended, whoever still holds its `Thread`."""

    __slots__ = ("__weakref__",)


def _enter():
    """Counts the threads that have a tape; one that has ended counts no more, so that buffers may be donated again."""
    presence = _Presence()
    with _counting:
        Local.threads += 1
        _alive[weakref.ref(presence, _leave)] = threading.get_ident()
    return presence


def _leave(presence):
    with _counting:
        Local.threads -= 1
        Local.idents.discard(_alive.pop(presence, None))


class Local(threading.local):
    """What belongs to the recording thread; the modes of autograd live here so that one look-up serves both."""

    threads = 0
    idents = set()                          # those threads' numbers, for who must not make a tape by asking for it (`asides`)
    differentiated = ()                     # the differentiations of `torch.func` by the graph whose functions are running
    collections = 0                         # how many the collector has begun
    layout_enforced = True                  # whether gradients get the strides of their leaves (`autograd.layouts`)
    glance = None                           # what names the present look at memory that is shared (`storage.host.Glance`)
    levels = ()                             # of `vmap` and its like that are open, a list once there has been one (`tensor.lifted.levels`)

    def __init__(self):
        self.presence = _enter()
        self.segment, self.aside = Segment(), Segment()
        self.outside = None                 # the tape, and who watches it, while another thing is recorded on ``aside`` (`asides`)
        self.collections_met = Local.collections        # when a tape of this thread was closed last
        self.is_main = threading.get_ident() == threading.main_thread().ident           # signals are handled there
        self.grad_enabled = True
        self.inference = False
        self.says_enabled = False           # in inference mode: whether gradients are said to be enabled, though none are recorded
        self.eager = EAGER_DEFAULT
        self.lesson = None                  # who watches what is recorded (`macros`)
        Local.idents.add(threading.get_ident())             # at last: from here on a collection finds all there is to find


EAGER_DEFAULT = switches.is_on("JTENSOR_EAGER", False)
LOCAL = Local()


def ready(array, aval):
    """A `Value` that is there already."""
    value = Value()
    value.array, value.segment, value.position, value.aval, value.owned = array, None, 0, aval, False
    return value


def hosted(array, aval):
    """A `Value` of the CPU whose numbers are an ndarray that nobody writes to any more; `executor.value_of` sends it to the device."""
    if not _begun:
        _begun.append(devices.jax_device(devices.cpu))  # a script that has numbers will compute: `ahead` waits for the backend
    value = Value()
    value.array, value.segment, value.aval = None, array, aval
    value.position, value.owned = 0, False
    return value


_begun = []


def there(value):
    """What holds a value's numbers if nothing need run for them, a `jax.Array` or an ndarray not to be written to; else None."""
    array = value.array
    if array is None:
        array = value.segment
        if array.__class__ is Segment:
            return None
        if array is None:
            array = value.array                # another thread has sent it meanwhile
    return array


def slot(segment, value):
    """The position of a value that this segment did not make: numbered by first use, negative."""
    at = segment.slots.get(id(value))
    if at is None:
        inputs = segment.inputs
        inputs.append(value)
        at = len(inputs) - 1
        while inputs[at] is not value:          # a signal's handler has numbered more
            at -= 1
        at = segment.slots[id(value)] = ~at
    return at


def take_back(segment, count):
    """Frees the numbers of all inputs but the first ``count``: they were given for an operation that was refused, or that has no values."""
    for value in segment.inputs[count:]:
        del segment.slots[id(value)]
    del segment.inputs[count:]


def renew(segment, value):
    """Has a node refer to its value again, which the garbage collector had given up for dead before a finalizer used it."""
    at = 0
    for number, (plan, positions, scalars, refs) in enumerate(segment.nodes):
        k = value.position - at
        if k < len(plan.outputs):
            many = list(refs) if type(refs) is list else [refs]
            many[k] = reference(value)
            segment.nodes[number] = plan, positions, scalars, many if type(refs) is list else many[0]
            return
        at += len(plan.outputs)


def begin_anew():
    """Gives this thread another tape; what is pending on the one it had is computed when it is read (`executor.run_for`)."""
    LOCAL.segment = Segment()


def reach(nodes):
    """How many of the external inputs the nodes use: an operation that was refused may have numbered more."""
    return max((~p for node in nodes for p in node[1] if p < 0), default=-1) + 1


def living(nodes):
    """The values of a tape that somebody holds, and their positions."""
    alive, wanted, position = [], [], 0
    for _, _, _, refs in nodes:
        if refs.__class__ is list:
            for ref in refs:
                value = ref()
                if value is not None:
                    alive.append(value)
                    wanted.append(position)
                position += 1
        else:
            value = refs()
            if value is not None:
                alive.append(value)
                wanted.append(position)
            position += 1
    return alive, wanted


def expect(value):
    """Says that a value of this tape will be waited for, before the rest: what depends on it need not be done by then."""
    segment = value.segment
    if segment is LOCAL.segment:
        if segment.ahead is not None:
            segment.then.ahead = segment.ahead = None               # begun in vain: another value is waited for
        segment.asked, segment.then = value.position, segment.state
        if segment.state.ahead is not None:
            go_ahead(segment)


def scalar(segment, kind, number):
    """Puts a scalar among the segment's; answers (kind, index)."""
    numbers = segment.floats if kind == "f" else segment.complexes if kind == "c" else segment.integers
    numbers.append(number)
    return kind, len(numbers) - 1


class _Lifted:
    """The position of a value that is on no tape, since it stands for more than an array (`lifted`): no key that has it is ever met."""

    def __repr__(self):
        return "LIFTED"


LIFTED = _Lifted()


def record_lifted(plan, values, scalars):
    """Set by `lifted`: records a plan of values some of which stand for more than an array."""
    raise RuntimeError("there are no lifted values")


def record(plan, values, scalars=()):
    """Records one node; values in, a list of values out. Nothing runs."""
    segment = LOCAL.segment
    positions = tuple([v.position if v.segment is segment else slot(segment, v) for v in values])
    key = (plan, positions)
    state = segment.state
    child = state.children.get(key)
    if child is None:
        if LIFTED in positions:
            return record_lifted(plan, values, scalars)
        child = TRIE.grow(state, key, plan)
    if scalars:
        scalars = [scalar(segment, kind, number) for kind, number in zip(plan.scalar_kinds, scalars, strict=True)]
    return append(segment, child, plan, positions, scalars)


def append(segment, child, plan, positions, scalars):
    """The end of recording, once the child state is known.

    A signal's handler that records as well can run after a call or an allocation: after all of them the tape grows by the node at once.
    """
    made = []
    for aval in plan.outputs:
        value = Value.__new__(Value)
        value.array, value.segment, value.aval = None, segment, aval
        made.append(value)
    node = plan, positions, scalars, reference(value) if len(made) == 1 else [reference(v) for v in made]
    count = segment.count
    for value in made:
        value.position = count
        count += 1
    segment.count, segment.state = count, child
    segment.nodes.append(node)
    if child.cut or LOCAL.eager:
        over_cap()
    return made


def go_ahead(segment):
    """Set by the executor: begins what the tape so far will be asked for first."""
    raise RuntimeError("the executor is not installed")


def over_cap():
    """Set by the executor: cuts a tape that has grown too long (or runs each node at once in eager mode)."""
    raise RuntimeError("the executor is not installed")
