"""Calls the hooks of tensors and nodes and checks what they answer, with PyTorch's messages.

May not know: the Tensor class (a tensor is what has a ``_storage``).
"""
from ..base.dtypes import scalar_name
from ..base.naming import type_name


def on_tensor(hooks, grad):
    """The gradient after a tensor's hooks; each may answer a replacement. ``grad`` is None where no gradient arrived."""
    for hook in list(hooks.values()):
        answer = hook(grad)
        if answer is not None:
            grad = _checked(hook, grad, answer)
    return grad


def before_node(node, arrived):
    """The gradients of a node's outputs after its pre-hooks, which see those that PyTorch's node has."""
    places = node.outputs_shown()
    shown = [arrived[at] for at in places]
    for hook in list(node.pre_hooks.values()):
        answer = hook(tuple(shown))
        if answer is not None:
            shown = _all_checked(hook, shown, answer)
    arrived = list(arrived)
    for at, grad in zip(places, shown, strict=True):
        arrived[at] = grad
    return arrived


def after_node(node, answers, arrived):
    """The gradients of a node's inputs after its hooks, which see them as PyTorch has them: a place for each of its `next_functions`."""
    places = node.places_shown()
    answers = list(answers)
    shown = [None if at is None else answers[at] for at in places]
    arrived = [arrived[at] for at in node.outputs_shown()]
    for hook in list(node.hooks.values()):
        answer = hook(tuple(shown), tuple(arrived))
        if answer is not None:
            shown = _all_checked(hook, shown, answer)
    for at, grad in zip(places, shown, strict=True):
        if at is not None:
            answers[at] = grad
    return answers


def after_accumulation(hooks, variable):
    """A leaf's hooks after its gradient has grown. They may answer the leaf itself, as a method in place does that updates it."""
    shown = variable
    for hook in list(hooks.values()):
        answer = hook(shown)
        if answer is not None:
            shown = _checked(hook, shown, answer)
    if shown is not variable:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _all_checked(hook, grads, answer):
    if not isinstance(answer, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type_name(type(answer))}'")
    if len(answer) != len(grads):
        raise RuntimeError(f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(answer)}, but expected "
                           f"{len(grads)})")
    return [_checked(hook, grad, one) for grad, one in zip(grads, answer, strict=True)]


def _checked(hook, grad, answer):
    if answer is None:
        return None
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    _a_tensor(answer)
    if answer.dtype is not grad.dtype or answer.device != grad.device or answer.layout is not grad.layout:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the type of value (was {_type(grad)} got {_type(answer)})")
    if tuple(answer.shape) != tuple(grad.shape):
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    return answer


def _type(tensor):
    """A tensor's type as these messages call it: PyTorch has no old name for types of complex numbers, or on the meta device."""
    kind = tensor.device.type
    if tensor.dtype.is_complex or kind == "meta":
        return f"{'Meta' if kind == 'meta' else kind.upper()}{scalar_name(tensor.dtype)}Type"
    return tensor.type()


def _a_tensor(answer):
    if not hasattr(answer, "_storage"):
        raise TypeError(f"expected Variable, but hook returned '{type_name(type(answer))}'")


def _name(hook):
    return getattr(hook, "__name__", "<unknown>")
