"""`DataParallel` where there is one device or none: the module itself, its parameters under ``module.``."""
from .both import close, raised


def test_data_parallel():
    def program(torch):
        torch.manual_seed(0)
        inner = torch.nn.Linear(3, 2)
        outer = torch.nn.DataParallel(inner, device_ids=[0])
        x = torch.arange(6.0).view(2, 3)
        outer(x).sum().backward()
        return [outer(x), outer(input=x), sorted(outer.state_dict()), outer.device_ids, str(outer), outer.module is inner,
                inner.weight.grad, raised(lambda: torch.nn.parallel.data_parallel(inner, x))]

    close(program)
