"""The first matrix product of a process, multiplied beside the script before anybody needs one.

With it the runtime generates the machine code of all products, of whatever size: 50 to 90 ms on a CPU with AVX-512, which would be part
of the first training step. Owns: a product of 4 by 4 matrices, its entry of the cache on disk, and that it runs once. May not know: who
multiplies what.
"""
import jax
import jax.numpy as jnp
import numpy as np

from ...base import compat
from ...base.background import Worker
from . import store

_KEY = "the first product"
_SIZE = 4, 4
_WORKER = Worker("first product")
_begun = []                     # its handle, once it is asked for


def begin():
    """Has it multiplied, unless it was or nothing can be gained; does not wait."""
    if not _begun:
        _begun.append(_WORKER.submit(_multiply, name="first product") if compat.default_device().platform == "cpu" else None)


def has_begun():
    """Whether somebody in this process needs products, or is expected to."""
    return bool(_begun)


def _multiply():
    if store.folder() is None:
        return                  # compiling it beside what is wanted takes as long as it saves
    program = store.load_apart(_KEY)
    if program is None:
        with compat.x64():
            program = compat.build(compat.trace(lambda a, b: [a @ b], [jax.ShapeDtypeStruct(_SIZE, jnp.float32)] * 2), name="first_product")
        store.save_apart(_KEY, program)
    for result in program.run([compat.put(np.zeros(_SIZE, np.float32))] * 2):
        result.block_until_ready()
