"""Processes that do different numbers of steps, written once for both libraries. See `process`."""
import importlib
import warnings

from registry import case, told


def rooms(torch, *names):
    found = [importlib.import_module(f"{torch.__name__}.distributed.{name}") for name in names]
    return found if len(found) > 1 else found[0]


def rounded(tensors):
    return [" ".join(f"{value:.4f}" for value in tensor.detach().reshape(-1).tolist()) for tensor in tensors]


def quietly(function):
    """Keeps the filters of warnings, which leaving a `Join` changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()


def uneven(torch, rank, world, hook=None, steps=2, **kwargs):
    """What a module has become by more steps in the later processes."""
    nn = torch.nn
    torch.manual_seed(rank)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(2, 3, bias=False), nn.BatchNorm1d(3), nn.Linear(3, 1)),
                                              find_unused_parameters=kwargs.pop("find_unused_parameters", False))
    if hook is not None:
        net.register_comm_hook(None, hook)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    with net.join(**kwargs):
        for at in range(steps + 2 * rank):
            optimizer.zero_grad()
            x = torch.tensor([[1.0 + at, rank], [-1.0, 2.0 + at], [0.5 * at, 0.25]])
            if at % 3 == 2:
                with net.no_sync():
                    net(x).square().sum().backward()
            net(x).square().sum().backward()
            optimizer.step()
    return rounded([*net.state_dict().values(), *[p.grad for p in net.parameters()]])


@case
def joined(torch, rank, world):
    hooks = rooms(torch, "algorithms.ddp_comm_hooks.default_hooks")
    ways = {}, {"divide_by_initial_world_size": False}, {"find_unused_parameters": True}, {"hook": hooks.allreduce_hook}
    return quietly(lambda: [uneven(torch, rank, world, **way) for way in ways])


@case
def joined_evenly(torch, rank, world):
    """Steps of as many, with the `Join` turned off or ready to end all; and where it does end them."""
    def run():
        nets = [torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1)) for _ in range(2)]
        for net in nets:
            torch.nn.init.ones_(net.module.weight)
        found = []
        for net, kwargs in zip(nets, ({"enable": False}, {"throw_on_early_termination": True}), strict=True):
            with net.join(**kwargs):
                for _ in range(2 if net is nets[0] else 3):
                    net(torch.full((1, 1), rank + 1.0)).sum().backward()
            found.append(net.module.weight.grad.tolist())
            found.append([net._join_config.enable, net._join_config.is_first_joinable])

        def ended():
            with nets[1].join(throw_on_early_termination=True):
                for _ in range(2 + (rank > 0)):
                    net(torch.ones(1, 1)).sum().backward()
        return [*found, told(ended)] if world > 1 else found
    return quietly(run)


def counter(torch, join):
    """What takes part in a `Join`, as PyTorch's tutorial has it: counts steps over all processes."""
    dist = torch.distributed

    class Hook(join.JoinHook):
        def __init__(self, counted, sync_max_count):
            self.counted, self.sync_max_count = counted, sync_max_count

        def main_hook(self):
            dist.all_reduce(torch.zeros(1))

        def post_hook(self, is_last_joiner):
            self.counted.last = is_last_joiner
            if self.sync_max_count:
                dist.all_reduce(self.counted.count, op=dist.ReduceOp.MAX)

    class Counter(join.Joinable):
        def __init__(self):
            super().__init__()
            self.count, self.last, self.seen = torch.zeros(1), None, []

        def __call__(self):
            self.seen.append(join.Join.notify_join_context(self) is not None)
            one = torch.ones(1)
            dist.all_reduce(one)
            self.count += one

        def join_hook(self, **kwargs):
            return Hook(self, kwargs.get("sync_max_count", False))

        @property
        def join_device(self):
            return torch.device("cpu")

        @property
        def join_process_group(self):
            return dist.group.WORLD

    return Counter


@case
def joined_by_hooks(torch, rank, world):
    join = rooms(torch, "algorithms.join")
    Counter = counter(torch, join)

    def run():
        first, second = Counter(), Counter()
        with join.Join([first, second], sync_max_count=True):
            for _ in range(1 + rank):
                first()
                second()
        found = [first.count.item(), second.count.item(), first.last, first.seen, second.seen]
        other = torch.distributed.new_group(list(range(world)))
        elsewhere = Counter()
        type(elsewhere).join_process_group = property(lambda self: other if self is elsewhere else torch.distributed.group.WORLD)
        found += [told(lambda: join.Join([])), told(lambda: join.Join([first, elsewhere])),
                  told(lambda: join.Join.notify_join_context(3)), told(lambda: join.Joinable()), told(lambda: join.Join([3])),
                  str(join._JoinConfig.construct_disabled_join_config()), join.Join([first]).__enter__()]

        def broken():
            with join.Join([first]):
                raise KeyError("passed on")
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
        found += [type(net.join_hook()).__name__, str(net.join_device), net.join_process_group is first.join_process_group]
        return [*found, told(broken)]
    return quietly(run)


@case
def buffers_of_the_first(torch, rank, world):
    """Buffers are sent at the beginning and before forwards, as two arguments say; the older one is deprecated."""
    found = []
    for kwargs in ({}, {"broadcast_buffers": False}, {"broadcast_buffers": True}, {"forward_sync_buffers": False},
                   {"broadcast_buffers": True, "forward_sync_buffers": False}):
        norm = torch.nn.BatchNorm1d(1)
        norm.running_mean.fill_(rank)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            net = torch.nn.parallel.DistributedDataParallel(norm, **kwargs)
        found.append([[w.category.__name__, str(w.message)] for w in caught])
        found.append([norm.running_mean.item(), net.broadcast_buffers, net.forward_sync_buffers, net.will_sync_module_buffers()])
        norm.running_mean.fill_(rank)
        net.eval()
        with torch.no_grad():
            for _ in range(2):
                net(torch.ones(1, 1))
                found.append([norm.running_mean.item(), net.require_forward_param_sync])
                norm.running_mean.fill_(rank)
    return found
