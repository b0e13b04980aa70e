"""Making graphs below public functions. Owns: the question whether one is being made: never."""

__all__ = ["get_proxy_mode"]


def get_proxy_mode():
    """What makes a graph of what runs: None."""
    return None
