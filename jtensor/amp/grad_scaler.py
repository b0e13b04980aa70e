"""`GradScaler`: losses multiplied up, so that small gradients survive in half precision; steps with infinite gradients left out.

Owns: the scale and how it grows and shrinks, and what may be called in which order. May not know: which operations run in which type.
"""
import enum
import warnings
from collections.abc import Iterable

import jtensor

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """Where an optimizer is between two updates of the scale."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _OfOptimizer:
    """Where an optimizer is, and whether its gradients were infinite."""

    def __init__(self):
        self.stage, self.found_inf = OptState.READY, None


class GradScaler:
    """Scales losses before ``backward``, unscales gradients before the optimizer's step, skips steps whose gradients are not finite.

    >>> model = torch.nn.Linear(1, 1)
    >>> optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1), torch.amp.GradScaler("cpu")
    >>> scaler.scale(model(torch.ones(1)).sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> scaler.get_scale()
    65536.0
    """

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda" and not jtensor.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        if not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._init_growth_tracker, self._growth_tracker = 0, None
        self._of_optimizer = {}

    def _checked(self, name):
        for what, value in (("_scale", self._scale), ("_growth_tracker", self._growth_tracker)):
            if value is None:
                raise AssertionError(f"Attempted {name} but {what} is None.  This may indicate your script did not use "
                                     "scaler.scale(loss or outputs) earlier in the iteration.")

    def _state(self, optimizer):
        return self._of_optimizer.setdefault(id(optimizer), _OfOptimizer())

    def scale(self, outputs):
        """A tensor, or an iterable of tensors, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, jtensor.Tensor):
            if self._scale is None:
                self._scale = jtensor.full((), self._init_scale, dtype=jtensor.float32, device=outputs.device)
                self._growth_tracker = jtensor.full((), self._init_growth_tracker, dtype=jtensor.int32, device=outputs.device)
            return outputs * self._scale.to(device=outputs.device)
        if isinstance(outputs, Iterable):
            made = map(self.scale, outputs)
            return type(outputs)(made) if isinstance(outputs, (list, tuple)) else made
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer):
        """Divides the gradients of the optimizer's parameters by the scale; for clipping them, before ``step``."""
        if not self._enabled:
            return
        self._checked("unscale_")
        state = self._state(optimizer)
        if state.stage == OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state.stage == OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._unscale(optimizer, state)
        state.stage = OptState.UNSCALED

    def _unscale(self, optimizer, state):
        inverse = self._scale.double().reciprocal().float()
        with jtensor.no_grad():
            grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            if any(g.dtype == jtensor.float16 for g in grads):
                raise ValueError("Attempting to unscale FP16 gradients.")
            for g in grads:
                bad = ~jtensor.isfinite(g).all()
                state.found_inf = bad if state.found_inf is None else state.found_inf | bad
                g.mul_(inverse.to(g.device))

    def step(self, optimizer, *args, **kwargs):
        """The optimizer's step, unless a gradient is infinite or NaN; unscales first where that has not been done."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._checked("step")
        state = self._state(optimizer)
        if state.stage == OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state.stage == OptState.READY:
            self.unscale_(optimizer)
        if state.found_inf is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        answer = None if state.found_inf.item() else optimizer.step(*args, **kwargs)
        state.stage = OptState.STEPPED
        return answer

    def update(self, new_scale=None):
        """Shrinks the scale if a step was left out, else lets it grow after ``growth_interval`` steps; or sets it."""
        if not self._enabled:
            return
        self._checked("update")
        if new_scale is not None:
            if isinstance(new_scale, float):
                self._scale.fill_(new_scale)
            else:
                if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
                    raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                                         "requires_grad=False.")
                self._scale.copy_(new_scale)
        else:
            found = [state.found_inf for state in self._of_optimizer.values() if state.found_inf is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._follow(any(one.item() for one in found))
        self._of_optimizer.clear()

    def _follow(self, overflowed):
        if overflowed:
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker.fill_(0)
            return
        steps = self._growth_tracker.item() + 1
        if steps == self._growth_interval:
            grown = self._scale * self._growth_factor
            if grown.isfinite().item():
                self._scale.copy_(grown)
            steps = 0
        self._growth_tracker.fill_(steps)

    def get_scale(self):
        """The scale as a number; 1 where the scaler is off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        """What the scale is multiplied with to grow."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Sets what the scale is multiplied with to grow."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """What the scale is multiplied with to shrink."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Sets what the scale is multiplied with to shrink."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """After how many finite steps in a row the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Sets after how many finite steps in a row the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

    def is_enabled(self):
        """Whether the scaler does anything."""
        return self._enabled

    def state_dict(self):
        """Scale, factors and steps since the last growth; empty where the scaler is off."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict):
        """Takes a `state_dict` in."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self):
        state = dict(self.__dict__)
        if self._enabled:
            if self._of_optimizer:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                                     "scaler.update().")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker(), _scale=None, _growth_tracker=None)
        return state
