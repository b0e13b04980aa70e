"""Memory by itself: PyTorch's storages as objects, tensors that exchange theirs, and how it gets to other processes."""
