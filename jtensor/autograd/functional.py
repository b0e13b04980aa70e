"""`torch.autograd.functional`: products with Jacobians and Hessians, and the matrices themselves, of functions of tensors.

Written with the public interface, which is imported when a function is called: classes with ``__torch_function__`` are asked for every
step, and so stay what they are. Owns: these functions and PyTorch's messages about their
arguments.
"""
from .tools import GradientEdge  # noqa: F401  one of the types that PyTorch's module shows

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

DEPENDS = ("While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
           "independent of the "
           "input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian "
           "depends on the inputs (this would be violated by a linear function for example).")
DIFFERENTIABLE = ("Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
                  "differentiable manner "
                  "from the input when running in strict mode.")
OF_GRADIENT = ("The gradient with respect to input {} is independent of the inputs of the user-provided function. This is not allowed in "
               "strict mode.")
OF_HESSIAN = ("The hessian of the user-provided function with respect to input {} is independent of the input. This is not allowed "
              "in strict "
              "mode. You should ensure that your function is thrice differentiable and the hessian depends on the inputs.")
UNUSED = {
    "back": "The output of the user-provided function is independent of input {}. This is not allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
                  "backward trick "
                  "to compute forward mode gradients. This is not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not "
                         "allowed in "
                         "strict mode as it prevents from using the double backward trick to replace forward mode AD."}
FROZEN = "The {} of the user-provided function is independent of input {}. This is not allowed in strict mode when create_graph=True."
V_NEEDED = "The vector v can only be None if the {} the user-provided function {} a single Tensor with a single element."


# -- arguments --------------------------------------------------------------------------------------------------------


def _tuple(given, what, name):
    """(whether it was a tuple, the tuple); PyTorch's TypeError for anything but tensors."""
    import jtensor as torch
    several = isinstance(given, tuple)
    found = given if several else (given,)
    for at, one in enumerate(found):
        if not isinstance(one, torch.Tensor):
            where = f"the value at index {at}" if several else f"the given {what}"
            raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but {where} has type {type(one)}.")
    return several, found


def _outputs(func, inputs, name):
    shown = "outputs of the user-provided function"
    return _tuple(func(*inputs), shown, name)


def _fresh(tensors, create_graph, need_graph=True):
    """The arguments as inputs of a graph of their own; with ``create_graph`` it hangs on theirs."""
    if not create_graph:
        return tuple([t.detach().requires_grad_(need_graph) for t in tensors])
    import jtensor as torch

    def apart(t):
        """Of a subclass, which keeps its class if it is asked; of any other tensor so that what is differentiated forwards goes on."""
        return t.detach() if torch.overrides.has_torch_function((t,)) else t._detached()
    return tuple([t.view_as(t) if t.requires_grad else apart(t).requires_grad_(need_graph) for t in tensors])


def _vector(v, name, create_graph, like, several, whose):
    """The vector ``v`` that goes with the tensors ``like``; it may be left out where they are one number."""
    if v is None:
        if len(like) != 1 or like[0].nelement() != 1:
            raise RuntimeError(V_NEEDED.format(*whose))
        return (None,)
    _, v = _tuple(v, "v", name)
    v = _fresh(v, create_graph, need_graph=False)
    if len(v) != len(like):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for at, (one, other) in enumerate(zip(v, like, strict=True)):
        if one.size() != other.size():
            prefix = f"Entry {at} in " if several else ""
            raise RuntimeError(f"{prefix}v has invalid size: should be {other.size()} but got {one.size()}.")
    return v


def _must_require(tensors, text, strict):
    if strict:
        for at, t in enumerate(tensors):
            if t is None:
                raise RuntimeError(UNUSED["back"].format(at) if text is not DIFFERENTIABLE else text.format(at))
            if not t.requires_grad:
                raise RuntimeError(text.format(at))


def _grad(outputs, inputs, vectors=None, create_graph=False, retain_graph=None):
    """`autograd.grad` of those outputs that have a history; None for inputs that are not reached."""
    import jtensor as torch
    vectors = vectors or (None,) * len(outputs)
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outs, vs = zip(*pairs, strict=True)
    return torch.autograd.grad(outs, inputs, vs, allow_unused=True, create_graph=create_graph, retain_graph=retain_graph)


def _filled(grads, like, strict, create_graph, stage):
    """Zeros for gradients that are not there, which ``strict`` forbids."""
    import jtensor as torch
    found = []
    for at, (g, t) in enumerate(zip(grads, like, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(UNUSED[stage].format(at))
            g = torch.zeros_like(t)
        elif strict and create_graph and not g.requires_grad:
            raise RuntimeError(FROZEN.format("hessian" if "double" in stage else "jacobian", at))
        found.append(g)
    return tuple(found)


def _answer(tensors, create_graph, several):
    found = tensors if create_graph else tuple([t.detach() for t in tensors])
    return found if several else found[0]


_OF_INPUT = ("input to", "is")


# -- products ---------------------------------------------------------------------------------------------------------


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(the function's value, the product of ``v`` with its Jacobian).

    >>> torch.autograd.functional.vjp(lambda x: x ** 2, torch.tensor([1., 3.]), torch.ones(2))
    (tensor([1., 9.]), tensor([2., 6.]))
    """
    import jtensor as torch
    with torch.enable_grad():
        several_in, inputs = _tuple(inputs, "inputs", "vjp")
        inputs = _fresh(inputs, create_graph)
        several_out, outputs = _outputs(func, inputs, "vjp")
        _must_require(outputs, DIFFERENTIABLE, strict)
        if v is None and (len(outputs) != 1 or outputs[0].nelement() != 1):
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with a single element.")
        v = _vector(v, "vjp", create_graph, outputs, several_out, _OF_INPUT)
    with torch.set_grad_enabled(True if create_graph else torch.is_grad_enabled()):
        products = _filled(_grad(outputs, inputs, v, create_graph), inputs, strict, create_graph, "back")
    return _answer(outputs, create_graph, several_out), _answer(products, create_graph, several_in)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(the function's value, the product of its Jacobian with ``v``), by two backwards.

    >>> torch.autograd.functional.jvp(lambda x: x ** 2, torch.tensor([1., 3.]), torch.ones(2))
    (tensor([1., 9.]), tensor([2., 6.]))
    """
    import jtensor as torch
    with torch.enable_grad():
        several_in, inputs = _tuple(inputs, "inputs", "jvp")
        inputs = _fresh(inputs, create_graph)
        v = _vector(v, "jvp", create_graph, inputs, several_in, _OF_INPUT)
        several_out, outputs = _outputs(func, inputs, "jvp")
        _must_require(outputs, DIFFERENTIABLE, strict)
        weights = tuple([torch.zeros_like(o, requires_grad=True) for o in outputs])
        grads = _grad(outputs, inputs, weights, create_graph=True)
        _must_require(grads, OF_GRADIENT, strict)
        products = _filled(_grad(grads, weights, v, create_graph), outputs, strict, create_graph, "back_trick")
    return _answer(outputs, create_graph, several_out), _answer(products, create_graph, several_out)


def _scalar_outputs(func, inputs, name, strict):
    several, outputs = _outputs(func, inputs, name)
    _must_require(outputs, DIFFERENTIABLE, strict)
    if several:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return outputs


def _differentiated(func, inputs, v, create_graph, strict, name):
    """(the inputs, whether there are several, ``v``, the value of a function with one number as result, its gradient with a history)."""
    several, inputs = _tuple(inputs, "inputs", name)
    inputs = _fresh(inputs, create_graph)
    v = _vector(v, name, create_graph, inputs, several, _OF_INPUT)
    outputs = _scalar_outputs(func, inputs, name, strict)
    first = _grad(outputs, inputs, create_graph=True)
    _must_require(first, DEPENDS, strict)
    return inputs, several, v, outputs, first


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(the value of a function with one number as result, the product of ``v`` with its Hessian).

    >>> torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    import jtensor as torch
    with torch.enable_grad():
        inputs, several, v, outputs, first = _differentiated(func, inputs, v, create_graph, strict, "vhp")
        products = _filled(_grad(first, inputs, v, create_graph), inputs, strict, create_graph, "double_back")
    return _answer(outputs, create_graph, False), _answer(products, create_graph, several)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(the value of a function with one number as result, the product of its Hessian with ``v``), by three backwards.

    >>> torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    import jtensor as torch
    with torch.enable_grad():
        inputs, several, v, outputs, first = _differentiated(func, inputs, v, create_graph, strict, "hvp")
        weights = tuple([torch.zeros_like(t, requires_grad=True) for t in inputs])
        second = _grad(first, inputs, weights, create_graph=True)
        _must_require(second, OF_HESSIAN, strict)
        products = _filled(_grad(second, weights, v, create_graph), inputs, strict, create_graph, "double_back_trick")
    return _answer(outputs, create_graph, False), _answer(products, create_graph, several)


# -- matrices ---------------------------------------------------------------------------------------------------------


def _check_strategy(strategy, create_graph, strict):
    hint = ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use ' \
           '"reverse-mode".'
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".' + hint)
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError('torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
                                      'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.')
        if strict:
            raise RuntimeError('torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together '
                               '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.')


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian: for each output (a tuple if there are several) and each input a tensor of the shape output + input.

    ``vectorize``: all rows by one backward for a batch of them, or, with ``strategy="forward-mode"``, all columns by one call for a batch.

    >>> torch.autograd.functional.jacobian(lambda x: x ** 2, torch.tensor([1., 3.]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    import jtensor as torch
    _check_strategy(strategy, create_graph, strict)
    if strategy == "forward-mode":
        return _forwards(func, inputs, vectorize)
    with torch.enable_grad():
        several_in, inputs = _tuple(inputs, "inputs", "jacobian")
        inputs = _fresh(inputs, create_graph)
        several_out, outputs = _outputs(func, inputs, "jacobian")
        _must_require(outputs, DIFFERENTIABLE, strict)
        if strict and vectorize:
            raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please "
                               "either set `strict=False` or `vectorize=False`.")
        block = _block_at_once if vectorize else _block
        blocks = [block(at, out, inputs, create_graph, strict) for at, out in enumerate(outputs)]
    rows = [_answer(block, create_graph, several_in) for block in blocks]
    return tuple(rows) if several_out else rows[0]


def _forwards(func, inputs, vectorize):
    """The Jacobian by columns: as PyTorch answers it then, a list of lists where there are several inputs or outputs."""
    import jtensor as torch

    from ..func.batching import run
    from ..func.forwards import basis
    ad = torch.autograd.forward_ad
    several_in, inputs = _tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                                  "`vectorize=True`.")
    several = []

    def column(*directions):
        with ad.dual_level():
            given = [ad.make_dual(t, d) for t, d in zip(inputs, directions, strict=True)]
            several_out, outputs = _tuple(func(*given), "outputs", None)
            several.append(several_out)
            unpacked = [ad.unpack_dual(o) for o in outputs]
            return [torch.zeros_like(o.primal) if o.tangent is None else o.tangent for o in unpacked]
    directions = basis(inputs)
    with torch.enable_grad():
        columns = run(column, directions, [0] * len(inputs), list, sum(t.numel() for t in inputs), 0, "error", {}, quiet=True)
    rows = []
    for found in columns:
        parts = found.movedim(0, -1).split([t.numel() for t in inputs], dim=-1)
        row = [part.reshape(*found.shape[1:], *t.shape) for part, t in zip(parts, inputs, strict=True)]
        rows.append(row if several_in else row[0])
    return rows if several[0] else rows[0]


def _block_at_once(nr, out, inputs, create_graph, strict):
    """The derivatives of one output with respect to each input, by one backward for a batch of rows."""
    import jtensor as torch
    count = out.nelement()
    if not count or not out.requires_grad:
        return tuple([out.new_zeros((*out.shape, *t.shape)) for t in inputs])
    rows = torch.eye(count, dtype=out.dtype, device=out.device).view(count, *out.shape)
    found = torch.autograd.grad(out, inputs, rows, True, create_graph, allow_unused=True, is_grads_batched=True)
    return tuple([out.new_zeros((*out.shape, *t.shape)) if g is None else g.view((*out.shape, *t.shape))
                  for t, g in zip(inputs, found, strict=True)])


def _block(nr, out, inputs, create_graph, strict):
    """The derivatives of one output with respect to each input."""
    import jtensor as torch
    columns = [[] for _ in inputs]
    flat = out.reshape(-1)
    for row in range(out.nelement()):
        for at, g in enumerate(_grad((flat[row],), inputs, create_graph=create_graph, retain_graph=True)):
            if g is None:
                if strict:
                    raise RuntimeError(f"Output {nr} of the user-provided function is independent of input {at}. This is not "
                                       f"allowed in strict "
                                       "mode.")
                g = torch.zeros_like(inputs[at])
            elif strict and create_graph and not g.requires_grad:
                raise RuntimeError(FROZEN.format("jacobian", at))
            columns[at].append(g)
    made = []
    for t, column in zip(inputs, columns, strict=True):
        shape = tuple(out.shape) + tuple(t.shape)
        made.append(torch.stack(column).view(shape) if column else out.new_zeros(shape))
    return tuple(made)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The Hessian of a function with one number as result, as the Jacobian of its Jacobian.

    >>> torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    several, inputs = _tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def value(*xs):
        return _scalar_outputs(func, xs, "hessian", strict)[0].squeeze()

    def first(*xs):
        found = jacobian(value, xs, create_graph=True)
        _must_require(found, DEPENDS, strict)
        return found
    found = jacobian(first, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy)
    return found if several else found[0][0]
