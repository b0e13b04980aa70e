"""PyTorch's functions of functions for its compiler, as far as they are called without one: loops that are run as they stand.

    associative_scan.py   running results of an operation of two
    cond.py               one of two functions
    foreach_map.py        a function of the tensors of lists
    map.py                a function of slices
    scan.py               a function of slices that hands something on
    while_loop.py         a function again and again
"""
from .associative_scan import associative_scan
from .cond import cond
from .foreach_map import foreach_map
from .map import map
from .scan import scan
from .while_loop import while_loop

__all__ = ["associative_scan", "cond", "foreach_map", "map", "scan", "while_loop"]
