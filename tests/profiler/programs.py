"""Programs whose profiles are compared: ``PROGRAMS``, {name: function of the library that answers a step to be taken twice}."""

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def network(T, optimizer):
    model = T.nn.Sequential(T.nn.Linear(10, 20), T.nn.ReLU(), T.nn.Linear(20, 2))
    opt, x, t = optimizer(model.parameters(), lr=0.1), T.ones(5, 10), T.tensor([0, 1, 0, 1, 0])

    def step():
        opt.zero_grad()
        loss = T.nn.functional.cross_entropy(model(x), t)
        loss.backward()
        opt.step()
        return loss.item()
    return step


@program
def sgd(T):
    return network(T, T.optim.SGD)


@program
def adam(T):
    return network(T, T.optim.Adam)


@program
def images(T):
    model = T.nn.Sequential(T.nn.Conv2d(1, 4, 3), T.nn.BatchNorm2d(4), T.nn.ReLU(), T.nn.MaxPool2d(2), T.nn.Flatten(), T.nn.Dropout(0.5),
                            T.nn.Linear(36, 3))
    x, t = T.ones(2, 1, 8, 8), T.tensor([0, 1])
    return lambda: T.nn.functional.cross_entropy(model(x), t).backward()


@program
def transformer(T):
    layer, x = T.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), T.ones(2, 5, 8)
    return lambda: layer(x).sum().backward()


@program
def attention(T):
    layer, x = T.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), T.ones(2, 5, 8)

    def step():
        with T.no_grad():
            return layer(x)
    return step


@program
def lstm(T):
    layer, x = T.nn.LSTM(6, 5, batch_first=True), T.ones(2, 4, 6)
    return lambda: layer(x)[0].sum().backward()


@program
def embedding(T):
    table, at, wanted = T.nn.Embedding(5, 3), T.tensor([0, 1]), T.zeros(2, 3)
    return lambda: T.nn.functional.mse_loss(table(at), wanted).backward()


@program
def indexing(T):
    x, at = T.arange(24.0).reshape(4, 6), T.tensor([0, 1])
    return lambda: (x[0], x[:, 1:3], x[x > 0], x[at], x[1, 2], x[None], x[..., 0])


@program
def writing(T):
    x, at = T.arange(24.0).reshape(4, 6), T.tensor([0, 1])

    def step():
        y = x.clone()
        y[0] = 1
        y[1:] = x[1:]
        y[at] = x[:2]
        y += 1
        y.mul_(2).sub_(x)
        y.zero_()
    return step


@program
def views(T):
    x = T.arange(24.0).reshape(4, 6)
    return lambda: (x.t(), x.view(-1), x.reshape(3, 8), x.T, x.transpose(0, 1), x.permute(1, 0), x[0].expand(3, 6),
                    x.unsqueeze(0).squeeze(0), x.flatten(), x.t().contiguous(), x.contiguous(), x.chunk(2), x.split(2), x.unbind(),
                    x.detach(), x.data, x.t().reshape(-1))


@program
def reductions(T):
    x = T.arange(24.0).reshape(4, 6)
    return lambda: (x.sum(), x.mean(0), x.max(), x.max(0), x.std(), x.var(0), x.norm(), x.softmax(0), x.argmax(), (x > 3).any(),
                    x.sum().item(), float(x.sum()), bool(x.sum() > 0), x.cumsum(0), x.sort(), x.topk(2))


@program
def arithmetic(T):
    x = T.arange(1.0, 25.0).reshape(4, 6)
    return lambda: (x + 1, x * x, x - x, x / 2, x ** 2, 1 - x, 2 / x, x @ x.t(), x > 0, x == x, -x, abs(x), x // 2, x % 2, x.exp(),
                    T.where(x > 0, x, 0 * x), T.cat([x, x]), T.stack([x, x]), x.clamp(0, 1), x.to(T.int64), x.relu(), x.sigmoid())


@program
def gradients(T):
    a = T.ones(3, requires_grad=True)
    return lambda: ((a * a + a.exp()).sum().backward(), T.autograd.grad((a * a).sum(), a))


@program
def custom(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2
    x = T.ones(3, requires_grad=True)
    return lambda: Double.apply(x).sum().backward()


@program
def loader(T):
    data = [(T.ones(2), n) for n in range(4)]
    loaded = T.utils.data.DataLoader(data, batch_size=2)
    return lambda: list(loaded)


def profile(T, name, **options):
    """The profile of a program's second step."""
    step = PROGRAMS[name](T)
    step()
    with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU], **options) as prof:
        step()
    return prof


def top(prof):
    """The names of the events that lie in no other, and of those in regions and in what the engine does for a node."""
    names = []

    def add(event):
        if not event.name.startswith(("jtensor::compile", "[memory]")):
            names.append(event.name)
            if event.is_user_annotation or event.name.startswith("autograd::"):
                for child in event.cpu_children:
                    add(child)
    for event in prof.events():
        if event.cpu_parent is None:
            add(event)
    return names


def counts(prof):
    return {event.key: event.count for event in prof.key_averages() if event.key not in ("jtensor::compile", "[memory]")}
