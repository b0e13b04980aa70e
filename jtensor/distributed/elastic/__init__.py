"""`torch.distributed.elastic`: of it, what scripts for `torchrun` import. May not know: tensors.

    multiprocessing/        what a launcher's processes write and where; in errors/ how they report that they failed

A number of nodes that changes while a job runs is not there (`launcher/api.py` says so).
"""
