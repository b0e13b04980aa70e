"""The two steps of a scaler of losses as functions, for scalers of one's own: `GradScaler` has both inside.

Owns: ``torch._amp_foreach_non_finite_check_and_unscale_``, ``torch._amp_update_scale_``. Nothing is looked at on the host.
"""
import jtensor


def _amp_foreach_non_finite_check_and_unscale_(self, found_inf, inv_scale):
    """Multiplies each of the gradients by ``inv_scale``, in place, and sets ``found_inf`` to 1 where one was not finite.

    >>> grads, found = [torch.tensor([2., 4.])], torch.tensor(0.)
    >>> torch._amp_foreach_non_finite_check_and_unscale_(grads, found, torch.tensor(0.5))
    >>> grads[0], found
    (tensor([1., 2.]), tensor(0.))
    """
    with jtensor.no_grad():
        for grad in self:
            found_inf.masked_fill_(~jtensor.isfinite(grad).all(), 1)
            grad.mul_(inv_scale)


def _amp_update_scale_(self, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor, growth_interval):
    """The scale for the next step, in place: smaller where ``found_inf`` is set, greater after ``growth_interval`` steps without.

    >>> torch._amp_update_scale_(torch.tensor(4.), torch.tensor(0, dtype=torch.int32), torch.tensor(1.), 2., 0.5, 10)
    tensor(2.)
    """
    with jtensor.no_grad():
        overflowed, steps = found_inf != 0, growth_tracker + 1
        grown = self * scale_growth_factor
        full = steps == growth_interval
        grown = jtensor.where(full & jtensor.isfinite(grown), grown, self)
        self.copy_(jtensor.where(overflowed, self * scale_backoff_factor, grown))
        growth_tracker.copy_(jtensor.where(overflowed | full, 0, steps))
    return self


__all__ = []
