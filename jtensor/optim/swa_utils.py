"""Averages of a model's weights over training: stochastic weight averaging and exponential moving averages."""
import itertools
import math
from copy import deepcopy

import jtensor

from ..nn import Module
from ..nn.modules.batchnorm import _BatchNorm
from ..tensor.core import Tensor as Tensor
from .lr_scheduler import LRScheduler
from .lr_scheduler._base import per_group

__all__ = ["AveragedModel", "update_bn", "SWALR", "get_ema_multi_avg_fn", "get_swa_multi_avg_fn", "get_ema_avg_fn", "get_swa_avg_fn"]


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay=0.999):
    """A function that moves lists of tensors towards others by ``1 - decay``, in place."""
    _check_decay(decay)

    @jtensor.no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """A function that takes lists of tensors into running means, in place."""
    @jtensor.no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        weight = 1 / (float(num_averaged) + 1)
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, weight)
            else:
                average.copy_(average + (current - average) * weight)

    return swa_update


def get_ema_avg_fn(decay=0.999):
    """A function of the average and the current tensor: the next exponential moving average."""
    _check_decay(decay)

    @jtensor.no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """A function of the average, the current tensor and their number: the next mean."""
    @jtensor.no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters (with ``use_buffers`` its buffers too) are averages; by default means.

    ``avg_fn(average, current, number)`` or, of lists and in place, ``multi_avg_fn`` say what average is meant.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", jtensor.tensor(0, dtype=jtensor.long, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Takes the model's current parameters into the averages; the first time they are copied."""
        def tensors(module, of_average):
            if self.use_buffers:
                return itertools.chain(module.parameters(), module.buffers())
            return self.parameters() if of_average else module.parameters()

        pairs = [(average.detach(), current.detach().to(average.device))
                 for average, current in zip(tensors(self.module, True), tensors(model, False))]
        if self.n_averaged == 0:
            for average, current in pairs:
                average.copy_(current)
        elif self.multi_avg_fn is not None:
            averages, currents = zip(*pairs)
            self.multi_avg_fn(list(averages), list(currents), self.n_averaged)
        else:
            update = self.avg_fn or get_swa_avg_fn()
            for average, current in pairs:
                average.copy_(update(average, current, self.n_averaged.to(average.device)))
        if not self.use_buffers:
            for own, current in zip(self.module.buffers(), model.buffers(), strict=True):
                own.detach().copy_(current.detach().to(own.device))
        self.n_averaged += 1


@jtensor.no_grad()
def update_bn(loader, model, device=None):
    """Computes the running statistics of all batch normalisations anew, as plain means over the batches of ``loader``."""
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    for input in loader:
        if isinstance(input, (list, tuple)):
            input = input[0]
        model(input if device is None else input.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the current rate to ``swa_lr`` within ``anneal_epochs`` epochs, and constant from then on."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for group, lr in zip(optimizer.param_groups, per_group("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    # files that PyTorch has written name these two
    @staticmethod
    def _linear_anneal(t):
        """How far at time ``t`` in [0, 1]."""
        return t

    @staticmethod
    def _cosine_anneal(t):
        return (1 - math.cos(math.pi * t)) / 2

    def _at(self, step):
        anneal = self._linear_anneal if self._anneal_strategy == "linear" else self._cosine_anneal
        return anneal(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self):
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._at(step - 1), self._at(step)
        rates = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            # The rate it all began with, from the current one.
            initial = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            rates.append(target * now + initial * (1 - now))
        return rates
