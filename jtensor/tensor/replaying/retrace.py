"""Backward passes that came before, put on the tape in one piece (`trace.macros`).

Owns: the key, which names everything that decides what a backward records: the graph (plans, edges, the order in which its nodes were
made), where each saved value lies on the tape, and the leaves. Floats, and where a view begins, are no part of it: they are handed over
anew. Whatever is out of the ordinary (hooks, anomaly mode, gradients in memory shared with NumPy, a tensor written to since it was saved)
has no key and goes the long way, which knows PyTorch's errors. Optimizers' steps do the same in `updates`. May not know: the walk itself.
"""
from ...autograd import anomaly, engine
from ...autograd import saved as saving
from ...autograd.graph import AccumulateGrad, OperatorNode
from ...base import sites
from ...ops import saves
from ...storage import cell
from ...storage.host import Glance
from ...trace import macros
from ...trace.tape import LOCAL, Value
from ..core import View, make_tensor
from . import written
from .places import Named, place, place_of

LARGEST = 5000           # nodes of a graph that may be known again
NEW = 16                 # graphs that nobody knew, more than known ones, after which parts of them are made known (`chains`)
AT_ONE_STATE = 2         # graphs that are written out, of those that are met at one place of the tape
_unknown = [0]           # how many more there were of late
_OPERATOR, _LEAF = 1, 2
_kinds = {}


def _kind(cls):
    found = _kinds[cls] = _LEAF if issubclass(cls, AccumulateGrad) else \
        _OPERATOR if issubclass(cls, OperatorNode) and cls.apply is OperatorNode.apply else 0
    return found


def backward(edge, grad, keep_graph):
    """Runs the backward of one root into the leaves: from a macro where there is one, else by the engine, learning it."""
    found = macro = None
    segment, keep_graph = LOCAL.segment, bool(keep_graph)
    state = segment.state
    known = state.macros
    if not (LOCAL.eager or LOCAL.inference or LOCAL.lesson or anomaly.ON["walks"] or grad is None or state.depth != len(segment.nodes)):
        if known is not None and known[macros.WRITTEN]:
            macro, found = _as_written(segment, known, edge, grad, keep_graph)
            if macro is not None:
                grad = None                                         # what it names must not live longer than it would
                _play(macro, segment, found, keep_graph)
                return
        if not macros.hopeless(segment):
            with Glance():
                found = _graph(segment, edge, grad)
    if found is not None:
        key, nodes, leaves, numbers, named, holding = found
        key = *key, keep_graph
        macro = macros.find(state, key)
    if found is None or macro is macros.UNKNOWN:
        _unknown[0] = min(_unknown[0] + 1, 2 * NEW)
        engine.run([edge], [grad], keep_graph, False, rows=_unknown[0] > NEW)
    elif macro is not None:
        macro.plays += 1
        if macro.plays == written.AFTER and len(nodes) <= written.LARGEST:
            known = macro.begun[0].macros
            ask = written.Graph(segment, macro.wanted, _still_there).function(edge, grad, keep_graph)
            known[macros.WRITTEN] = ((ask, macro), *known[macros.WRITTEN])[:AT_ONE_STATE]
        found = grad = nodes = None
        _play(macro, segment, (named, leaves, numbers, holding), keep_graph)
    else:
        numbers, apart = _numbers_apart(nodes) if numbers else (numbers, ())
        before = [None if leaf.grad is None else (leaf.grad, leaf.grad._counter.version) for leaf in leaves]
        lesson = macros.Lesson(state, named, numbers, _cells(leaves), None if keep_graph else _Releases(holding))
        found = named = None
        with lesson:
            engine.run([edge], [grad], keep_graph, False)
        for node, scalars in apart:
            node.scalars = scalars
        made = [_result(leaf, old) for leaf, old in zip(leaves, before, strict=True)]
        if None not in made and len({id(leaf.grad._storage) for leaf in leaves}) == len(leaves):
            lesson.learn(key, [leaf.grad._storage.value for leaf in leaves], made)


def _as_written(segment, known, edge, grad, keep_graph):
    """(macro, what `_play` wants) where a graph is one of those that have been written out, else (None, None)."""
    for ask, macro in known[macros.WRITTEN]:
        LOCAL.glance = object()                                     # as a `Glance` does, with less ado
        try:
            found = ask(segment, edge, grad, keep_graph)
        except (TypeError, ValueError):                             # nothing, or something else, was saved where a tuple was
            found = None
        finally:
            LOCAL.glance = None
        if found is not None:
            known[macros.MISSES] = 0
            return macro, found
    return None, None


def _play(macro, segment, found, keep_graph):
    """Puts a backward on the tape where it was found: ``found`` is (named values, leaves, numbers, nodes that let go of what they saved in
    the end)."""
    named, leaves, numbers, holding = found
    _unknown[0] = max(_unknown[0] - 1, 0)

    def release(places):
        for at in places:
            holding[at].saved = None
    _finish(leaves, macros.play(macro, segment, named, numbers, _cells(leaves), None if keep_graph else release), macro.note)
    if not keep_graph:
        for node in holding:
            node.saved = None


def _cells(leaves):
    """The storages of the gradients that there are."""
    return [leaf._auto.grad._storage for leaf in leaves if leaf._auto.grad is not None]


class _Releases:
    """Asked at each cut of the tape: which of the nodes have let go of what they saved since the one before."""

    def __init__(self, nodes):
        self.nodes, self.left = nodes, range(len(nodes))

    def __call__(self):
        gone = [at for at in self.left if self.nodes[at].saved is None]
        self.left = [at for at in self.left if self.nodes[at].saved is not None]
        return gone


def _graph(segment, edge, grad):
    """(key, nodes, leaves, numbers, values that the key names, nodes that let go of what they saved in the end) of the graph under an edge;
    None where something is out of the ordinary.

    The order in which the nodes were made is in the key as their distance from the root, which a loop repeats.
    """
    named = Named()
    root = place(segment, named, grad)
    if root is None:
        return None
    last, output = edge
    top, nodes, index, leaves, numbers, holding = last.sequence, [last], {last: 0}, [], [], []
    key = [output, root, grad._spec]
    add, kinds = key.append, _kinds
    for node in nodes:
        kind = kinds.get(node.__class__)
        if kind is None:
            kind = _kind(node.__class__)
        if not kind or node.hooks is not None or node.pre_hooks is not None or node.tensor_hooks is not None or node.retained is not None:
            return None
        if kind is _LEAF:
            described = _leaf(segment, named, node.variable)
            if described is None:
                return None
            leaves.append(node.variable)
            add(node.spec)
            add(described)
            continue
        saved = node.saved
        if saved is None:
            return None
        add(node.plan)
        add(node.needs)
        add(top - node.sequence)
        for after in node.edges:
            if after is None:
                add(None)
                continue
            target, output = after
            at = index.get(target)
            if at is None:
                at = index[target] = len(nodes)
                if at > LARGEST:
                    return None
                nodes.append(target)
            add(at)
            add(output)
        for number in node.scalars:
            if number.__class__ is float or number.__class__ is int and node.plan.moves:
                numbers.append(number)
                add(number.__class__)
            else:
                add((number.__class__, number))
        if saved.__class__ is list:
            holding.append(node)
            if not _saved(segment, named, node, saved, add):
                return None
    add(macros.counts(segment))
    return key, nodes, leaves, numbers, named, holding


def _saved(segment, named, node, saved, add):
    """Adds to a key where a node's saved values are; False where reading them may raise, or needs the user's hooks."""
    for at, entry in enumerate(saved):
        if entry.__class__ is saving.Remembered:
            if not _still_there(entry):
                return False
            entry = entry.entry
        if entry.__class__ is not tuple:
            if type(entry) is not Value or type(node.plan.notes) is not int:
                return False
            add(entry.position if entry.segment is segment else named.at(segment, entry))
            named.append(entry)                                                 # what a second backward has of the first
            continue
        if len(entry) == 2:
            tensor, version = entry
            if tensor._counter.version != version:
                return False
            if tensor._edge is None:
                code = saves.codes(node.plan, node.needs)[at]
                if code >= 0 and (edge := node.edges[code]) is not None and not isinstance(edge[0], AccumulateGrad):
                    return False                            # detached in place since
            storage, spec = tensor._storage, tensor._spec
            lies = None if spec is storage.spec else place_of(segment, named, storage, spec, tensor._offset, tensor._cached, True)
        else:
            storage, spec, offset, counter, version = entry
            if counter.version != version:
                return False
            lies = None if spec is storage.spec else place_of(segment, named, storage, spec, offset, None, True)
        if lies is None and spec is storage.spec:   # `place_of` without the calls; never so where NumPy has the memory
            value = storage.value
            add(value.position if value.segment is segment else named.at(segment, value))
            named.append(value)
        elif lies is None:
            return False
        else:
            add(lies)
        add(spec)
    return True


def _still_there(entry):
    """Whether what was saved has the value that it had."""
    if type(entry.entry) is not tuple:
        return False
    if len(entry.entry) == 2:
        tensor = entry.entry[0]
        storage, spec, cached = tensor._storage, tensor._spec, tensor._cached
        return storage.value is entry.value if spec is storage.spec else cached is not None and cached[1] is entry.value \
            and cached[0]() is storage.value
    return entry.entry[1] is entry.entry[0].spec and entry.entry[0].value is entry.value


def _leaf(segment, named, variable):
    """What decides how a leaf takes a gradient, as a part of a key."""
    auto = variable._auto
    if not variable._requires_grad or variable._edge is not None or auto is None or auto.post_hooks or auto.grad_type:
        return None
    old = auto.grad
    if old is None:
        return variable._spec
    if old._spec is not old._storage.spec or old._requires_grad:
        return None
    lies = place(segment, named, old)
    return None if lies is None else (variable._spec, old._spec, lies)


def _numbers_apart(nodes):
    """Makes every float of the nodes, and where views begin, an object of its own, so that the tape tells which of them it took.

    Answers these numbers, and (node, its numbers as they were) of each node that had any.
    """
    numbers, before = [], []
    for node in nodes:
        if _kinds.get(type(node), _LEAF) is not _LEAF and node.scalars:
            before.append((node, node.scalars))
            apart = _APART_OF_VIEWS if node.plan.moves else _APART
            node.scalars = tuple([apart[type(n)](n) if type(n) in apart else n for n in node.scalars])
            numbers.extend([n for n in node.scalars if type(n) in (float, macros.Integer)])
    return numbers, before


_APART = {float: (1.0).__mul__}
_APART_OF_VIEWS = _APART | {int: macros.Integer}


def _result(leaf, before):
    """How the leaf's gradient is made anew of its value: how often it was written to, or the new tensor's geometry; None if it can't be."""
    grad = leaf.grad
    if grad is None:
        return None
    storage = grad._storage
    if before is not None:
        return ("written", grad._counter.version - before[1]) if grad is before[0] and grad._spec is storage.spec else None
    info = grad._info
    if grad._counter is not storage or storage.spec is None or grad._auto is not None or grad._edge is not None or storage.site is not None:
        return None
    if info is not None:
        base = info.base
        if base is None or base._storage is not storage or base._info is not None or base._edge is not None or base._auto is not None:
            return None
        info = base._spec, base._offset, info.creation, info.version, info.differentiable, info.replay
    return "new", storage.spec, grad._spec, grad._offset, storage.version, info


def _finish(leaves, values, notes):
    """Gives the leaves their gradients."""
    for leaf, value, note in zip(leaves, values, notes, strict=True):
        if note[0] == "written":
            _count(leaf._auto.grad, note[1])
            continue
        _, layout, spec, offset, version, info = note
        storage = cell.new(value, layout)
        storage.version = version
        grad = leaf._auto.grad = make_tensor(storage, spec, offset)
        if info is not None:
            base_spec, base_offset, *rest = info
            grad._info = View(make_tensor(storage, base_spec, base_offset), *rest)


def _count(tensor, times):
    """Counts that a tensor was written to in place, so many times."""
    counter = tensor._counter
    counter.version += times
    if counter.site is not None:
        counter.site = sites.user_site()
