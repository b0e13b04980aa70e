"""The Tensor: storage + view + autograd, and the one path from its methods to recorded operators."""
