"""`torch.distributed.launcher`: starts the processes of a job on this machine. `api.py` owns it, `workers.py` its processes."""
from .api import LaunchConfig, elastic_launch, launch_agent

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]
