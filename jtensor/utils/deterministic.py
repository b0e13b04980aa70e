"""`torch.utils.deterministic`: an attribute of the module that is asked for and set.

``fill_uninitialized_memory`` (True): while `torch.use_deterministic_algorithms` is on, `torch.empty` and its kin hold NaN or the largest
number of their type, so that a program that reads them does the same every time, and is found out.

>>> import jtensor as torch
>>> torch.use_deterministic_algorithms(True)
>>> torch.empty(2), torch.empty(1, dtype=torch.int8)
(tensor([nan, nan]), tensor([127], dtype=torch.int8))
>>> torch.use_deterministic_algorithms(False)
"""
import sys
import types

import jtensor


class _Deterministic(types.ModuleType):
    @property
    def fill_uninitialized_memory(self):
        """Whether memory that nobody has written is filled."""
        return jtensor.settings.fills_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode):
        jtensor.settings.fill_uninitialized_memory(mode)


sys.modules[__name__].__class__ = _Deterministic
