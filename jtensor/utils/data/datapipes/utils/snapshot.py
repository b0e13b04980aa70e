"""Going on where a pipe stood: a new pipe is wound forward by as many samples as the old one has given."""
from ...graph_settings import apply_random_seed
from .._hook_iterator import _SnapshotState


def _simple_graph_snapshot_restoration(datapipe, n_iterations, rng=None):
    """Winds a pipe forward by ``n_iterations`` samples, which its next pass leaves out. ``rng``: seeds what is random in it."""
    if datapipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError("Snapshot restoration cannot be applied. You can only restore simple snapshot to the graph if your graph has "
                           "not been restored.")
    datapipe.reset()
    if rng is not None:
        apply_random_seed(datapipe, rng)
    forward = iter(datapipe)
    for _ in range(n_iterations):
        try:
            next(forward)
        except StopIteration as error:
            raise RuntimeError(f"Fast-forward {datapipe} by {n_iterations} iterations exceeds the number of samples available.") from error
    datapipe._fast_forward_iterator = forward
    datapipe._snapshot_state = _SnapshotState.Restored
