"""The engine: walks the graph from the outputs to the leaves, iteratively, in PyTorch's order.

A node runs when all gradients of its outputs have arrived; of several that are ready the one recorded last goes first, and leaves at once.
Gradients are tensors; summing them and running nodes only records on the tape. May not know: the Tensor class.
"""
import heapq
import itertools
from sys import getrefcount

from ..trace.tape import LOCAL
from . import anomaly, hooking
from .graph import AccumulateGrad, CopySlices, OperatorNode
from .mode import switch

_NUMBERS = itertools.count()


class Task:
    """One backward: the nodes that must run, how many gradients each still waits for, and what has arrived.

    ``rows``: whether nodes may run by rows; ``row``: the one that is being watched (`tensor.replaying.chains`). ``into``: see `run`.
    ``levels``: those that are open until it has ended (`tensor.lifted.levels`), with what is called then. ``callbacks``: what the user
    wants to be called once all nodes have run. ``number``: how many backwards began before it.
    """

    def __init__(self, roots, captures, keep_graph, rows=False, into=None):
        self.keep_graph, self.captures, self.number = keep_graph, captures, next(_NUMBERS)
        self.buffers, self.waiting, self.rows, self.row, self.levels, self.callbacks = {}, {}, rows, None, {}, []
        targets = into if captures is None else {node for node, _ in captures}
        self.needed = self._needed(roots, targets) if targets is not None else None
        self.roots, self.single = {node for node, _ in roots}, len(roots) == 1
        self._count()

    def _needed(self, roots, targets):
        """Nodes from which a target can be reached (and the targets themselves)."""
        order, seen = [], set()
        for root, _ in roots:                              # one may lie below another
            if root in seen:
                continue
            seen.add(root)
            stack = [(root, iter(root.edges))]
            while stack:
                node, edges = stack[-1]
                for edge in edges:
                    if edge is not None and edge[0] not in seen:
                        seen.add(edge[0])
                        stack.append((edge[0], iter(edge[0].edges)))
                        break
                else:
                    order.append(node)
                    stack.pop()
        needed = set()
        for node in order:
            if node in targets or any(e is not None and e[0] in needed for e in node.edges):
                needed.add(node)
        return needed

    def _count(self):
        """How many gradients each node below the roots waits for."""
        waiting, roots = self.waiting, self.roots
        stack = list(roots)
        known, push = waiting.get, stack.append
        while stack:
            for edge in stack.pop().edges:
                if edge is not None:
                    after = edge[0]
                    times = known(after)
                    if times is not None:
                        waiting[after] = times + 1
                    else:
                        waiting[after] = 1
                        if after not in roots:
                            push(after)

    def will_run(self, node):
        """Whether this backward reaches a node."""
        return node in self.needed if self.needed is not None else node in self.waiting or node in self.roots

    def announces(self, node):
        """Whether PyTorch's engine says that it will run a node: it does so of the nodes it has gone to, and begins at a single root."""
        return self.will_run(node) and not (self.single and node in self.roots)

    def arrive(self, edge, grad):
        """A gradient for an input of a node; None counts as arrived without one."""
        node, nr = edge
        buffer = self.buffers.get(node)
        if buffer is None:
            buffer = self.buffers[node] = [None] * node.outputs
        if grad is not None:
            old, buffer[nr] = buffer[nr], None
            buffer[nr] = grad if old is None else added(old, grad)


def added(old, grad):
    """The sum of two gradients: in place where nobody else can see the old one, as in PyTorch, where strides and versions show it."""
    if not (LOCAL.grad_enabled or LOCAL.says_enabled) and getrefcount(old) <= SEEN_HERE and getrefcount(old._storage) <= OWN_STORAGE \
            and old._spec.dense and grad._storage.host is None:
        return old.add_(grad)
    return total(old, grad)


def total(old, grad):
    """The sum of two gradients as a new tensor."""
    return old + grad if takes(old, grad) else grad + old


def takes(old, grad):
    """Whether a gradient can be added to another: PyTorch adds a sparse one to a dense one, and not the other way round."""
    return old._storage.spec is not None or old.layout.name == "strided" or grad.layout.name != "strided"


RESHAPED = [False]       # whether a tensor that requires grad has ever got another shape, as by `.data =`: only then gradients may not fit
RETYPED = [False]        # or another type, of which only a node that goes by the rules needs to know
GRAD_TYPES = [False]     # whether a leaf has ever been told to have gradients of another type than its own


CROSSING = [None]        # what a gradient becomes at the end of an edge: set once there are levels (`tensor.lifted.levels`)


def _expected(edge):
    """The Spec of the tensor that an edge leads to, as it was when the node was made; None where the node does not tell."""
    node, nr = edge
    if isinstance(node, OperatorNode):
        return node.plan.specs[nr]
    if isinstance(node, CopySlices):
        return node.base_spec[0]
    return node.spec if isinstance(node, AccumulateGrad) else None


def gradient_type(leaf):
    """The type that a leaf wants its gradient in, or None for any."""
    auto = leaf._auto
    return leaf._spec.dtype if auto is None or auto.grad_type is None else auto.grad_type[0]


def travels_as(edge, expected, grad):
    """The type in which a gradient goes along an edge that leads to a tensor with the Spec ``expected``."""
    node = edge[0]
    if GRAD_TYPES[0] and isinstance(node, AccumulateGrad):
        auto = node.variable._auto
        if auto is not None and auto.grad_type is not None:         # else the type that the leaf had, which `.data =` may have changed
            return auto.grad_type[0] or grad._spec.dtype
    return expected.dtype


def fits(got, wanted):
    """Whether a gradient of one shape can be summed to another."""
    return len(wanted) <= len(got) and all(n in (1, m) for n, m in zip(wanted[::-1], got[::-1]))


def _fitting(edge, at, grad, node=None):
    """The gradient in the shape and dtype of what it belongs to, or PyTorch's error where it cannot have been broadcast from that.

    ``at``: its place among those that ``node`` answers, or among those that the user gives.
    """
    expected = _expected(edge)
    if expected is None:
        return grad
    got, wanted = tuple(grad._spec.size), tuple(expected.size)
    if got != wanted:
        if not fits(got, wanted):
            who = "" if node is None else f"Function {node.name()} returned an "
            shown = [] if node is None else list(node.places_shown())
            at = shown.index(at) if at in shown else at
            raise RuntimeError(f"{who}invalid gradient at index {at} - got {list(got)} but expected shape compatible with {list(wanted)}")
        grad = grad.sum_to_size(wanted)
    dtype = travels_as(edge, expected, grad)
    if not dtype.differentiable:
        raise RuntimeError("isDifferentiableType(grad.scalar_type()) INTERNAL ASSERT FAILED: of integers there is no gradient")
    return grad if grad._spec.dtype is dtype else grad.to(dtype)


SEEN_HERE = 3            # references to a gradient that is in a buffer only: the caller's name, the parameter, getrefcount's argument
OWN_STORAGE = 3          # to a storage that is one tensor's only: its two fields, getrefcount's argument


def run(roots, grads, keep_graph, create_graph, captures=None, rows=False, into=None):
    """Runs backward from the root edges. ``captures`` ({edge: position}) collects gradients instead of accumulating into leaves.

    Answers the captured gradients by position. ``rows``: whether nodes may run by rows (`tensor.replaying.chains`); ``into``: the nodes
    that are to run, and none that does not lead to them.
    """
    task = Task(roots, captures, keep_graph, rows, into)
    tie = itertools.count()
    heap, started = [], set()
    given = [grad if grad is None else _fitting(edge, at, grad) for at, (edge, grad) in enumerate(zip(roots, grads, strict=True))]
    for edge, grad in zip(roots, given, strict=True):               # which are held to the end: a leaf copies them (`tensor.accumulate`)
        task.arrive(edge, grad)
    for edge in roots:
        node = edge[0]
        if node not in started and not task.waiting.get(node):
            started.add(node)
            heapq.heappush(heap, (-node.sequence, next(tie), node))
    results = {}
    by_node = {}
    if captures is not None:
        for (node, nr), at in captures.items():
            by_node.setdefault(node, []).append((nr, at))
    waiting, buffers, needed = task.waiting, task.buffers, task.needed
    plain = needed is None and not keep_graph and not RESHAPED[0]
    previous, outer = switch(create_graph), current_task()
    LOCAL.task = task
    push, pop = heapq.heappush, heapq.heappop
    try:
        while heap:
            node = pop(heap)[2]
            arrived, edges = buffers.pop(node, None), node.edges
            if plain and node.tensor_hooks is None and node.retained is None and node.pre_hooks is None and node.hooks is None \
                    and len(arrived) == 1 and arrived[0] is not None and not anomaly.ON["on"]:
                edges, answers = node.advance(arrived, task, heap)
            elif needed is None or node in needed:
                answers = _run_node(node, arrived, task, by_node, results)
            else:
                answers = ()
                if node in task.roots:                     # of a root nothing may be needed, but it has got its gradient
                    _look(node, arrived)
            arrived = None
            if type(answers) is tuple and answers:
                answers = list(answers)
            for at, edge in enumerate(edges):
                if edge is None:
                    continue
                after = edge[0]
                if answers:
                    grad, answers[at] = answers[at], None
                    buffer = buffers.get(after)
                    if buffer is None:
                        buffer = buffers[after] = [None] * after.outputs
                    if grad is not None:
                        nr = edge[1]
                        if RESHAPED[0]:
                            grad = _fitting(edge, at, grad, node)
                        if CROSSING[0] is not None:
                            grad = CROSSING[0](edge, grad)
                        old = buffer[nr]
                        if old is None:
                            buffer[nr] = grad
                        else:
                            buffer[nr] = None
                            buffer[nr] = added(old, grad)
                left = waiting[after] - 1
                waiting[after] = left
                if not left:
                    if after in buffers:
                        push(heap, (-after.sequence, next(tie), after))
                    elif needed is None or after in needed or after.edges:
                        buffers[after] = [None] * after.outputs
                        push(heap, (-after.sequence, next(tie), after))
            answers = edges = grad = old = buffer = None
        for callback in task.callbacks:                                # one may add others
            callback()
    finally:
        LOCAL.grad_enabled, LOCAL.says_enabled = previous
        LOCAL.task = outer
        for ended in task.levels.values():
            ended()
    return results


def _look(node, arrived):
    """Hooks of the tensors that a node has made, and those whose gradients are kept."""
    if node.tensor_hooks:
        for nr in sorted(node.tensor_hooks):
            arrived[nr] = hooking.on_tensor(node.tensor_hooks[nr], arrived[nr])
    if node.retained:
        for nr, keep in list(node.retained.items()):
            if arrived[nr] is not None:
                keep(arrived[nr])


def _run_node(node, arrived, task, by_node, results):
    """Hooks, capture, the node itself; answers the gradients of its inputs, or () where the walk ends."""
    captured = by_node.get(node) if by_node else None
    goes_on = captured is not None and any(e is not None and e[0] in task.needed for e in node.edges)
    if goes_on:                                                    # PyTorch hooks a captured gradient only where the walk ends with it
        for nr, at in captured:
            results[at] = arrived[nr]
    if node.tensor_hooks or node.retained:
        _look(node, arrived)
    if captured is not None and not goes_on:
        for nr, at in captured:
            results[at] = arrived[nr]
        return ()
    if task.captures is not None and isinstance(node, AccumulateGrad):
        return ()
    if node.pre_hooks:
        arrived = hooking.before_node(node, arrived)
    if all(g is None for g in arrived) and not getattr(node, "runs_on_nothing", False):
        answers = [None] * len(node.edges)
    elif anomaly.ON["on"]:
        answers = anomaly.apply(node, arrived)
    else:
        answers = node.apply(arrived)
    if RESHAPED[0]:                                                # a node whose gradients do not fit keeps what it saved
        answers = [answer if edge is None or answer is None else _fitting(edge, at, answer, node)
                   for at, (edge, answer) in enumerate(zip(node.edges, answers, strict=False))]
    if node.hooks:
        if task.needed is not None and node.face is node:          # PyTorch's formulas compute none that this backward does not ask for
            answers = [answer if edge is not None and edge[0] in task.needed else None
                       for edge, answer in zip(node.edges, answers, strict=False)]
        answers = hooking.after_node(node, answers, arrived)
    if not task.keep_graph:
        node.release()
    return answers


class _EngineBase:
    """What PyTorch's engine is called by: ``torch.autograd.Variable._execution_engine``."""

    __module__ = "torch._C"
    __slots__ = ()

    def queue_callback(self, callback):
        """Has ``callback()`` called when the backward that runs now has run all its nodes."""
        task = current_task()
        if task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        task.callbacks.append(callback)

    def is_checkpoint_valid(self):
        """Whether the backward that runs now, if one does, is one into leaves alone."""
        task = current_task()
        return task is None or task.needed is None


def current_task():
    """The backward that runs on this thread now, or None."""
    return getattr(LOCAL, "task", None)


__all__ = ["CopySlices", "run"]
