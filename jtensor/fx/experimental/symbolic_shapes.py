"""Sizes and numbers that are not known while a graph is made. There is none. Owns: the exception for programs that depend on them."""

__all__ = ["GuardOnDataDependentSymNode"]


class GuardOnDataDependentSymNode(RuntimeError):
    """A program that is taken out of Python (`torch.export`) asks a tensor for a number that it does not have yet.

    >>> import jtensor as torch
    >>> class Net(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x if x.sum() > 0 else -x
    >>> torch.export.export(Net(), (torch.ones(2),))                        # doctest: +ELLIPSIS
    Traceback (most recent call last):
    jtensor.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression ...

    What works is the same with tensors: ``torch.where(x.sum() > 0, x, -x)``.
    """
