"""Modules that compute their forward pass again. Owns: the room of that name."""
