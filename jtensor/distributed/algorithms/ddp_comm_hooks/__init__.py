"""Functions for `DistributedDataParallel.register_comm_hook`. Owns: the rooms of that name, and a list of them by short names."""
import enum
import functools

from . import debugging_hooks, default_hooks, powerSGD_hook, quantization_hooks

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


def _plain(hook):
    def register(model, state, comm_hook=hook):
        model.register_comm_hook(state, comm_hook)
    return functools.partial(register, comm_hook=hook)


def _by_matrices(hook, rank):
    def register(model, state, start_powerSGD_iter=1000):
        made = powerSGD_hook.PowerSGDState(process_group=state, matrix_approximation_rank=rank, start_powerSGD_iter=start_powerSGD_iter)
        model.register_comm_hook(made, hook)
    return functools.partial(register)


class DDPCommHookType(enum.Enum):
    """The hooks by name. ``value(model=model, state=group)`` registers one with a `DistributedDataParallel`."""

    ALLREDUCE = enum.member(_plain(default_hooks.allreduce_hook))
    FP16_COMPRESS = enum.member(_plain(default_hooks.fp16_compress_hook))
    BF16_COMPRESS = enum.member(_plain(default_hooks.bf16_compress_hook))
    QUANTIZE_PER_TENSOR = enum.member(_plain(quantization_hooks.quantization_pertensor_hook))
    QUANTIZE_PER_CHANNEL = enum.member(_plain(quantization_hooks.quantization_perchannel_hook))
    POWER_SGD = enum.member(_by_matrices(powerSGD_hook.powerSGD_hook, 1))
    POWER_SGD_RANK2 = enum.member(_by_matrices(powerSGD_hook.powerSGD_hook, 2))
    BATCHED_POWER_SGD = enum.member(_by_matrices(powerSGD_hook.batched_powerSGD_hook, 1))
    BATCHED_POWER_SGD_RANK2 = enum.member(_by_matrices(powerSGD_hook.batched_powerSGD_hook, 2))
    NOOP = enum.member(_plain(debugging_hooks.noop_hook))


def register_ddp_comm_hook(comm_hook_type, model, state=None):
    """Registers a hook of `DDPCommHookType` with a `DistributedDataParallel`. ``state``: the group, None for that of all."""
    comm_hook_type.value(model=model, state=state)
