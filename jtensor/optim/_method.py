"""What the methods share: a step that visits one parameter after the other, and numbers kept on the host.

A step count is a tensor in PyTorch's state, and its value goes into the arithmetic as a Python number. Reading a tensor
would make the lazy engine run at every step, so such tensors share their memory with a NumPy array (as any CPU tensor may),
and the counting is done there: what the user sees of the tensor is always up to date, and nothing is recorded.
"""
import jtensor

from ..autograd.mode import switch
from ..tensor.core import LAYOUTS
from ..tensor.creating.likes import filled_like
from ..tensor.replaying import updates
from ..trace.tape import LOCAL
from .optimizer import Optimizer, _get_capturable_supported_devices

_FUSED = ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def number(x):
    """A hyperparameter as a Python number, be it given as a tensor of one element."""
    return x.item() if isinstance(x, jtensor.Tensor) else x


def number_or_asked(x, group):
    """The same; as it is where a differentiable step is to hand on a gradient to it."""
    return x if group["differentiable"] and isinstance(x, jtensor.Tensor) and x.requires_grad else number(x)


def only_number(x, argument="addcdiv_(): argument 'value'", without_grad=False):
    """The same, where PyTorch hands it to a function that takes a number alone. TypeError for what is to get a gradient;
    ``without_grad``: also while gradients are not recorded."""
    if isinstance(x, jtensor.Tensor) and x.requires_grad and (without_grad or jtensor.is_grad_enabled()):
        raise TypeError(f"{argument} must be Number, not Tensor")
    return number(x)


def add_quotient(p, numerator, denominator, factor):
    """Adds ``factor * numerator / denominator`` to a parameter; the factor may be a tensor that needs a gradient."""
    if isinstance(factor, jtensor.Tensor):
        p.addcdiv_(numerator * factor, denominator)
    else:
        p.addcdiv_(numerator, denominator, value=factor)


def check_lr(lr):
    """ValueError for a learning rate below zero, or a tensor of more than one."""
    if isinstance(lr, jtensor.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check(0.0 <= lr, f"Invalid learning rate: {lr}")


def check(condition, message):
    """ValueError with that message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def check_betas(betas):
    """ValueError unless both lie in [0, 1)."""
    for i, beta in enumerate(betas[:2]):
        check(0.0 <= beta < 1.0, f"Invalid beta parameter at index {i}: {beta}")


def check_fused(fused, foreach, differentiable):
    """RuntimeError where the flags exclude each other."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def scalar_dtype(fused=False):
    """The dtype of step counts."""
    double = not fused and jtensor.get_default_dtype() == jtensor.float64
    return jtensor.float64 if double else jtensor.float32


def zeros_like(p):
    """Zeros in the parameter's layout."""
    return filled_with(p, 0)


def filled_with(p, number):
    """A state of the parameter's layout, full of a number."""
    return jtensor.full_like(p, number) if p.is_nested else filled_like(p, number)


def as_real(*tensors):
    """The same tensors as pairs of real numbers; None stays None."""
    return tuple(None if t is None else jtensor.view_as_real(t) for t in tensors)


def decayed(p, grad, group, decay):
    """The gradient and the weights' own share of it; as it is where the weights shrink by themselves, which is done here."""
    if group["weight_decay"] == 0:
        return grad
    if group["decoupled_weight_decay"]:
        p.mul_(decay)
        return grad
    return grad + p.clone() * decay if isinstance(decay, jtensor.Tensor) else grad.add(p, alpha=decay)


def with_values(grad, values):
    """The sparse tensor that has other values at the places of a coalesced one."""
    return jtensor.sparse_coo_tensor(grad._indices(), values, grad.shape, check_invariants=False, is_coalesced=True)


class Method(Optimizer):
    """A first-order method: a subclass writes ``_init_state`` and ``_update``, and may name in ``_late_options`` the options that
    old pickles lack."""

    _late_options = {}
    _sparse_hint, _sparse_name, _takes_sparse = "", None, False
    _scalars = ("step",)  # entries of the state that were plain numbers in old pickles
    _captured, _captured_by_xla = "params and state_steps", True

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self._late_options.items():
                group.setdefault(name, default)
            for p in group["params"]:
                own = self.state.get(p)
                for name in self._scalars if own else ():
                    if name in own and not isinstance(own[name], jtensor.Tensor):
                        own[name] = self._new_scalar(p, group, float(own[name]))

    def _new_scalar(self, p, group, value=0.0):
        """A number of the state as a tensor: on the CPU, unless the group is to be captured or fused on a device."""
        on_device = group.get("capturable") or group.get("fused")
        return jtensor.tensor(value, dtype=scalar_dtype(group.get("fused")), device=p.device if on_device else "cpu")

    def _host(self, tensor):
        """The NumPy array that shares memory with a number of the state."""
        cache = self.__dict__.setdefault("_host_numbers", {})
        known = cache.get(id(tensor))
        if known is None or known[0] is not tensor:
            array = tensor.detach().numpy()
            quick = array.ndim == 0 and array.dtype.char in "fdlq"          # a view of the memory counts at a twentieth of NumPy's price
            known = cache[id(tensor)] = (tensor, array, memoryview(array) if quick else None)
        return known[1]

    def _advance(self, p, state, group):
        """Counts the step and answers with its number."""
        step = state["step"]
        known = self._host_numbers.get(id(step)) if not group.get("capturable") and "_host_numbers" in self.__dict__ else None
        if known is not None and known[0] is step and known[2] is not None:
            count = known[2]
            count[()] += 1
            return count[()]
        if group.get("capturable"):
            devices = {p.device.type, step.device.type}
            supported = _get_capturable_supported_devices(self._captured_by_xla and not group.get("foreach"))
            if len(devices) > 1 or not devices <= set(supported):
                raise AssertionError(f"If capturable=True, {self._captured} must be on supported devices: {supported}.")
        if step.device.type != "cpu":
            step += 1
            return step.item()
        counter = self._host(step)
        counter += 1
        return counter.item()

    def _ready(self, group):
        """The parameters with a gradient, their states made where there are none."""
        ready = []
        for p in group["params"]:
            auto = p._auto
            grad = p.grad if auto is None or auto.grad is None else auto.grad      # a property, which may have something to warn of
            if grad is None:
                continue
            if grad.is_sparse and not self._takes_sparse:
                raise RuntimeError(f"{self._sparse_name or type(self).__name__} does not support sparse gradients{self._sparse_hint}")
            state = self._state_of(p, group)
            ready.append((p, grad, state))
        return ready

    def _state_of(self, p, group):
        state = self.state[p]
        if not state:
            if group.get("fused"):
                check_for_fused(p)
            self._init_state(p, group, state)
        return state

    def _init_state(self, p, group, state):
        """Fills a new parameter's state."""

    def _update(self, p, grad, state, group):
        """Changes one parameter in place."""
        raise NotImplementedError

    def _numbers(self, p, state, group):
        """The Python numbers that `_update` takes as its last argument, where the method has it in two parts; else None.

        ``_update`` then follows from ``_identity``, the tensors (``_buffers`` of the state among them) and these numbers alone, so that
        a step like one before is put on the tape in one piece.
        """
        return None

    def _all_numbers(self, ready, group):
        """`_numbers` of all parameters, a tuple for each; those of parameters that have the same are best the same object."""
        return [self._numbers(p, state, group) for p, _, state in ready]

    _buffers = ()

    def _identity(self, group):
        """What of the options decides which operations `_update` consists of."""
        return ()

    def _visit(self, group):
        """Updates the parameters of a group."""
        self._change(self._ready(group), group)

    def _change(self, ready, group):
        """Updates parameters, each with its gradient and its state."""
        sign = bool(group.get("maximize"))
        numbers = self._all_numbers(ready, group)
        odd = LAYOUTS and any(grad.is_sparse or grad.is_nested for _, grad, _ in ready)
        if not ready or group.get("differentiable") or None in numbers or odd:
            for (p, grad, state), given in zip(ready, numbers, strict=True):
                self._update(p, -grad if sign else grad, state, group, *(() if given is None else (given,)))
            return
        names, tensors = self._buffers, []
        for p, grad, state in ready:
            tensors.append(p)
            tensors.append(grad)
            for name in names if state else ():
                if name in state:
                    tensors.append(state[name])

        def run(numbers):
            for (p, grad, state), given in zip(ready, numbers, strict=True):
                self._update(p, -grad if sign else grad, state, group, given)
        updates.update((self.__class__, sign, len(tensors), *self._identity(group)), tensors, numbers, run)

    def step(self, closure=None):
        """One update of all parameters that have a gradient; ``closure`` computes the loss anew and answers with it."""
        before = switch(bool(self.defaults.get("differentiable", False)))
        try:
            loss = None
            if closure is not None:
                with jtensor.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                self._visit(group)
        finally:
            LOCAL.grad_enabled, LOCAL.says_enabled = before
        return loss


def update_lists(method, params, grads, states, *, foreach=None, fused=None, grad_scale=None, found_inf=None, **group):
    """One update of parameters whose states are in the caller's lists: what the functions beside the classes do.

    ``states``: the lists by their names in the class's states; None is one that these options leave alone. Whether a history is
    recorded is the caller's matter here. ``grad_scale`` and ``found_inf`` are for the fused form, which divides by the one and does
    nothing where the other is set.
    """
    for name in method._scalars:
        if not all(isinstance(t, jtensor.Tensor) for t in states[name]):
            name = "state_steps" if name == "step" else name + "s"
            raise RuntimeError(f"API has changed, `{name}` argument must contain a list of singleton tensors")
    if not fused:
        if foreach and group.get("differentiable") and len(params):
            raise AssertionError("_foreach ops don't support autograd")
        if grad_scale is not None or found_inf is not None:
            raise AssertionError("Expected grad_scale and found_inf to be None")
    elif found_inf is not None and found_inf.item():
        return
    elif grad_scale is not None:
        for grad in grads:
            grad.div_(grad_scale)           # the fused kernels leave them so, too
    given = {name: values for name, values in states.items() if values is not None}
    ready = [(p, grads[i], {name: values[i] for name, values in given.items() if values[i] is not None}) for i, p in enumerate(params)]
    method.__new__(method)._change(ready, {"foreach": foreach, "fused": fused, **group})        # an optimizer of no groups
    for i, (_, _, state) in enumerate(ready):
        for name in state:
            if given[name][i] is None:      # SGD's momentum begins with the first gradient
                given[name][i] = state[name]


def check_for_fused(p):
    """RuntimeError for a parameter that PyTorch's fused kernels do not take."""
    if not (p.device.type in _FUSED and p.is_floating_point()):
        raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of supported devices: "
                           f"{_FUSED} but {p.dtype} and {p.device.type}")
