"""An optimizer after whose steps the processes' parameters are averaged now and then. Owns: `PostLocalSGDOptimizer`."""
from ...base import sites
from ...optim import Optimizer

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """Steps as ``optim`` does, and has ``averager`` (a `ModelAverager`) average the parameters after each step, as often as that does it.

    Its state dict is the optimizer's with the averager's count besides, as ``"step"``.
    """

    def __init__(self, optim, averager):
        self.optim, self.param_groups, self.averager = optim, optim.param_groups, averager

    @property
    def state(self):
        """The optimizer's."""
        return self.optim.state

    def __repr__(self):
        return repr(self.optim)

    def state_dict(self):
        """The optimizer's, with the averager's count."""
        found = self.optim.state_dict()
        found["step"] = self.averager.step
        return found

    def load_state_dict(self, state_dict):
        """Takes over both; warns where there is no count, which is 0 then."""
        self.optim.load_state_dict(state_dict)
        if "step" not in state_dict:
            sites.warn("Loaded state dict does not contain a step counter for an averager. Setting step counter to 0.")
        self.averager.step = state_dict.get("step", 0)

    def step(self):
        """One step of the optimizer, then the averager's turn."""
        self.optim.step()
        self.averager.average_parameters(params=self.param_groups)

    def zero_grad(self, set_to_none=True):
        """The optimizer's."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group):
        """The optimizer's."""
        self.optim.add_param_group(param_group)
