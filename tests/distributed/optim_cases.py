"""Optimizers of several processes, written once for both libraries. See `process`."""
import warnings

from registry import case, told
from uneven_cases import quietly, rooms, rounded


def net_of(torch, seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2), torch.nn.Linear(2, 1, bias=False))


def readable(found):
    """A state dict as text."""
    state = {number: {name: f"{one.double().sum().item():.4f} {list(one.shape)}" if hasattr(one, "shape") else one
                      for name, one in values.items()} if values else values for number, values in found["state"].items()}
    return [str(state), str([{name: group[name] for name in ("lr", "params")} for group in found["param_groups"]]),
            [len(group) for group in found["param_groups"]]]


def of_processes(torch, rank, net, kind, steps=2, **kwargs):
    ZeRO = rooms(torch, "optim").ZeroRedundancyOptimizer
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = ZeRO(ddp.parameters(), kind, **kwargs)
    for at in range(steps):
        optimizer.zero_grad()
        ddp(torch.tensor([[1.0, rank, at], [0.5, -1.0, rank]])).square().sum().backward()
        optimizer.step()
    return optimizer


@case
def spread_state(torch, rank, world):
    found = []
    for kind, kwargs in ((torch.optim.Adam, {"lr": 0.01}), (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
                         (torch.optim.AdamW, {"lr": 0.01, "parameters_as_bucket_view": True})):
        net = net_of(torch)
        optimizer = of_processes(torch, rank, net, kind, **kwargs)
        found += [rounded(net.parameters()), repr(optimizer).splitlines()[0], len(optimizer.state), len(optimizer.optim.state)]
        found.append([[[list(p.shape) for p in group["params"]] for group in groups] for groups in optimizer._partition_parameters()])
        found.append([optimizer.rank, optimizer.world_size, optimizer.global_rank, str(optimizer.join_device), optimizer.initialized])
        found.append(told(optimizer.state_dict))
        optimizer.consolidate_state_dict(to=world - 1)
        found.append(readable(optimizer.state_dict()) if rank == world - 1 else told(optimizer.state_dict))
        saved = [optimizer.state_dict() if rank == world - 1 else None]
        torch.distributed.broadcast_object_list(saved, world - 1)
        again_net = net_of(torch)
        again_net.load_state_dict(net.state_dict())
        again = of_processes(torch, rank, again_net, kind, steps=0, **{**kwargs, "lr": 9.0})
        again.load_state_dict(saved[0])
        found += [sorted(number for number, one in saved[0]["state"].items() if one is None), again.param_groups[0]["lr"],
                  again.optim.param_groups[0]["lr"], len(again.state)]
        for each in (net, again_net):
            each(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        again.step()
        found.append(all(bool((p == q).all()) for p, q in zip(net.parameters(), again_net.parameters(), strict=True)) or kind.__name__)
    return found


@case
def spread_groups(torch, rank, world):
    """Options of groups, a group that is added, what is frozen later, what a closure gives."""
    ZeRO = rooms(torch, "optim").ZeroRedundancyOptimizer
    net = net_of(torch)
    optimizer = ZeRO([{"params": list(net[0].parameters())}, {"params": list(net[2].parameters()), "lr": 0.5}], torch.optim.SGD, lr=0.1,
                     parameters_as_bucket_view=True)
    optimizer.add_param_group({"params": net[3].parameters(), "lr": 0.25})
    found = [[group["lr"] for group in optimizer.optim.param_groups], [len(group["params"]) for group in optimizer.optim.param_groups]]
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)

    def closure():
        optimizer.zero_grad()
        loss = net(torch.ones(1, 3)).sum()
        loss.backward()
        return loss
    found.append(f"{optimizer.step(closure).item():.4f}")
    scheduler.step()
    net[2].weight.requires_grad_(False)
    optimizer.step(closure)
    optimizer.consolidate_state_dict()
    found += [[group["lr"] for group in optimizer.optim.param_groups], rounded(net.parameters()),
              readable(optimizer.state_dict()) if rank == 0 else None]
    weight = net[0].weight
    for refused in (lambda: ZeRO(weight, torch.optim.SGD), lambda: ZeRO(3, torch.optim.SGD), lambda: ZeRO([], torch.optim.SGD),
                    lambda: ZeRO([weight, {"params": [weight]}], torch.optim.SGD), lambda: ZeRO([{"lr": 1}], torch.optim.SGD),
                    lambda: ZeRO([weight, torch.nn.Parameter(torch.ones(1, dtype=torch.float64))], torch.optim.SGD),
                    lambda: ZeRO([weight], torch.optim.SGD, lr=-1.0), lambda: optimizer.add_param_group({"params": [weight]}),
                    lambda: ZeRO([weight], torch.optim.SGD, nonsense=1)):
        found.append(told(refused))
    return found


@case
def spread_state_joined(torch, rank, world):
    """A module and its optimizer in a `Join`, by uneven inputs."""
    ZeRO, join = rooms(torch, "optim").ZeroRedundancyOptimizer, rooms(torch, "algorithms.join")
    net = net_of(torch)
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = ZeRO(ddp.parameters(), torch.optim.Adam, lr=0.01)

    def run():
        with join.Join([ddp, optimizer]):
            for at in range(1 + rank):
                optimizer.zero_grad()
                ddp(torch.tensor([[1.0, rank, at]])).square().sum().backward()
                optimizer.step()
        return [rounded(net.parameters()), type(optimizer.join_hook()).__name__, told(lambda: type(optimizer.join_hook())(3))]
    return quietly(run)


@case
def averaged_now_and_then(torch, rank, world):
    averagers, hooks = rooms(torch, "algorithms.model_averaging.averagers", "algorithms.ddp_comm_hooks.post_localSGD_hook")
    utils, found = rooms(torch, "algorithms.model_averaging.utils"), []
    groups = [torch.distributed.new_group([member]) for member in range(world)]
    for allreduce in (True, False):
        net = net_of(torch)
        ddp = torch.nn.parallel.DistributedDataParallel(net)
        state = hooks.PostLocalSGDState(None, groups[rank], start_localSGD_iter=2, post_local_gradient_allreduce=allreduce)
        ddp.register_comm_hook(state, hooks.post_localSGD_hook)
        averager = averagers.PeriodicModelAverager(period=2, warmup_steps=2)
        optimizer = rooms(torch, "optim").PostLocalSGDOptimizer(torch.optim.SGD(net.parameters(), lr=0.1), averager)
        for at in range(4):
            optimizer.zero_grad()
            ddp(torch.tensor([[1.0, rank, at]])).square().sum().backward()
            optimizer.step()
            found.append(rounded(net.parameters()))
        saved = optimizer.state_dict()
        found += [state.iter, averager.step, repr(optimizer).splitlines()[0], sorted(saved), saved["step"], len(optimizer.state)]
        del saved["step"]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            optimizer.load_state_dict(saved)
            averagers.PeriodicModelAverager(1)
        found += [averager.step, [str(one.message) for one in caught]]
    lone = torch.nn.Parameter(torch.full((2,), float(rank)))
    found.append(len(utils.get_params_to_average([lone])))
    lone.grad = torch.ones(2)
    utils.average_parameters_or_parameter_groups([{"params": [lone]}], torch.distributed.group.WORLD)
    found.append(lone.tolist())
    for refused in (lambda: averagers.PeriodicModelAverager(0), lambda: averagers.PeriodicModelAverager(2, -1),
                    lambda: averagers.ModelAverager(), lambda: utils.get_params_to_average([3])):
        found.append(told(refused))
    return found
