"""Processes whose numbers of steps differ. Owns: the names that libraries import for it; it is not there."""
from ...base.errors import missing

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a process that has ended its steps does beside the others. To be subclassed; nobody calls it."""

    def main_hook(self):
        """Nothing."""

    def post_hook(self, is_last_joiner):
        """Nothing."""


class Joinable:
    """What takes part in a `Join`. To be named and subclassed; there is no `Join`."""


class Join:
    """Would have processes that have ended their steps go on beside the others: making one raises `MissingFeature`."""

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        raise missing("Join", "as many steps in each process (DistributedSampler, drop_last=True)")

    @staticmethod
    def notify_join_context(joinable):
        """Nothing to tell, None: there is no `Join`."""
