"""Where `fully_shard` was at first. Owns: nothing.

    fsdp.py   modules whose parameters lie on several devices
"""
