"""`torch.backends.opt_einsum`: the order in which einsum contracts is chosen by jax.numpy's opt_einsum, whatever these settings say."""

enabled, strategy = True, "auto"


def is_available():
    """Whether it is installed: JAX depends on it."""
    return True
