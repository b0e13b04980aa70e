"""Views: pure geometry of strided memory, PyTorch's rules for it, and the programs that read and write it.

``geometry`` answers questions, ``rules`` maps a view operator to a new geometry or PyTorch's error, ``access`` gives the pure
read and write programs of a geometry over a storage's array.  Nothing here knows a tensor, a storage or the tape.
"""
