"""One program for tapes that differ in a size alone: arrays as large as a bucket's largest size, and masks where that would show.

Stands on `trace.lowering` and on the sums of `trace.op_by_op`, whose bits it gives.
"""
