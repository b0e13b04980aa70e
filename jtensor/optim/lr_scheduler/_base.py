"""LRScheduler: when a learning rate changes; what it changes to stands in the subclasses."""
import types
import warnings
import weakref
from functools import wraps

import jtensor

from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is used "
    "instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose.")

_HOW_TO = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def values_of(optimizer, key):
    """An option of every group; a tensor is copied, since it changes in place."""
    return [_copied(group[key]) for group in optimizer.param_groups]


def _copied(value):
    return value.clone() if isinstance(value, jtensor.Tensor) else value


def set_value(group, key, value):
    """Sets an option of a group; a tensor stays the same tensor."""
    if isinstance(group[key], jtensor.Tensor):
        group[key].fill_(value.squeeze() if isinstance(value, jtensor.Tensor) and value.dim() else value)
    else:
        group[key] = value


def per_group(name, optimizer, value):
    """One value for each group; ValueError for a list of another length."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * groups
    elif len(value) != groups:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups "
                         f"has {groups}.")
    return [_copied(v) for v in value]


def check_optimizer(optimizer):
    """TypeError for anything else."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _count_steps(optimizer):
    """Makes ``optimizer.step`` remember that it was called, so that calls in the wrong order can be told."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    reference, function = weakref.ref(optimizer), optimizer.step.__func__

    @wraps(function)
    def wrapper(*args, **kwargs):
        owner = reference()
        owner._opt_called = True
        return function.__get__(owner, type(owner))(*args, **kwargs)

    wrapper._wrapped_by_lr_sched = True
    optimizer.step = wrapper


class LRScheduler:
    """Base of all schedulers: counts epochs and sets ``lr`` of every group to what ``get_lr`` answers.

    ``last_epoch``: where to go on from; -1 begins. A subclass writes ``get_lr`` and may write ``_get_closed_form_lr``.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.\nThis "
                    "typically happens when:\n1. You're trying to resume training from a checkpoint but haven't properly loaded the "
                    "optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not recommended)")
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _count_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over what ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The learning rates that were set last."""
        return self._last_lr

    def get_lr(self):
        """The learning rates of the current epoch, computed from those before."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Goes on by one epoch, after ``optimizer.step()``."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _warn_of_order(self):
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn("Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
                          f"make sure to call `optimizer.step()` before `lr_scheduler.step()`. {_HOW_TO}", UserWarning, stacklevel=3)
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should "
                          "call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
                          f"result in PyTorch skipping the first value of the learning rate schedule. {_HOW_TO}", UserWarning,
                          stacklevel=3)

    def _update_lr(self, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = epoch is not None and hasattr(self, "_get_closed_form_lr")
        self._set(self._get_closed_form_lr if closed else self.get_lr)

    def _set(self, compute):
        self._get_lr_called_within_step = True
        try:
            values = compute()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            set_value(group, "lr", lr)
        self._last_lr = values_of(self.optimizer, "lr")

    def _warn_outside_step(self):
        """Every ``get_lr`` begins with this: called by the user it would be one step off."""
        _warn_get_lr_called_within_step(self, stacklevel=4)

    def _scaled(self, factor):
        """All current learning rates times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _unchanged(self):
        return values_of(self.optimizer, "lr")


def _warn_get_lr_called_within_step(lr_scheduler, stacklevel=3):
    """The same for schedulers that are written after PyTorch's own."""
    if not lr_scheduler._get_lr_called_within_step:
        warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning,
                      stacklevel=stacklevel)


class _enable_get_lr_call:
    """A context in which a scheduler's ``get_lr`` may be called."""

    def __init__(self, o):
        self.o = o

    def __enter__(self):
        self.o._get_lr_called_within_step = True
        return self

    def __exit__(self, type, value, traceback):
        self.o._get_lr_called_within_step = False


class _LRScheduler(LRScheduler):
    """The base's old name."""


def saved_function(function):
    """What is saved of a function that the user gave: nothing of a plain one, the attributes of a callable object."""
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()
