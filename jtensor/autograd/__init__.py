"""PyTorch's autograd: the graph of nodes, the engine that walks it, modes, hooks, custom functions."""
