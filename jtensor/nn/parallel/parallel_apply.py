"""Modules on several devices, called with an input each, for libraries that do so as `DataParallel` does: here one, on one device."""
import jtensor

from ...base.errors import missing

__all__ = ["parallel_apply"]


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """A list of what each module answers for its inputs, a tuple or a single one. RuntimeError without an accelerator, as in PyTorch."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    if not jtensor.accelerator.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    if len(modules) > 1:
        raise missing("modules on several devices (nn.parallel.parallel_apply)", "the modules called one after the other")
    kwargs_tup = kwargs_tup or ({},) * len(modules)
    return [module(*(given if isinstance(given, (list, tuple)) else (given,)), **named)
            for module, given, named in zip(modules, inputs, kwargs_tup, strict=True)]
