"""Means of models instead of gradients. Owns: the room of that name; they are not there."""
