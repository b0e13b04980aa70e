"""The node of a copy to another device: the gradient is sent back to where the tensor came from. May not know: the Tensor class."""
from .graph import Node, node_class


class Transfer(Node):
    """``source`` tells the device and dtype the gradient returns to."""

    __slots__ = ("device", "dtype")

    def apply(self, grads):
        grad = grads[0]
        if grad is None:
            return None,
        if grad.is_complex() and not self.dtype.is_complex:
            grad = grad.real
        return grad.to(self.device, self.dtype),


def transfer_node(source):
    from ..tensor.history import edge_of
    node = node_class("ToCopyBackward0", Transfer)((edge_of(source),))
    node.device, node.dtype = source.device, source.dtype
    return node
