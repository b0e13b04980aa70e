"""Backward passes and optimizer steps: operator by operator (`replay`), and in one piece where they came before (`retrace`, `updates`)."""
