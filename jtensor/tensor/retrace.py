"""Backward passes and optimizer steps that came before, put on the tape in one piece (`trace.macros`).

Owns: the key, which names everything that decides what such a stretch records. For a backward that is the graph (plans, edges, the order
in which its nodes were made), where each saved value lies on the tape, and the leaves; for an update the tensors it reads and writes.
Numbers are no part of it: they are handed over anew. Whatever is out of the ordinary (hooks, anomaly mode, memory shared with NumPy, a
tensor written to since it was saved) has no key and goes the long way, which knows PyTorch's errors. May not know: the walk itself, the
optimizers' arithmetic.
"""
from ..autograd import anomaly, engine
from ..autograd.graph import AccumulateGrad, OperatorNode
from ..base import sites
from ..ops import gradient
from ..storage import cell
from ..trace import macros
from ..trace.tape import LOCAL, slot
from .core import View, make_tensor

LARGEST = 400            # nodes of a graph that may be known again: the tape of a longer backward is cut on its way
_OPERATOR, _LEAF = 1, 2
_kinds = {}


def _kind(cls):
    found = _kinds[cls] = _LEAF if issubclass(cls, AccumulateGrad) else \
        _OPERATOR if issubclass(cls, OperatorNode) and cls.apply is OperatorNode.apply else 0
    return found


def _place(segment, tensor):
    """Where a tensor's value is on the tape, as a part of a key; None if NumPy may have changed it."""
    return _place_of(segment, tensor._storage, tensor._spec, tensor._offset, tensor._cached)


def _place_of(segment, storage, spec, offset, cached=None):
    value = storage.value
    if storage.host is not None:
        return None
    at = value.position if value.segment is segment else slot(segment, value)
    if spec is storage.spec:
        return at
    if cached is not None and cached[0]() is value:
        read = cached[1]
        return at, storage.layout, spec, offset, read.position if read.segment is segment else slot(segment, read)
    return at, storage.layout, spec, offset


# -- backward ---------------------------------------------------------------------------------------------------------


def backward(edge, grad, keep_graph):
    """Runs the backward of one root into the leaves: from a macro where there is one, else by the engine, learning it."""
    segment = LOCAL.segment
    found = None
    if not (LOCAL.eager or LOCAL.inference or anomaly.ON["on"] or engine.RESHAPED[0]):
        found = _graph(segment, edge, grad)
    if found is None:
        engine.run([edge], [grad], keep_graph, False)
        return
    key, nodes, leaves, numbers = found
    macro = macros.find(segment, key)
    if macro is not None:
        _finish(leaves, macros.play(segment, macro, numbers), macro.note)
        if not keep_graph:
            for node in nodes:
                node.release()
        return
    numbers = _numbers_apart(nodes) if numbers else numbers
    before = [None if leaf.grad is None else (leaf.grad, leaf.grad._counter.version) for leaf in leaves]
    start = macros.begin(segment)
    engine.run([edge], [grad], keep_graph, False)
    made = [_result(leaf, old) for leaf, old in zip(leaves, before, strict=True)]
    if None not in made and len({id(leaf.grad._storage) for leaf in leaves}) == len(leaves):
        macros.learn(start, key, numbers, [leaf.grad._storage.value for leaf in leaves], made)


def _graph(segment, edge, grad):
    """(key, nodes, leaves, floats) of the graph under an edge, or None where something is out of the ordinary."""
    if grad is None:
        return None
    root = _place(segment, grad)
    if root is None:
        return None
    nodes, index, leaves, numbers = [edge[0]], {edge[0]: 0}, [], []
    key = [edge[1], root, grad._spec]
    for node in nodes:
        if len(nodes) > LARGEST:
            return None
        cls = type(node)
        kind = _kinds.get(cls)
        if kind is None:
            kind = _kind(cls)
        if not kind or node.hooks is not None or node.pre_hooks is not None or node.tensor_hooks is not None or node.retained is not None:
            return None
        if kind is _LEAF:
            described = _leaf(segment, node.variable)
            if described is None:
                return None
            leaves.append(node.variable)
            key.append(node.spec)
            key.append(described)
            continue
        edges, saved = node.edges, node.saved
        if saved is None:
            return None
        key.append(node.plan)
        key.append(node.needs)
        for after in edges:
            if after is None:
                key.append(None)
                continue
            target = after[0]
            at = index.get(target)
            if at is None:
                at = index[target] = len(nodes)
                nodes.append(target)
            key.append(at)
            key.append(after[1])
        for number in node.scalars:
            if type(number) is float:
                numbers.append(number)
            else:
                key.append((type(number), number))
        if saved and not _saved(segment, node, saved, key):
            return None
    order = [node.sequence for node in nodes]
    key.append(tuple(sorted(range(len(nodes)), key=order.__getitem__)))
    key.append(macros.counts(segment))
    return tuple(key), nodes, leaves, numbers


def _saved(segment, node, saved, key):
    """Adds to a key where a node's saved values are; False where reading them may raise, or needs the user's hooks."""
    for code, entry in zip(gradient.saved(node.plan, node.needs), saved, strict=True):
        if type(entry) is not tuple:
            return False
        if len(entry) == 2:
            tensor, version = entry
            if tensor._counter.version != version:
                return False
            if tensor._edge is None and code >= 0 and (edge := node.edges[code]) is not None and not isinstance(edge[0], AccumulateGrad):
                return False                                # detached in place since
            place, spec = _place(segment, tensor), tensor._spec
        else:
            storage, spec, offset, counter, version = entry
            if counter.version != version:
                return False
            place = _place_of(segment, storage, spec, offset)
        if place is None:
            return False
        key.append(place)
        key.append(spec)
    return True


def _leaf(segment, variable):
    """What decides how a leaf takes a gradient, as a part of a key."""
    auto = variable._auto
    if not variable._requires_grad or auto is None or auto.post_hooks:
        return None
    old = auto.grad
    if old is None:
        return variable._spec
    if old._spec is not old._storage.spec or old._requires_grad:
        return None
    return variable._spec, old._spec, _place(segment, old)


def _numbers_apart(nodes):
    """Makes every float of the nodes an object of its own, so that the tape tells which of them it took."""
    numbers = []
    for node in nodes:
        if type(node) not in _kinds or _kinds[type(node)] is _LEAF:
            continue
        if any(type(n) is float for n in node.scalars):
            node.scalars = tuple([n * 1.0 if type(n) is float else n for n in node.scalars])
            numbers.extend([n for n in node.scalars if type(n) is float])
    return numbers


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
            _write(leaf._auto.grad, value, note[1])
            continue
        _, layout, spec, offset, version, info = note
        storage = cell.new(value, layout)
        storage.version = version
        grad = leaf._auto.grad = make_tensor(storage, spec, offset)
        if info is not None:
            base_spec, base_offset, *rest = info
            grad._info = View(make_tensor(storage, base_spec, base_offset), *rest)


def _write(tensor, value, times):
    """Puts a value in a tensor's place, as so many in-place operators would have done."""
    tensor._storage.value = value
    counter = tensor._counter
    counter.version += times
    if counter.site is not None:
        counter.site = sites.user_site()


# -- updates ----------------------------------------------------------------------------------------------------------


def update(identity, tensors, numbers, run):
    """Runs ``run(numbers)``, which changes some of the tensors in place, from a macro where there is one.

    What ``run`` records must follow from ``identity`` (hashable), the tensors and the numbers, which it must use as they are.
    It makes no other tensors than those and keeps none. Gradients are off.
    """
    segment = LOCAL.segment
    floats = [n for n in numbers if type(n) is float]
    if len(floats) < len(numbers):
        identity = identity, tuple([None if type(n) is float else (type(n), n) for n in numbers])
    key = _update_key(segment, identity, tensors)
    if key is None:
        run(numbers)
        return
    macro = macros.find(segment, key)
    if macro is not None:
        for (at, times), value in zip(macro.note, macros.play(segment, macro, floats), strict=True):
            _write(tensors[at], value, times)
        return
    numbers = [n * 1.0 if type(n) is float else n for n in numbers]
    floats = [n for n in numbers if type(n) is float]
    before = [(t._storage.value, t._counter.version) for t in tensors]
    start = macros.begin(segment)
    run(numbers)
    written, known = [], True
    for at, (tensor, (value, version)) in enumerate(zip(tensors, before, strict=True)):
        if tensor._counter.version != version:
            written.append((at, tensor._counter.version - version))
            known = known and tensor._spec is tensor._storage.spec
        elif tensor._storage.value is not value:
            known = False
    if known:
        macros.learn(start, key, floats, [tensors[at]._storage.value for at, _ in written], written)


def _update_key(segment, identity, tensors):
    if LOCAL.eager or LOCAL.inference or LOCAL.grad_enabled:
        return None
    key = [identity, macros.counts(segment)]
    storages = set()
    for tensor in tensors:
        storage = tensor._storage
        place = _place_of(segment, storage, tensor._spec, tensor._offset, tensor._cached)
        if place is None or tensor._auto is not None and tensor._auto.inference:
            return None
        storages.add(storage)
        key.append(place)
        key.append(tensor._spec)
    return tuple(key) if len(storages) == len(tensors) else None
