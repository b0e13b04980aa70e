"""Means of models instead of gradients. Owns: the rooms of that name."""
