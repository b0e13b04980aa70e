"""Tensors made of numbers, of Python's and NumPy's data, and after other tensors."""
