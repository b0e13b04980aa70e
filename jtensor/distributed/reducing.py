"""How the tensors of several processes become one: the operations, and what they do to two arrays.

Owns: `ReduceOp`. May not know: tensors, processes.
"""
import enum

import numpy as np


class RedOpType(enum.IntEnum):
    """How the tensors of several processes become one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __repr__(self):
        return f"<RedOpType.{self.name}: {self.value}>"

    def __str__(self):
        return f"RedOpType.{self.name}"


RedOpType.__qualname__ = "ReduceOp.RedOpType"


class ReduceOp:
    """How the tensors of several processes become one: `ReduceOp.SUM` and its kind.

    >>> torch.distributed.ReduceOp.MAX
    <RedOpType.MAX: 4>
    """

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.MIN, RedOpType.MAX
    BAND, BOR, BXOR, PREMUL_SUM = RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR, RedOpType.PREMUL_SUM

    def __init__(self, op):
        self.op = RedOpType(op)

    def __eq__(self, other):
        return self.op == getattr(other, "op", other)

    def __hash__(self):
        return hash(self.op)


# Of a truth value PyTorch's Gloo adds and multiplies the bytes; which of them are zero is the same.
_OF_TRUTHS = {ReduceOp.SUM: np.logical_or, ReduceOp.PRODUCT: np.logical_and, ReduceOp.MIN: np.logical_and, ReduceOp.MAX: np.logical_or,
              ReduceOp.BAND: np.logical_and, ReduceOp.BOR: np.logical_or, ReduceOp.BXOR: np.logical_xor}
_OF_NUMBERS = {
    ReduceOp.SUM: np.add, ReduceOp.PRODUCT: np.multiply, ReduceOp.BAND: np.bitwise_and, ReduceOp.BOR: np.bitwise_or,
    ReduceOp.BXOR: np.bitwise_xor,
    # a NaN that comes second is passed over, as by C++'s std::min and std::max
    ReduceOp.MIN: lambda mine, other: np.where(other < mine, other, mine),
    ReduceOp.MAX: lambda mine, other: np.where(mine < other, other, mine),
}
_BITWISE = {ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR}


def function_of(op, dtype):
    """The function of two ndarrays of ``dtype`` that ``op`` means. RuntimeError in PyTorch's words for those that have none."""
    op, dtype = RedOpType(getattr(op, "op", op)), np.dtype(dtype)
    if op is ReduceOp.PREMUL_SUM:
        raise RuntimeError("Cannot use ReduceOp.PREMUL_SUM with Gloo")
    if op in _BITWISE and dtype.kind not in "biu":
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    found = (_OF_TRUTHS if dtype.kind == "b" else _OF_NUMBERS)[op]

    def function(mine, other):
        with np.errstate(all="ignore"):
            return found(mine, other)
    return function


__all__ = ["RedOpType", "ReduceOp"]
