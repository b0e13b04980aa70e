"""`nn.parallel.DistributedDataParallel`: one module in several processes, each with its part of the data and all with the same gradients.

Owns: what `forward` does before and after, and PyTorch's arguments. How gradients travel is `distributed.reducer`'s. May not know: sockets.
"""
import contextlib
import inspect

import jtensor

from ...base import sites
from ...base.errors import missing
from ...utils._pytree import tree_map_only
from ..modules.module import Module
from .joining import Join, Joinable, JoinHook

__all__ = ["DistributedDataParallel"]

_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has "
    "parameters that were not used in producing loss. You can enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs "
    "participate in calculating loss. \nIf you already have done the above, then the distributed data parallel module wasn't able to "
    "locate the output tensors in the return value of your module's `forward` function. Please include the loss function and the structure "
    "of the return value of `forward` of your module when reporting this issue (e.g. list, dict, iterable).\nParameter indices which did "
    "not receive grad for rank {}: {}")


_BOTH = ("Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated and its value is ignored "
         "when `forward_sync_buffers` is provided.")
_OLDER = ("`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike `broadcast_buffers=False`, "
          "`forward_sync_buffers=False` still syncs buffers at init. If you rely on buffers NOT being synced at init (e.g. rank-local "
          "buffers), keep using `broadcast_buffers=False` until `init_sync_buffers` is available.")


class _DDPJoinHook(JoinHook):
    """Has a module that has no more steps take part in those of the other processes, with gradients of zero."""

    def __init__(self, ddp, divide_by_initial_world_size):
        if not isinstance(ddp, DistributedDataParallel):
            raise AssertionError("DDP join hook requires passing in a DistributedDataParallel instance as the state, got "
                                 f"{type(ddp).__name__}")
        self.ddp = ddp
        ddp._divide_by_initial_world_size = divide_by_initial_world_size

    def main_hook(self):
        ddp = self.ddp
        if ddp.will_sync_module_buffers():
            ddp._take_over(ddp._buffers_now(), False)
        ddp.require_forward_param_sync = ddp._anyone_averages(False)
        if ddp.require_forward_param_sync:
            ddp._reducer.shadow()

    def post_hook(self, is_last_joiner):
        self.ddp._take_over(self.ddp._state_now(), is_last_joiner)


class DistributedDataParallel(Module, Joinable):
    """Calls ``module``, whose gradients every backward averages over the processes of a group (by default of all).

    All processes begin with the parameters and buffers of the first one; buffers are the first one's again before each forward
    (``forward_sync_buffers``; ``broadcast_buffers=False`` leaves them alone at the beginning as well). Gradients go in parcels of
    ``bucket_cap_mb``. ``find_unused_parameters``, or ``static_graph``: parameters may go without a gradient; without it the next forward
    raises RuntimeError. In a group of one nothing travels, and nothing waits.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    >>> model(torch.ones(3, 2)).sum().backward()
    >>> model.module.weight.grad
    tensor([[3., 3.]])
    >>> torch.distributed.destroy_process_group()

    https://docs.pytorch.org/docs/2.13/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=None, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False, gradient_as_bucket_view=False,
                 static_graph=False, delay_all_reduce_named_params=None, param_to_hook_all_reduce=None, mixed_precision=None,
                 device_mesh=None, skip_all_reduce_unused_params=False, bucket_cap_mb_list=None, batched_grad_copy=False,
                 forward_sync_buffers=None):
        super().__init__()
        Joinable.__init__(self)
        for name, given in (("device_mesh", device_mesh), ("mixed_precision", mixed_precision),
                            ("delay_all_reduce_named_params", delay_all_reduce_named_params),
                            ("bucket_cap_mb_list", bucket_cap_mb_list)):
            if given is not None:
                raise missing(f"DistributedDataParallel({name}=...)",
                              "process_group, autocast, bucket_cap_mb, and gradients that travel at once")
        self.process_group = jtensor.distributed.distributed_c10d._get_default_group() if process_group is None else process_group
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        taking_part = [p for name, p in module.named_parameters() if name not in self.parameters_to_ignore]
        trained = [p for p in taking_part if p.requires_grad]
        if not trained:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.")
        _refuse_layers(module, taking_part)
        self.device_ids, self.output_device = _devices(device_ids, output_device, taking_part), None
        if self.device_ids:
            self.output_device = self.device_ids[0] if output_device is None else output_device
        self.device = next(iter(taking_part)).device
        self.device_type, self.dim, self.module = self.device.type, dim, module
        if broadcast_buffers is not None:
            sites.warn(_OLDER if forward_sync_buffers is None else _BOTH, FutureWarning)
        at_first = broadcast_buffers is not False or forward_sync_buffers is not None
        self.forward_sync_buffers, self.static_graph = at_first if forward_sync_buffers is None else forward_sync_buffers, static_graph
        self.find_unused_parameters, self.gradient_as_bucket_view = find_unused_parameters, gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._divide_by_initial_world_size = True
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * 1024 * 1024)
        self.modules_buffers = [b for name, b in module.named_buffers() if name not in self.parameters_to_ignore]
        reducer = _reducer()
        if init_sync:
            reducer.check_same(self.process_group, taking_part)
            sent = [*taking_part, *self.modules_buffers] if at_first else taking_part
            reducer.broadcast_together(self.process_group, [t.detach() for t in sent])
        self._reducer = reducer.Reducer(self.process_group, trained, self.bucket_bytes_cap, find_unused_parameters or static_graph)

    def forward(self, *inputs, **kwargs):
        """What the module answers."""
        reducing, reducer = jtensor.is_grad_enabled() and self.require_backward_grad_sync, self._reducer
        present = Join.notify_join_context(self)
        reducer.counted = present if present and not self._divide_by_initial_world_size else None
        if reducing:
            left = reducer.missing()
            if left:
                reducer.awaited = False
                raise RuntimeError(_UNFINISHED.format(self.process_group.rank(), " ".join(map(str, left))))
            reducer.awaited = True
        joining = self._join_config.enable
        if self.will_sync_module_buffers():
            if joining:
                self._take_over(self._buffers_now(), True)
            else:
                _reducer().broadcast_together(self.process_group, self._buffers_now())
        if joining:
            self._anyone_averages(self.require_backward_grad_sync)
        if self.device_ids:
            moved = lambda t: t.to(jtensor.device(self.device_type, self.device_ids[0]))
            inputs, kwargs = tree_map_only(jtensor.Tensor, moved, (inputs, kwargs))
        made = self.module(*inputs, **kwargs)
        reducer.listens = self.require_forward_param_sync = reducing
        return made

    @property
    def broadcast_buffers(self):
        """The older name of ``forward_sync_buffers``."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value):
        self.forward_sync_buffers = value

    def will_sync_module_buffers(self):
        """Whether the next forward takes over buffers."""
        return self.require_forward_param_sync and self.forward_sync_buffers and len(self.modules_buffers) > 0

    def _buffers_now(self):
        return [b for name, b in self.module.named_buffers() if name not in self.parameters_to_ignore]

    def _state_now(self):
        own = [p.detach() for name, p in self.module.named_parameters() if name not in self.parameters_to_ignore]
        return own + self._buffers_now() if self.forward_sync_buffers else own

    def _take_over(self, tensors, stands):
        """Has all processes have the tensors of one that stands for them, the last where several do."""
        rank = jtensor.tensor([self.process_group.rank() if stands else -1], device=self.device)
        jtensor.distributed.all_reduce(rank, op=jtensor.distributed.ReduceOp.MAX, group=self.process_group)
        _reducer().broadcast_together(self.process_group, tensors, rank.item())

    def _anyone_averages(self, mine):
        """Whether any of the processes, of which some may have no more steps, averages the gradients of this one."""
        told = jtensor.tensor([float(mine)], device=self.device)
        jtensor.distributed.all_reduce(told, group=self.process_group)
        return told.item() != 0

    @contextlib.contextmanager
    def no_sync(self):
        """Within it gradients are added up in each process by itself; the first backward after it averages the sums."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """A `Join` of this module alone: within it the processes may do different numbers of steps.

        ``divide_by_initial_world_size=False``: gradients are averaged over those that still have steps. At its end all have the
        parameters and buffers of the process that had the most.
        """
        return Join([self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs):
        """What takes part for this module in others' steps; see `Joinable`."""
        return _DDPJoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self):
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self):
        """The group of the processes that train the module."""
        return self.process_group

    def register_comm_hook(self, state, hook):
        """Has ``hook(state, bucket)`` decide what becomes of the gradients in a `GradBucket`, instead of their average: it answers a
        `torch.futures.Future`. TypeError for what is no function, KeyError for one without a ``bucket``, ValueError for one whose
        annotations are others, RuntimeError for a second one.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        signature = inspect.signature(hook)
        if signature.parameters["bucket"].annotation not in (inspect.Parameter.empty, jtensor.distributed.GradBucket):
            raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
        if signature.return_annotation not in (inspect.Signature.empty, jtensor.futures.Future[jtensor.Tensor]):
            raise ValueError("Communication hook: return annotation should be torch.futures.Future[torch.Tensor].")
        if self._reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._reducer.hook = lambda bucket: hook(state, bucket)

    @property
    def reducer(self):
        """What averages the gradients: libraries that call `forward` in a way of their own tell it to begin (``prepare_for_backward``)."""
        return self._reducer

    def _get_ddp_logging_data(self):
        """What is known of this training, as a dictionary."""
        return {"world_size": self.process_group.size(), "rank": self.process_group.rank(), "module_name": type(self.module).__name__,
                "backend_name": jtensor.distributed.get_backend(self.process_group), "bucket_cap_bytes": self.bucket_bytes_cap,
                "broadcast_buffers": self.broadcast_buffers, "find_unused_parameters": self.find_unused_parameters,
                "static_graph": self.static_graph}

    def _set_static_graph(self):
        self.static_graph = self._reducer.unused = True

    def __getstate__(self):
        jtensor.distributed.distributed_c10d._get_default_group()
        state = {**self.__dict__, "broadcast_buffers": self.forward_sync_buffers}
        del state["process_group"], state["_reducer"]
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        before = self.__dict__.pop("broadcast_buffers", True)
        self.__dict__.setdefault("forward_sync_buffers", before)
        self.process_group = jtensor.distributed.distributed_c10d._get_default_group()
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        trained = [p for name, p in self.module.named_parameters() if p.requires_grad and name not in self.parameters_to_ignore]
        self._reducer = _reducer().Reducer(self.process_group, trained, self.bucket_bytes_cap,
                                           self.find_unused_parameters or self.static_graph)


def _refuse_layers(module, parameters):
    """A layer whose statistics span the processes wants a GPU, though its weights may be made without one."""
    if any(p.device.type == "cpu" for p in parameters) and any(type(layer).__name__ == "SyncBatchNorm" for layer in module.modules()):
        raise ValueError("SyncBatchNorm layers only work with GPU modules")


def _reducer():
    from ...distributed import reducer
    return reducer


def _devices(device_ids, output_device, parameters):
    """The device that inputs go to, in a list; None where they stay where they are."""
    kinds = {p.device for p in parameters}
    if device_ids and (len(kinds) > 1 or next(iter(kinds)).type == "cpu"):
        raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU "
                         f"modules or CPU modules, but got device_ids {device_ids}, output_device {output_device}, and module parameters "
                         f"{kinds}.")
    if device_ids and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    return [d if isinstance(d, int) else jtensor.device(d).index for d in device_ids] if device_ids else None
