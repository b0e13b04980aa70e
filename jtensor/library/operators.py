"""Operators that users define: their kernels, what their gradient is, and how a call is made.

Owns: `Definition`, and how lists of tensors get through a `Function`. May not know: in which of PyTorch's ways an operator was defined, and
where it is found, which is in `spaces`.
"""
import importlib
import threading

from ..autograd.function import Function
from ..autograd.mode import no_grad
from ..autograd.tools import increment_version
from ..base import sites
from ..tensor.core import Tensor
from ..trace.tape import LOCAL

SEE = "Please see the following for next steps: https://docs.pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
_UNREGISTERED = ("{}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. This may lead "
                 "to silently incorrect behavior. This behavior is deprecated and will be removed in a future version of PyTorch. If your "
                 "operator is differentiable, please ensure you have registered an autograd kernel, as by torch.library.register_autograd.")
_ALIASED = ("{} (with implementation in {}): The output of this custom operator (1) must not also be an input to this custom operator and "
            "(2) may not alias any inputs to this custom operator or other returns. The most common way to trigger this error is if we "
            "have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. "
            "return x.clone()) or refactor the custom operator to not return y.")
FAKING = threading.local()      # .now: whether a fake function runs


class Definition:
    """What is known of one operator.

    ``kernels``: {device, or "default" for all of them: function}; ``implicit``: a function that is differentiated as it is, in place of
    kernels; ``fake``: what answers tensors without data; ``backward``, ``setup_context``, ``vmap``: see `torch.library.register_autograd`,
    `register_vmap`; ``casts``: {device: dtype in regions of autocast}; ``autocasts``: {device: what is called in such regions instead};
    ``owner``: the `CustomOpDef`, if it was made by `custom_op`; ``tags``: `tags.Tag`s.
    """

    def __init__(self, schema, owner=None, tags=()):
        self.schema, self.owner, self.tags = schema, owner, list(tags)
        self.kernels, self.disabled, self.casts, self.autocasts = {}, set(), {}, {}
        self.implicit = self.fake = self.backward = self.setup_context = self.vmap = self._function = None

    def forget_function(self):
        """Makes the `Function` anew at the next call."""
        self._function = None

    @property
    def name(self):
        return self.schema.name

    @property
    def shown(self):
        """As PyTorch shows the overload: ``mylib.name.default``."""
        return f"{self.name.replace('::', '.')}.{self.schema.overload_name or 'default'}"

    def __call__(self, args, kwargs):
        args, kwargs = self.schema.bound(args, kwargs)
        tensors = [t for value in (*args, *kwargs.values()) for t in _leaves(value) if isinstance(t, Tensor)]
        device = tensors[0].device.type if tensors else str(kwargs.get("device") or "cpu").partition(":")[0]
        wanted = self.casts and self.casts.get(device)
        if (wanted or device in self.autocasts) and importlib.import_module("jtensor").is_autocast_enabled(device):
            return self._cast(args, kwargs, device, wanted) if wanted else self.autocasts[device](*args, **kwargs)
        if self.implicit is not None and device not in self.kernels:
            return self.implicit(*args, **kwargs)
        if device == "meta":
            before, FAKING.now = getattr(FAKING, "now", False), True
            try:
                return self.answered_by(self._fake(), args, kwargs)
            finally:
                FAKING.now = before
        if self.owner is None and self.backward is None:
            return self._as_it_is(tensors, device, args, kwargs)
        if LOCAL.grad_enabled and not self.schema.is_mutable and any(t.requires_grad for t in tensors) or LOCAL.levels and self.vmap:
            return self._recorded(device, args, kwargs)
        return self.run(device, args, kwargs)

    # -- running ------------------------------------------------------------------------------------------------------

    def run(self, device, args, kwargs):
        """The kernel's answer, without a history."""
        with no_grad():                              # what it writes to may be a leaf, and keeps its history
            answer = self.answered_by(self.kernel(device), args, kwargs)
        if self.schema.is_mutable:
            self._count_writes(args, kwargs)
        return answer

    def kernel(self, device):
        """The function for a device. NotImplementedError where there is none."""
        found = None if device in self.disabled else self.kernels.get(device)
        found = found or self.kernels.get("default") or (self.owner._init_fn if self.owner and device in self.disabled else None)
        if found is None:
            raise NotImplementedError(f"Could not run '{self.name}' with arguments from the '{device.upper()}' backend. '{self.name}' is "
                                      f"only available for these backends: [{', '.join(sorted(self.kernels)) or 'none'}].")
        return found

    def answered_by(self, function, args, kwargs):
        """What a kernel answers, each value of its type; of `custom_op`, none may share memory with an argument."""
        told, named = self.schema.told(args, kwargs)
        answer = self.schema.answered(function(*told, **named))
        if self.owner is not None:
            taken = {id(t._storage) for value in (*args, *kwargs.values()) for t in _leaves(value) if isinstance(t, Tensor)}
            for t in _leaves(answer):
                if isinstance(t, Tensor):
                    if id(t._storage) in taken:
                        raise RuntimeError(_ALIASED.format(self.name.partition("::")[2], getattr(function, "__module__", "?")))
                    taken.add(id(t._storage))
        return answer

    def _count_writes(self, args, kwargs):
        given = dict(zip([argument.name for argument in self.schema.arguments if not argument.kwarg_only], args, strict=True), **kwargs)
        increment_version([t for argument in self.schema.arguments if argument.is_write for t in _leaves(given[argument.name])
                           if t is not None])

    def _as_it_is(self, tensors, device, args, kwargs):
        """A kernel with no formula for its gradient: what it is made of has a history, of which a backward warns."""
        answer = self.answered_by(self.kernel(device), args, kwargs)
        if any(t.requires_grad for t in tensors):
            for t in _leaves(answer):
                if isinstance(t, Tensor) and t.requires_grad and t.grad_fn is not None:
                    t.register_hook(lambda grad: sites.warn(_UNREGISTERED.format(self.name)))
        return answer

    def _fake(self):
        if self.fake is None and self.owner is not None and self.schema.is_mutable and not self.schema.returns:
            return lambda *args, **kwargs: None                  # what writes to its arguments, and answers nothing, needs none
        if self.fake is None and self.owner is not None:
            raise RuntimeError(f"There was no fake impl registered for {self.owner}. This is necessary for torch.compile/export/fx tracing "
                               f"to work. Please use `{self.owner._name}.register_fake` to add an fake impl.")
        if self.fake is None:
            raise NotImplementedError(f"{self.name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta "
                                      f"kernel registered. {SEE}")
        return self.fake

    def _cast(self, args, kwargs, device, wanted):
        torch = importlib.import_module("jtensor")

        def cast(value):
            if isinstance(value, list):
                return [cast(one) for one in value]
            fits = isinstance(value, Tensor) and value.is_floating_point() and value.dtype is not torch.float64
            return value.to(wanted) if fits else value
        with torch.autocast(device, enabled=False):
            return self([cast(value) for value in args], {name: cast(value) for name, value in kwargs.items()})

    # -- gradients ----------------------------------------------------------------------------------------------------

    def _recorded(self, device, args, kwargs):
        if self._function is None:
            self._function = _function_of(self)
        call = Call(self, device, args, kwargs)
        return call.as_answered(self._function.apply(*call.flat, call))


class Call:
    """One recorded call: its arguments as a flat row, for a `Function` sees tensors that are in no list, and its answer likewise."""

    def __init__(self, definition, device, args, kwargs):
        self.definition, self.device, self.kwargs = definition, device, kwargs
        positional = [argument for argument in definition.schema.arguments if not argument.kwarg_only]
        self.counts = [len(value) if argument.type.is_list and value is not None else None
                       for argument, value in zip(positional, args, strict=True)]
        self.flat = spread(args, self.counts)
        self.shape = None

    def answered(self, answer):
        """An answer as the `Function` gives it."""
        single = not isinstance(answer, (tuple, list))
        parts = [answer] if single else [answer] if isinstance(answer, list) else list(answer)
        self.shape = single, isinstance(answer, list), [len(part) if isinstance(part, list) else None for part in parts]
        flat = spread(parts, self.shape[2])
        return flat[0] if single else tuple(flat)

    def as_answered(self, flat):
        """The answer as the kernel gave it."""
        single, listed, counts = self.shape
        if single:
            return flat
        parts = gathered(flat if isinstance(flat, tuple) else (flat,), counts)
        return parts[0] if listed else tuple(parts)


def spread(values, counts):
    """The values in one row, without the lists of these lengths (None: no list)."""
    flat = []
    for value, count in zip(values, counts, strict=True):
        if count is None:
            flat.append(value)
        else:
            flat.extend(value)
    return flat


def gathered(flat, counts):
    """The opposite of `spread`."""
    flat = iter(flat)
    return [next(flat) if count is None else [next(flat) for _ in range(count)] for count in counts]


def _leaves(value):
    return value if isinstance(value, (list, tuple)) else (value,)


def _function_of(definition):
    """The `Function` by which an operator gets its history."""
    def forward(*flat):
        *flat, call = flat
        return call.answered(definition.run(call.device, gathered(flat, call.counts), call.kwargs))

    def setup_context(ctx, inputs, output):
        *flat, ctx.call = inputs
        if definition.setup_context is not None:
            named = {"keyword_only_inputs": ctx.call.kwargs} if any(a.kwarg_only for a in definition.schema.arguments) else {}
            definition.setup_context(ctx=ctx, inputs=tuple(gathered(flat, ctx.call.counts)), output=ctx.call.as_answered(output), **named)

    def backward(ctx, *grads):
        if definition.backward is None:
            raise RuntimeError(f"Trying to backward through {definition.shown} but no autograd formula was registered. Please use "
                               "register_autograd to add one.")
        call = ctx.call
        answers = definition.backward(ctx, *gathered(grads, call.shape[2]))
        answers = answers if isinstance(answers, tuple) else (answers,)
        if any(count is not None for count in call.counts):
            if len(answers) != len(call.counts):
                raise RuntimeError(f"Expected the return from backward to be of the same structure as the inputs. Got: {len(answers)} "
                                   f"values (return from backward), {len(call.counts)} (inputs)")
            answers = spread([[None] * count if one is None and count is not None else one
                              for one, count in zip(answers, call.counts, strict=True)], call.counts)
        return (*answers, None)

    space = {"forward": staticmethod(forward), "setup_context": staticmethod(setup_context), "backward": staticmethod(backward),
             "__module__": "torch.autograd.function"}
    if definition.vmap is not None:
        def vmap(info, in_dims, *flat):
            *flat, call = flat
            answer, dims = definition.vmap(info, tuple(gathered(in_dims[:-1], call.counts)), *gathered(flat, call.counts), **call.kwargs)
            flat = call.answered(answer)
            if isinstance(flat, tuple) and isinstance(dims, (tuple, list)):
                dims = tuple(spread([dims] if call.shape[1] else dims, call.shape[2]))
            return flat, dims
        space["vmap"] = staticmethod(vmap)
    else:
        space["generate_vmap_rule"] = True
    name = f"GeneratedBackwardFor_{definition.name.replace('::', '_')}_{definition.schema.overload_name or 'default'}"
    return type(name, (Function,), space)
