"""A function of the tensors of lists, place by place."""
import itertools

__all__ = ["foreach_map"]


def foreach_map(op, *operands, **kwargs):
    """[``op`` of the first of each list, of the second, ...]; what is no list or tuple is given to every call, or, without any, to one.

    >>> from jtensor._higher_order_ops.foreach_map import foreach_map
    >>> foreach_map(torch.add, [torch.tensor(1), torch.tensor(2)], 3)
    [tensor(4), tensor(5)]
    """
    listed = [isinstance(one, (list, tuple)) for one in operands]
    if not any(listed):
        return op(*operands, **kwargs)
    rows = [one if is_list else itertools.repeat(one) for one, is_list in zip(operands, listed, strict=True)]
    return [op(*row, **kwargs) for row in zip(*rows, strict=False)]
