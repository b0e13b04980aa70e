"""The gradient of an index that was a mask, where the mask's data has been written to since.

An operator takes the places that a mask names, and its backward those places. PyTorch saves the mask and looks at it again, so that a write
which versions do not count (`.data`) shows in the gradient. Owns: `watch`, which keeps what the masks were, and the gradients by masks that
have become others. May not know: how an index is taken apart.
"""
from ...autograd import engine
from ...autograd.graph import CopySlices, node_class
from ...autograd.saved import Remembered
from ...ops import saves
from ..values import read


def watch(out, masks):
    """Remembers in the node of an indexing operation, if it has one, what the masks are now."""
    info = out._info
    edge = out._edge if info is None or info.base is None else info.base._edge
    if edge is None:
        return
    node = edge[0].fn if isinstance(edge[0], CopySlices) else edge[0]
    node.saved = [Remembered(entry, read(entry[0])) if type(entry) is tuple and len(entry) == 2 and any(entry[0] is m for m in masks)
                  else entry for entry in node.saved]


def _indices_now(node):
    """The indices with masks in their places, an entry (or None) for each dimension, if some mask is another; else None."""
    remembered = [entry for entry in node.saved if type(entry) is Remembered]
    if not any(read(entry.entry[0]) is not entry.value for entry in remembered) or any(
            entry.entry[0]._counter.version != entry.entry[1] for entry in remembered):
        return None
    masks = iter([entry.entry[0] for entry in remembered])
    plan = node.plan
    saved = dict(zip(saves.codes(plan, node.needs), node.saved, strict=True))
    dims = plan.notes.template[plan.operator.by_name["dims"]]
    listed, skip = [None] * (max(dims) + 1), 0
    for dim, at in zip(dims, plan.notes.where["indices"], strict=True):
        if skip:
            skip -= 1
            continue
        index = saved[at][0]
        if hasattr(index, "of_mask"):
            index = next(masks)
            skip = index._spec.ndim - 1
        listed[dim] = index
    return listed


def read_anew(grad, node):
    """The gradient of what was read: added where the masks say now."""
    from ...ops.families.index import index_write
    listed = _indices_now(node)
    if listed is None:
        return None
    made = grad.new_zeros(tuple(node.plan.inputs[0].shape))
    index_write(made, listed, grad, True)
    if made._edge is not None:
        made._edge[0].__class__ = node_class("IndexPutImplBackward0")
    return (made,)


def written_anew(grad, node):
    """The gradients of what was written to and of what was written."""
    from ...ops.families.index import index_read, index_write
    listed = _indices_now(node)
    if listed is None:
        return None
    plan, answers = node.plan, []
    shape = tuple(plan.inputs[plan.notes.where["values"]].shape)
    task = engine.current_task()
    for at in node.needs:
        edge = node.edges[at]
        if task is not None and edge is not None and not task.will_run(edge[0]):
            made = None                                             # PyTorch's formula is asked only for what is wanted
        elif at:
            made = index_read(grad, listed)
            if not engine.fits(made._spec.size, shape):
                engine.RESHAPED[0] = True                           # the walk says so
        elif plan.notes.template[plan.operator.by_name["accumulate"]]:
            made = grad
        else:
            made = grad.clone()
            index_write(made, listed, grad.new_zeros(shape))
        answers.append(made)
    return answers
