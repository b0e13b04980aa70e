"""`torch.ops.profiler`: regions of a profile as operators, which programs that rewrite graphs put into them.

Owns: which open region a handle, a tensor of one number, stands for. May not know: what a region is.
"""
import itertools

import jtensor

from .libraries import Library

_OPEN, _COUNT = {}, itertools.count(1)


def _enter(name, args=None):
    region = jtensor.profiler.record_function(name, args)
    region.__enter__()
    handle = next(_COUNT)
    _OPEN[handle] = region
    return jtensor.tensor(handle)


def _exit(handle):
    region = _OPEN.pop(int(handle), None)
    if region is not None:
        region.__exit__(None, None, None)


_LIBRARY = Library("profiler", "FRAGMENT")
_LIBRARY.define("_record_function_enter(str name, str? args=None) -> Tensor")
_LIBRARY.define("_record_function_exit(Tensor _0) -> ()")
_LIBRARY.impl("_record_function_enter", _enter, "CompositeImplicitAutograd")
_LIBRARY.impl("_record_function_exit", _exit, "CompositeImplicitAutograd")
