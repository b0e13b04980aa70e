"""From operations to an executable: traced functions as flat equations, in formulations of our own, fenced, compiled.

`lower` is the way through; everything else in this folder is a step of it, or knows something about equations that steps need. Asks no
tape: a stretch of one is handed to it.
"""
