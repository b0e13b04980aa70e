"""One operation by itself: by its kernel, by one that serves any size, by NumPy, or by Python where it is on single numbers.

All of them give the same bits, those of a fused program, too. Stands on `trace.lowering`.
"""
