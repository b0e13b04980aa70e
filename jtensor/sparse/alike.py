"""Tensors like a sparse one, filled or drawn: dense ones where that layout is asked for, else PyTorch's error.

Owns: these entries of the table. `zeros_like` and `empty_like` are among the functions that keep. May not know: operations.
"""
import jtensor

from .answering import COORDINATES, answers


def _like(name):
    function = getattr(jtensor, name)

    def like(input, *args, layout=None, dtype=None, device=None, **options):
        if layout is not jtensor.strided:
            raise COORDINATES.refusal(name, (input,))
        dense = jtensor.empty(input.shape, dtype=input.dtype, device=input.device)
        return function(dense, *args, dtype=dtype, device=device, **options)
    answers(name)(like)


for _name in ("ones_like", "full_like", "rand_like", "randn_like", "randint_like"):
    _like(_name)
