"""``__torch_dispatch__``: who is asked below autograd, where functions have become the operators that they are made of.

Rooms: `asking` (the modes and classes, who is asked first), `schemas` (which operator a call is, with which arguments), `entries` (a
function of the engine that asks, and what autograd makes of the answer), `doors` (which functions those are), `wrappers` (tensors that
hold others). A process in which nobody asks has none of it.
"""
