"""View operators: another geometry over the same storage, with PyTorch's history."""
