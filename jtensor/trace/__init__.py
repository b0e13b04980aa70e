"""The tape: immutable values, recorded operations, and the executor that runs them as XLA programs.

Knows arrays only: no Tensor, no Storage, no mutation. Everything here can be tested with plain arrays.
"""
