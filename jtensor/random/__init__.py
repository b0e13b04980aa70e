"""Random numbers: the streams of PyTorch's CPU generator, bit for bit, and the generators that make them.

The rooms, upward: ``rounding`` and ``exact`` (number formats, last-bit arithmetic), ``mt19937`` (words and state bytes), the samplers
(engine in, numpy array out) ``uniforms``, ``normals``, ``lookahead``, ``integers``, ``permutation``, ``continuous``, ``discrete``,
``rejection``; ``programs`` with ``normals_jax``, ``walks`` and ``loops`` (quick twins of some samplers, compiled for the host);
``checks`` (what PyTorch refuses), ``generator``, ``seeding``, ``draws`` and ``fills`` (the functions over tensors). On an accelerator:
``philox``, ``counter`` (the engine), ``by_counter`` (numbers made inside the program), ``cuda_seeding``.
"""

from .counter import use_cpu_stream, uses_cpu_stream
from .generator import Generator as Generator
from .generator import default_generator as default_generator
from .seeding import fork_rng, get_rng_state, initial_seed, manual_seed, seed, set_rng_state, thread_safe_generator

__all__ = ["set_rng_state", "get_rng_state", "manual_seed", "seed", "initial_seed", "fork_rng", "thread_safe_generator",
           "use_cpu_stream", "uses_cpu_stream"]
