"""How operators reach the tape: the functions that are written out for their ordinary calls, and their calls in place.

Every other call goes through `tensor.dispatch`.
"""
