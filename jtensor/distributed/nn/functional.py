"""What a group does together, as operations that gradients go through: the gradient goes the other way.

Owns: the functions of that name, each of which answers new tensors. May not know: how bytes travel.
"""
from ...autograd.function import Function
from .. import collectives
from ..reducing import ReduceOp
from ..world import _group, _member


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """`torch.distributed.all_reduce` into a new tensor. The gradient is reduced likewise."""
    return _AllReduce.apply(op, group, tensor)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        made = tensor.clone()
        collectives.all_reduce(made, op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


def all_gather(tensor, group=None):
    """The tensors of all members, a tuple of new ones. Each member's gradient is the sum of all members' for it."""
    return _AllGather.apply(group, tensor)


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        made = [tensor.new_empty(tensor.shape) for _ in range(_group(group).size())]
        collectives.all_gather(made, tensor.contiguous(), group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        made = grads[0].new_empty(grads[0].shape)
        collectives.reduce_scatter(made, [g.contiguous() for g in grads], ReduceOp.SUM, ctx.group)
        return None, made


def broadcast(tensor, src, group=None):
    """The tensor of process ``src``, whose gradient is the sum of all members'."""
    return _Broadcast.apply(src, group, tensor)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, src, group, tensor):
        ctx.src, ctx.group = src, group
        made = tensor.clone()
        collectives.broadcast(made, src, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        collectives.reduce(grad, ctx.src, ReduceOp.SUM, ctx.group)
        root = _group(ctx.group).rank() == _member(_group(ctx.group), ctx.src, None)
        return None, None, grad if root else grad.new_zeros(grad.shape)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    """The sum at process ``dst``, elsewhere the tensor itself; the gradient is the one of ``dst``."""
    return _Reduce.apply(dst, op, group, tensor)


class _Reduce(Function):
    @staticmethod
    def forward(ctx, dst, op, group, tensor):
        ctx.dst, ctx.group = dst, group
        made = tensor.clone()
        collectives.reduce(made, dst, op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    """This member's sum of the tensors that all members have for it. ``output`` says its shape and is given back, filled."""
    return _ReduceScatter.apply(op, group, output, *input_list)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, output, *parts):
        ctx.group = group
        made = output.detach().clone()
        collectives.reduce_scatter(made, [part.contiguous() for part in parts], op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, *_AllGather.apply(ctx.group, grad)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    """Each member's tensor for each. The list to fill says the shapes; new tensors are the answer, a tuple."""
    return _AllToAll.apply(group, [t.shape for t in output_tensor_list], *input_tensor_list)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx, group, shapes, *parts):
        ctx.group, ctx.shapes = group, [part.shape for part in parts]
        made = [parts[0].new_empty(shape) for shape in shapes]
        collectives.all_to_all(made, [part.contiguous() for part in parts], group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        return None, None, *_AllToAll.apply(ctx.group, ctx.shapes, *grads)


__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "reduce", "reduce_scatter"]
