"""Modules that several processes train, and gradients through what they do together, written once for both libraries. See `process`."""
import importlib
import warnings

from registry import case, told


@case
def trained(torch, rank, world):
    """A net of which a part is used by some processes in some steps, with sums of two backward passes."""
    nn, functional = torch.nn, torch.nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.last, self.seldom = nn.Linear(20, 32), nn.BatchNorm1d(32), nn.Linear(32, 10), nn.Linear(3, 3)

        def forward(self, x, seldom=False):
            made = self.last(functional.relu(self.norm(self.first(x))))
            return made + self.seldom(x[:, :3]).sum() if seldom else made

    torch.manual_seed(rank)                     # so that they begin alike only if the first process's numbers are sent
    net = nn.parallel.DistributedDataParallel(Net(), find_unused_parameters=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    data = torch.utils.data.TensorDataset(torch.arange(96 * 20).reshape(96, 20).float().sin(), torch.arange(96) % 10)
    sampler, found = torch.utils.data.DistributedSampler(data), []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for at, (x, y) in enumerate(torch.utils.data.DataLoader(data, batch_size=8, sampler=sampler)):
            optimizer.zero_grad()
            if at % 3 == 0:
                with net.no_sync():
                    functional.cross_entropy(net(x, seldom=rank == 0 and at == 0), y).backward()
            loss = functional.cross_entropy(net(x, seldom=(at + rank) % 2 == 0 and at > 2), y)
            loss.backward()
            optimizer.step()
            found.append(f"{loss.item():.4f}")
    return [found, list(net.state_dict()), f"{sum(p.double().sum().item() for p in net.parameters()):.4f}",
            f"{net.module.norm.running_mean.sum().item():.4f}", net.module.norm.num_batches_tracked.item()]


@case
def left_out(torch, rank, world):
    """Parameters without a gradient are refused by the next forward, where they were not announced."""
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]))
    net.module.forward = lambda x: net.module[0](x)
    net(torch.ones(1, 2)).sum().backward()
    return [told(lambda: net(torch.ones(1, 2))), told(lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.ReLU())),
            told(lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2), device_ids=[0]))]


@case
def with_a_hook(torch, rank, world):
    """A function of one's own for the gradients."""
    net, seen = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2)), []

    def hook(state, bucket):
        seen.append([bucket.index(), bucket.is_last(), list(bucket.buffer().shape), [list(g.shape) for g in bucket.gradients()]])
        work = torch.distributed.all_reduce(bucket.buffer(), async_op=True)
        return work.get_future().then(lambda done: done.value()[0] * state)
    net.register_comm_hook(10, hook)
    (net(torch.ones(1, 3)) * (rank + 1)).sum().backward()
    return [net.module.weight.grad.tolist(), net.module.bias.grad.tolist(), seen]


@case
def with_ready_hooks(torch, rank, world):
    hooks, found = importlib.import_module(torch.__name__ + ".distributed.algorithms.ddp_comm_hooks.default_hooks"), []
    for hook in (hooks.allreduce_hook, hooks.fp16_compress_hook, hooks.fp16_compress_wrapper(hooks.allreduce_hook)):
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
        net.register_comm_hook(None, hook)
        (net(torch.full((1, 3), 0.7)) * (rank + 1)).sum().backward()
        found.append([str(net.module.weight.grad.dtype), net.module.weight.grad.tolist()])
    return found


@case
def hooks_by_name(torch, rank, world):
    """What is registered by a short name, and what is no hook."""
    rooms = importlib.import_module(torch.__name__ + ".distributed.algorithms.ddp_comm_hooks")
    found, Future = [list(rooms.DDPCommHookType.__members__)], torch.futures.Future
    for kind in ("ALLREDUCE", "FP16_COMPRESS", "NOOP"):
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
        rooms.register_ddp_comm_hook(getattr(rooms.DDPCommHookType, kind), net)
        (net(torch.full((1, 3), 0.7)) * (rank + 1)).sum().backward()
        found += [net.module.weight.grad.tolist(), told(lambda net=net: net.register_comm_hook(None, lambda state, bucket: None))]
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))

    def of_another_bucket(state, bucket: int):
        pass

    def of_no_future(state, bucket) -> torch.Tensor:
        pass

    def annotated(state, bucket: torch.distributed.GradBucket) -> Future[torch.Tensor]:
        pass
    for hook in (3, lambda state: None, lambda bucket, state: None, of_another_bucket, of_no_future, annotated):
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
        found.append(told(lambda net=net, hook=hook: net.register_comm_hook(None, hook)))
    return found


@case
def gradients_through(torch, rank, world):
    functions = importlib.import_module(torch.__name__ + ".distributed.nn")
    t, found = torch.full((2,), rank + 1.0, requires_grad=True), []

    def asked(loss, *more):
        loss.backward()
        found.append([t.grad.tolist(), *more])
        t.grad = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        summed = functions.all_reduce(t * 2)
        asked((summed * torch.tensor([1.0, rank])).sum(), summed.tolist())
        parts = functions.all_gather(t * 1)
        asked(sum((part * (at + rank)).sum() for at, part in enumerate(parts)), [part.tolist() for part in parts])
        sent = functions.broadcast(t * 1, 0)
        asked((sent * (rank + 1)).sum(), sent.tolist())
        part = functions.reduce_scatter(torch.zeros(2), [t * at for at in range(world)])
        asked((part * (rank + 1)).sum(), part.tolist())
        parts = functions.all_to_all([torch.zeros(2) for _ in range(world)], [t * at for at in range(world)])
        asked(sum((part * (at + 1 + rank)).sum() for at, part in enumerate(parts)), [part.tolist() for part in parts])
    return found


@case
def as_libraries_ask(torch, rank, world):
    """What lightning and others ask of a wrapped module, and of groups, in ways of their own."""
    nn, dist = torch.nn, torch.distributed
    torch.manual_seed(0)
    net = nn.parallel.DistributedDataParallel(nn.Linear(3, 2))
    found = [net._get_ddp_logging_data().get("can_set_static_graph"), len(dist.distributed_c10d._pg_map), dist._rank_not_in_group(None)]
    net.require_backward_grad_sync = False                      # as lightning's manual optimization calls it
    loss = net(torch.full((1, 3), float(rank))).sum()
    net.require_backward_grad_sync = True
    found.append(net.reducer._rebuild_buckets())
    net.reducer.prepare_for_backward([])
    loss.backward()
    found.append([p.grad.tolist() for p in net.parameters()])
    layer = nn.SyncBatchNorm(2)
    found += [told(lambda: layer(torch.ones(3, 2))), told(lambda: nn.parallel.DistributedDataParallel(layer))]
    return found


@case
def statistics_of_all(torch, rank, world):
    """Batch normalisation over all processes: refused on a CPU in training, after the batch was counted; else each process's own."""
    nn = torch.nn
    plain = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3, momentum=None, bias=False), nn.ModuleList([nn.BatchNorm2d(2, affine=False)]))
    plain[1].qconfig = "kept"
    net = nn.SyncBatchNorm.convert_sync_batchnorm(plain, torch.distributed.group.WORLD)
    x, norm = torch.tensor([[-1.0, 1.0], [1.0, -1.0]]), net[1]
    found = [repr(net), list(net.state_dict()), norm.qconfig, norm.weight is plain[1].weight, norm.process_group is plain[0]]
    found += [told(lambda: norm(net[0](x))), norm.num_batches_tracked.item(), norm.running_mean.tolist()]
    found += [norm.eval()(torch.ones(2, 3)).tolist(), told(lambda: norm(torch.ones(3))), told(lambda: norm(torch.ones(2, 0)))]
    free = nn.SyncBatchNorm(2, track_running_stats=False)
    found += [told(lambda: free(x)), free.eval()(x).tolist()]
    norm.train().num_batches_tracked = None
    return [*found, told(lambda: norm(torch.ones(2, 3)))]
