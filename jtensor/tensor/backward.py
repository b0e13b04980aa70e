"""`Tensor.backward`, `torch.autograd.backward`, `torch.autograd.grad`: arguments, checks and roots of the engine's walk."""
from ..autograd import engine
from . import create
from .core import Tensor
from .dispatch import edge_of


def _tuple(x):
    return (x,) if isinstance(x, Tensor) else tuple(x) if x is not None else ()


def _roots(tensors, grads, is_batched=False):
    edges, gradients = [], []
    if len(grads) == 0:
        grads = (None,) * len(tensors)
    if len(grads) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    for at, (tensor, grad) in enumerate(zip(tensors, grads, strict=True)):
        gradients.append(_gradient(tensor, grad, at))
    for at, tensor in enumerate(tensors):
        if not tensor.requires_grad:
            raise RuntimeError(f"element {at} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge_of(tensor))
    return edges, gradients


def _gradient(tensor, grad, at):
    if isinstance(grad, Tensor):
        if tuple(grad.shape) != tuple(tensor.shape):
            if grad.numel() == tensor.numel() == 0 or False:
                return grad
            raise RuntimeError(f"Mismatch in shape: grad_output[{at}] has a shape of {grad.shape} and output[{at}] has a shape of {tensor.shape}.")
        if grad.dtype.is_complex != tensor.dtype.is_complex:
            raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                               f"grad_output[{at}] has a dtype of {grad.dtype} and output[{at}] has a dtype of {tensor.dtype}.")
        return grad
    if grad is not None:
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    if not tensor.requires_grad:
        return None
    if tensor.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not tensor.dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {tensor.dtype}")
    return create.ones_like(tensor)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Sums the gradients of the tensors into the ``.grad`` of the leaves (or of ``inputs`` only)."""
    if inputs is not None and len(_tuple(inputs)) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _tuple(tensors)
    edges, grads = _roots(tensors, _tuple(grad_tensors))
    if retain_graph is None:
        retain_graph = create_graph
    if create_graph:
        import warnings
        warnings.warn("Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can "
                      "cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this "
                      "function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak.",
                      UserWarning, stacklevel=3)
    if inputs is None:
        engine.run(edges, grads, retain_graph, create_graph)
        return
    inputs = _tuple(inputs)
    captures = _captures(inputs)
    found = engine.run(edges, grads, retain_graph, create_graph, captures)
    from ..autograd.mode import set_grad_enabled
    for edge, at in captures.items():
        grad = found.get(at)
        if grad is not None:
            target = next(t for t in inputs if t.requires_grad and edge_of(t) == edge)
            with set_grad_enabled(create_graph):
                target._accumulate(grad)


def _captures(inputs):
    captures = {}
    for at, tensor in enumerate(inputs):
        if not tensor.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        captures.setdefault(edge_of(tensor), at)
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
    if is_grads_batched:
        from ..base.errors import missing
        raise missing("is_grads_batched=True", "a Python loop over the gradients")
    if allow_unused is None:
        allow_unused = materialize_grads
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    if not inputs:
        raise ValueError("grad requires non-empty inputs.")
    edges, grads = _roots(outputs, _tuple(grad_outputs))
    if retain_graph is None:
        retain_graph = create_graph
    captures = _captures(inputs)
    found = engine.run(edges, grads, retain_graph, create_graph, captures)
    answers = []
    for at, tensor in enumerate(inputs):
        answer = found.get(captures[edge_of(tensor)])
        if answer is None:
            if materialize_grads:
                answer = create.zeros_like(tensor)
            elif not allow_unused:
                raise RuntimeError(f"The differentiated Tensor at index {at} appears to not have been used in the graph. Set allow_unused=True if this "
                                   "is the desired behavior.")
        answers.append(answer)
    return tuple(answers)
