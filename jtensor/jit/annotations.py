"""`torch.jit.annotations`: the types that annotations for TorchScript are written with, which `script` reads. Owns: those names."""
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401, UP035 - modules import them from here


class BroadcastingListCls:
    """``BroadcastingList2[int]``: a list of two numbers, or one number for both."""

    def __getitem__(self, types):
        return list[types]


BroadcastingList1 = BroadcastingListCls()
BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingList1
