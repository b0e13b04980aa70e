"""Views: PyTorch's rules of which geometry a view operator makes, and the programs that read and write a geometry.

``rules`` maps a view operator to a new geometry or PyTorch's error, ``access`` gives the pure read and write programs of a geometry over
a storage's array; what can be asked of a geometry alone is in `base.geometry`. Nothing here knows a tensor, a storage or the tape.
"""
