"""Invariants are not checked, which both libraries are told, so that neither warns of it."""
import pytest

import jtensor


@pytest.fixture(autouse=True)
def unchecked():
    """Nothing is checked unless a line asks for it."""
    torch = pytest.importorskip("torch")
    libraries = torch, jtensor
    for library in libraries:
        library.sparse.check_sparse_tensor_invariants.disable()
