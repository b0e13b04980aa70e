"""PyTorch's private names for nested tensors in the layout ``jagged``, by which libraries and pickles find them."""
