"""Making graphs of functions. Owns: the refusal."""
from ..base.errors import missing

__all__ = ["make_fx"]


def make_fx(f, *args, **kwargs):
    """Raises ``NotImplementedError``."""
    raise missing("graphs of functions (make_fx)", "jax.make_jaxpr of a JAX function")
