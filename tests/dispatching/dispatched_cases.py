"""Programs that a mode below autograd looks at, in PyTorch and in jtensor: ``programs(torch)`` with either gives {name: function}.

``logged(torch, function)``: the operators that it runs, a line each.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
import exported_cases

sys.path.pop(0)


def shown(torch, x):
    """An argument as a line shows it: of tensors what is known without looking at numbers."""
    if isinstance(x, torch.Tensor):
        return f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}{'!' if x.requires_grad else ''}"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(shown(torch, one) for one in x) + "]"
    return f"{x:.6g}" if isinstance(x, float) else str(x).replace("jtensor", "torch")


def logged(torch, function):
    """The operators of a call, with arguments and results; or of one that is refused, its error."""
    from importlib import import_module
    mode = import_module(torch.__name__ + ".utils._python_dispatch").TorchDispatchMode
    lines = []

    class Log(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.namespace == "profiler":                      # of optimizers, whose names go to a profiler there
                return func(*args, **(kwargs or {}))
            given = [shown(torch, one) for one in args] + [f"{key}={shown(torch, one)}" for key, one in (kwargs or {}).items()]
            at = len(lines)
            lines.append(None)
            made = func(*args, **(kwargs or {}))
            lines[at] = f"{func}({', '.join(given)}) -> {shown(torch, made)}"
            return made
    try:
        with Log():
            function()
    except Exception as error:
        lines.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return lines


def _training(torch):
    nn, F = torch.nn, torch.nn.functional
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.25), nn.Linear(4, 2))
    x, target = torch.arange(6.).reshape(2, 3), torch.tensor([0, 1])

    def forward():
        with torch.no_grad():
            net(x)
        return F.cross_entropy(net(x), target)
    return forward


def programs(torch):
    """{name: function without arguments}."""
    nn, F = torch.nn, torch.nn.functional
    found = {}
    cases = exported_cases.functions(torch) | exported_cases.modules(torch, lambda torch, module: module)      # numbers do not show
    for name, (module, args, kwargs) in cases.items():
        found[name] = lambda module=module, args=args, kwargs=kwargs: module(*args, **kwargs)
    found["training"] = _training(torch)

    def leaf(*size):
        count = 1
        for n in size:
            count *= n
        return (torch.arange(float(count)) / count - 0.4).reshape(size).requires_grad_()
    a, b, image = leaf(2, 3), leaf(2, 3), leaf(1, 2, 4, 4)
    where = torch.tensor([[0, 1, 1], [1, 0, 0]])
    for name in ("pointwise", "reduced", "views", "joined", "activations", "losses", "chosen", "operators", "cast", "indices", "images"):
        function = exported_cases.functions(torch)[name][0].forward.__closure__[0].cell_contents
        given = {1: (image,) if name == "images" else (a,), 2: (a, b)}[function.__code__.co_argcount]
        found[name + "_with_gradient"] = lambda function=function, given=given: function(*given)
    found |= {
        "products_with_gradient": lambda: (a @ b.t(), torch.einsum("ij,kj->ik", a, b), torch.addmm(a[:, :2], a, b.t()), a.matmul(b[0]),
                                           (a[None] @ b.t()[None]), F.linear(a[None], b), torch.dot(a[0], b[1]), torch.outer(a[0], b[0])),
        "written_with_gradient": lambda: (a * 1).add_(b).mul_(b).sigmoid_().clamp_(0.1).pow_(2).exp_().sub_(1, alpha=2).div_(a),
        "masked_with_gradient": lambda: ((a * 2).masked_fill_(where > 0, 0.), torch.where(where > 0, a, b), a.gather(1, where),
                                         a[where[0]], a.index_select(0, where[0])),
        "set_items_with_gradient": lambda: [(y := a * 1).__setitem__(0, 1.0), y.__setitem__((slice(None), 1), b[:, 0]),
                                            y.__setitem__(where[0], b[0])],
        "outs": lambda: (torch.add(a.detach(), 1, out=torch.empty(2, 3)), torch.mm(a.detach(), b.detach().t(), out=torch.empty(2, 2)),
                         torch.sum(a.detach(), 1, out=torch.empty(2)), torch.exp(a.detach(), out=torch.empty(0))),
        "made_here": lambda: (torch.zeros(2), torch.ones(2, dtype=torch.int64), torch.empty(2, 3).normal_(0, 2), torch.rand(3),
                              torch.randn(2, 2), torch.randint(5, (2,)), torch.randint(1, 5, (2,)), torch.randperm(4), torch.arange(3.),
                              torch.linspace(0, 1, 3), torch.full((2,), 3.), torch.eye(2), torch.tensor([1, 2]), torch.zeros_like(a),
                              torch.rand_like(a), torch.empty(2).uniform_(-1, 1), a.new_zeros(2, 2), torch.empty(3).bernoulli_(0.3),
                              torch.empty(2).exponential_(), torch.normal(a.detach(), 1.0), torch.multinomial(torch.ones(3), 2),
                              nn.init.kaiming_uniform_(torch.empty(3, 3)), nn.Linear(2, 2), nn.init.zeros_(nn.Parameter(torch.ones(2)))),
        "numbers_looked_at": lambda: (a.sum().item(), bool((a > 0).any()), float(a[0, 0]), int(where[0, 0]), a[where[0, 0]]),
        "copies": lambda: (a.clone(), a.detach(), a.data, a.detach().copy_(b.detach()), a.contiguous(), a.t().contiguous(), a.to(a.dtype),
                           a.double(), torch.zeros(3).copy_(torch.ones(1)), a.detach().zero_(), a.detach().fill_(2)),
        "attention_with_gradient": lambda: (F.scaled_dot_product_attention(image, image, image), F.softmax(image, -1) @ image),
        "autocast": lambda: _cast(torch, a, b),
        "optimizer": lambda: _stepped(torch, torch.optim.SGD, lr=0.1, momentum=0.9),
        "adam": lambda: _stepped(torch, torch.optim.Adam, lr=0.1),
    }
    return found


def _cast(torch, a, b):
    with torch.autocast("cpu", torch.bfloat16):
        return a @ b.t(), torch.nn.functional.linear(a, b), torch.nn.functional.softmax(a, 1), torch.mm(a, b.t()).sum()


def _stepped(torch, kind, **options):
    weights = torch.nn.Parameter(torch.ones(2, 2))
    weights.grad = torch.full((2, 2), 0.5)
    optimizer = kind([weights], **options)
    optimizer.step()
    optimizer.step()
    optimizer.zero_grad()

