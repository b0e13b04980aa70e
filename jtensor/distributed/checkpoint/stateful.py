"""What has a state. Owns: how that is told."""
from typing import Protocol, TypeVar, runtime_checkable

__all__ = ["Stateful", "StatefulT"]


@runtime_checkable
class Stateful(Protocol):
    """Whatever has `state_dict` and `load_state_dict`, as modules and optimizers: `save` and `load` call them."""

    def state_dict(self):
        """The state."""

    def load_state_dict(self, state_dict):
        """Takes over a state."""


StatefulT = TypeVar("StatefulT", bound=Stateful)
