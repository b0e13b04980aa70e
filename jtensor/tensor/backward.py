"""`Tensor.backward`, `torch.autograd.backward`, `torch.autograd.grad`: where the engine's walk begins and what it is to bring.

Owns: their arguments, with PyTorch's checks and messages. May not know: the walk (`autograd.engine`), formulas.
"""
import math
from operator import index

from .. import autograd
from ..autograd import engine
from ..autograd.tools import GradientEdge
from ..base import devices, sites
from ..base.size import Size
from ..ops.families import create as ops
from ..trace.batches import Batch
from ..trace.lifted import transforming
from ..trace.tape import LOCAL, expect
from .core import Tensor
from .creating import create, likes
from .history import edge_of
from .lifted.batching import put_together, taken_apart
from .lifted.levels import open_levels, opened
from .replaying import retrace

INSIDE_TRANSFORM = ("backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp "
                    "instead or call backward() outside of functorch transforms.")


def _tuple(x):
    return (x,) if isinstance(x, (Tensor, GradientEdge)) else tuple(x)


def _given(grads, tensors):
    return (None,) * len(tensors) if grads is None else _tuple(grads)


def _edge(x):
    """The edge of a tensor or of a `GradientEdge`."""
    return x.edge if isinstance(x, GradientEdge) else edge_of(x)


def _roots(tensors, grads, is_batched=False):
    edges, gradients = [], []
    for at, (tensor, grad) in enumerate(zip(tensors, grads, strict=False)):            # too many gradients are not looked at
        if isinstance(tensor, GradientEdge):
            gradients.append(_gradient_of_edge(tensor, grad, at))
        elif isinstance(tensor, Tensor):
            gradients.append(_gradient(tensor, grad, at))
        else:
            raise AssertionError("Expected output to be a torch.Tensor")
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    for at, tensor in enumerate(tensors):
        edge = _edge(tensor) if isinstance(tensor, GradientEdge) or tensor.requires_grad else None
        if edge is None:
            raise RuntimeError(f"element {at} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
    return edges, gradients


def _gradient_of_edge(edge, grad, at):
    """The gradient given for an edge, whose shape only its node knows."""
    known = edge.node._input_metadata
    known = known[edge.output_nr] if known else None
    if grad is not None:
        if isinstance(grad, Tensor) and known is not None:
            _alike(grad, Size(known.shape), known.dtype, at)
        return grad
    if known is None or math.prod(known.shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return create.ones(known.shape, dtype=known.dtype)


def _alike(grad, shape, dtype, at):
    """PyTorch's errors for a gradient that is not like its output."""
    if tuple(grad.shape) != tuple(shape):
        raise RuntimeError(f"Mismatch in shape: grad_output[{at}] has a shape of {grad.shape} and output[{at}] has a shape of {shape}.")
    if grad.dtype.is_complex != dtype.is_complex:
        raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                           f"grad_output[{at}] has a dtype of {grad.dtype} and output[{at}] has a dtype of {dtype}.")


def _gradient(tensor, grad, at):
    if isinstance(grad, Tensor):
        if tensor.is_nested:
            tensor._current()
        if tensor.is_nested and grad.is_nested and tensor.layout.name == "strided":               # without a shape
            if not tensor.is_same_size(grad):
                raise RuntimeError(f"Mismatch in shape: grad_output[{at}] has a shape of {grad._nested_tensor_size()} and output[{at}] has "
                                   f"a shape of {tensor._nested_tensor_size()}.")
            return grad
        _alike(grad, tensor.shape, tensor.dtype, at)
        if (grad._spec.device is devices.meta) != (tensor._spec.device is devices.meta):
            raise RuntimeError(f"invalid gradient at index {at} - expected device {tensor.device} but got {grad.device}")
        return grad
    if grad is not None:
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    if not tensor.requires_grad:
        return None
    if tensor.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not tensor.dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {tensor.dtype}")
    return likes.ones_like(tensor)


def _flag(given):
    """Whether something holds that is given as a truth value or a whole number. TypeError for anything else."""
    return given if given.__class__ is bool else index(given) != 0


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Sums the gradients of the tensors into the ``.grad`` of the leaves (or of ``inputs`` only)."""
    if grad_variables is not None:
        import warnings
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                               "`grad_tensors`.")
        grad_tensors = grad_variables
    if inputs is not None and len(_tuple(inputs)) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _tuple(tensors)
    if (LOCAL.levels or LOCAL.differentiated) and transforming():
        raise RuntimeError(INSIDE_TRANSFORM)
    if retain_graph is None:
        retain_graph = create_graph
    grads = _given(grad_tensors, tensors)
    retain_graph, create_graph = _flag(retain_graph), _flag(create_graph)
    edges, grads = _roots(tensors, grads)
    for root in tensors:
        if isinstance(root, Tensor) and root._storage.host is None:
            expect(root._storage.value)
    if create_graph:
        sites.warn_once("Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
                        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
                        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
                        "the cycle and avoid the leak.")
    if inputs is None:
        if len(edges) == 1 and not create_graph:
            retrace.backward(edges[0], grads[0], retain_graph)
        else:
            engine.run(edges, grads, retain_graph, create_graph)
        return
    _into(_tuple(inputs), edges, grads, retain_graph, create_graph)


def of_tensor(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Computes the gradients of the leaves of this tensor's graph and adds them to their ``.grad``.

    ``gradient``: of this tensor, needed if it has more than one element.
    """
    if autograd.backward is not backward:                              # a program has put its own there, which PyTorch's calls
        return autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
    spec, edge = self._spec, self._edge
    if gradient is None and inputs is None and create_graph is False and (
            retain_graph is None or retain_graph is True) and not spec.ndim and edge is not None and self._info is None \
            and spec.dtype.is_floating_point and not LOCAL.levels:     # a loss
        if self._storage.host is None:
            expect(self._storage.value)
        retrace.backward(edge, ops.full_of.record((), 1, spec.dtype, spec.device), retain_graph)
    else:
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


of_tensor.__name__, of_tensor.__qualname__ = "backward", "Tensor.backward"
Tensor.backward = of_tensor


def _into(inputs, edges, grads, retain_graph, create_graph):
    """`backward` into the ``.grad`` of some tensors only: their nodes run, and what is no leaf keeps its gradient from then on."""
    _differentiable(inputs)
    for given in inputs:
        if isinstance(given, Tensor):
            given.retain_grad()
    engine.run(edges, grads, retain_graph, create_graph, into={edge[0] for edge in map(_edge, inputs) if edge is not None})


def _differentiable(inputs):
    for given in inputs:
        if not isinstance(given, (Tensor, GradientEdge)):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(given).__name__}")


def _captures(inputs):
    captures = {}
    _differentiable(inputs)
    for at, tensor in enumerate(inputs):
        if not isinstance(tensor, GradientEdge) and not tensor.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        edge = _edge(tensor)
        if edge is not None:
            captures.setdefault(edge, at)
    return captures


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):
    """The gradients of the outputs with respect to the inputs, as a tuple; ``.grad`` fields are left alone.

    >>> x = torch.tensor(3., requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if not only_inputs:
        import warnings
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other "
                      "parts of the "
                      "graph, please use torch.autograd.backward.", FutureWarning, stacklevel=2)
    if allow_unused is None:
        allow_unused = materialize_grads
    if retain_graph is None:
        retain_graph = create_graph
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if is_grads_batched:
        return _batched(outputs, inputs, _given(grad_outputs, outputs), retain_graph, create_graph, allow_unused, materialize_grads)
    grads = _given(grad_outputs, outputs)
    retain_graph, create_graph, allow_unused = _flag(retain_graph), _flag(create_graph), _flag(allow_unused)
    edges, grads = _roots(outputs, grads)
    captures = _captures(inputs)
    found = engine.run(edges, grads, retain_graph, create_graph, captures)
    answers = []
    for at, tensor in enumerate(inputs):
        answer = found.get(captures.get(_edge(tensor)))
        if answer is None:
            if materialize_grads:
                if isinstance(tensor, GradientEdge):
                    raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
                answer = likes.zeros_like(tensor, requires_grad=create_graph)
            elif not allow_unused:
                raise RuntimeError(f"The differentiated Tensor at index {at} appears to not have been used in the graph. Set "
                                   f"allow_unused=True if this "
                                   "is the desired behavior.")
        answers.append(answer)
    return tuple(answers)


def _batched(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize):
    """One backward for all gradients along the first dimension: each is a batch (`batching`)."""
    for at, (out, given) in enumerate(zip(outputs, grad_outputs, strict=False)):
        if given is None:
            if out.requires_grad:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
        elif given.dim() == 0:
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
                             "0-dim tensor to a number")
        elif not given.shape[0]:                                                # the first row is looked at
            raise IndexError("index 0 is out of bounds for dimension 0 with size 0")
        elif given.shape[1:] != out.shape:
            raise RuntimeError("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
                               "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
                               f"mismatch was detected: grad_output[{at}] has a shape of {given[0].shape} and output[{at}] has a shape of "
                               f"{out.shape}. If you only want some tensors in `grad_output` to be considered batched, consider using "
                               "vmap.")
    sizes = [g.shape[0] for g in grad_outputs if g is not None]
    if len(set(sizes)) > 1:
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
                         "dimension")
    with opened(Batch(sizes[0], depth=len(open_levels()) + 1, quiet=True)) as level:
        given = [g if g is None else taken_apart(level, g) for g in grad_outputs]
        found = grad(outputs, inputs, given, retain_graph, create_graph, True, allow_unused)
    answers = []
    for tensor, answer in zip(inputs, found, strict=True):
        if answer is not None:
            answer = put_together(level, answer)
        elif materialize:
            answer = likes.zeros_like(tensor, requires_grad=create_graph)
        answers.append(answer)
    return tuple(answers)
