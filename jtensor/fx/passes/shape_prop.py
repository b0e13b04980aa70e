"""Shapes and types of what a graph's nodes give, found by running it."""
import typing

import jtensor

from ..interpreter import Interpreter
from ..node import map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(typing.NamedTuple):
    """What is known of a tensor without its numbers."""

    shape: jtensor.Size
    dtype: jtensor.dtype
    requires_grad: bool
    stride: tuple
    memory_format: jtensor.memory_format | None
    is_quantized: bool
    qparams: dict


def _extract_tensor_metadata(result, include_contiguity=True):
    layout = None
    if include_contiguity:
        formats = (jtensor.contiguous_format, jtensor.channels_last, jtensor.channels_last_3d)
        ranks = {jtensor.channels_last: 4, jtensor.channels_last_3d: 5}
        layout = next((known for known in formats if ranks.get(known, result.dim()) == result.dim()
                       and result.is_contiguous(memory_format=known)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), layout, False, {})


class ShapeProp(Interpreter):
    """Runs a module and notes `TensorMetadata` of every result in ``node.meta["tensor_meta"]``, and its class in ``node.meta["type"]``.

    >>> import jtensor as torch
    >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(3, 4)))
    >>> _ = ShapeProp(module).propagate(torch.ones(2, 3))
    >>> [node.meta["tensor_meta"].shape for node in module.graph.nodes]
    [torch.Size([2, 3]), torch.Size([2, 4]), torch.Size([2, 4])]
    """

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)

    def run_node(self, n):
        """What the node gives, noted."""
        result = super().run_node(n)
        found = []

        def noted(item):
            if isinstance(item, jtensor.Tensor):
                found.append(item)
                return _extract_tensor_metadata(item)
            return item
        meta = map_aggregate(result, noted)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """Runs the module with these arguments and answers its result."""
        return self.run(*args)
