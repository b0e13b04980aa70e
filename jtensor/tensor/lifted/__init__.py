"""Tensors that stand for more than an array, inside of `vmap` and of functions that are differentiated forwards (`trace.lifted`)."""
