"""Functions and modules to be traced, by PyTorch and by jtensor: ``cases(torch)`` with either of them."""
import math


def functions(torch):
    """{name: (function, inputs)}; PyTorch writes the same program of each."""
    F = torch.nn.functional
    x, i = torch.arange(6.).reshape(2, 3) / 3 - 0.7, torch.tensor([[0, 1, 1]])
    kept = torch.tensor([1., 2., 3.])

    def written(x):
        x = x.clone()
        x[0] = 1
        x[:, 2:] = x[:, :1]
        x[x > 1] = 0.
        x[0, 0] = 2
        return x

    def sized(x):
        n, m = x.shape
        y = x.view(n, m, 1).expand(n, m, 4)
        return y.reshape(x.size(0) * x.size(1), -1), torch.zeros(x.shape) + torch.arange(x.shape[1])

    def summed(x):
        for row in x:
            x = x + row
        return x
    return {
        "three": (lambda x, y: torch.relu(x @ y + 1) * 2.5, (x, x.t())),
        "numbers": (lambda x: 1 - (x + 1 + 1 - 2 * x) / 2, (x,)),
        "operators": (lambda x: (x**2, 2**x, x // 2, x % 2, x == 1, x > x, -x, abs(x), ~x.bool(), x & x if x.dtype is torch.bool else x,
                                 3 - x), (x,)),
        "constants": (lambda x: (x + kept, x * kept), (x,)),
        "indices": (lambda x: (x[0, 1], x[:, 1:], x[..., None], x[None], x[x > 0], x[-1], x[:, i[0]], x[::2, 0]), (x,)),
        "written": (written, (x,)),
        "reductions": (lambda x: (x.sum(), x.sum(1), x.mean(dim=1, keepdim=True), x.max(), x.max(1)[0], x.std(), x.argmax(1), x.norm(),
                                  x.var(1, unbiased=False), x.min(), torch.prod(x), x.amax((0, 1))), (x,)),
        "pair": (lambda x: torch.max(x, 1), (x,)),
        "factories": (lambda x: torch.zeros(2, 3) + torch.arange(3) + x.new_zeros(3) + torch.ones_like(x) + torch.full((3,), 2.), (x,)),
        "types": (lambda x: x.float().to(torch.float64).long().type_as(x).half().to(torch.float32), (x,)),
        "sizes": (sized, (x,)),
        "shapes": (lambda x: x.permute(1, 0).transpose(0, 1).contiguous().T.unsqueeze(0).squeeze(0).squeeze(), (x,)),
        "lists": (lambda x: (torch.cat([x, x], 1).chunk(2, 1)[1], torch.stack((x, x)).split(1), x.unbind(0)[1]), (x,)),
        "einsum": (lambda x: torch.einsum("ij,kj->ik", x, x) / math.sqrt(3), (x,)),
        "summed": (summed, (x,)),
        "in_place": (lambda x: x.add(0).add_(1).mul_(2), (x,)),
        "masked": (lambda x: F.softmax(x, -1).masked_fill(x > 0, float("-inf")), (x,)),
        "clamped": (lambda x: (x.clamp(min=0).clamp(0, 1), torch.where(x > 0, x, -x)), (x,)),
        "nested": (lambda x, y: y[0][0] + y[1]["a"] * x, (x, ((x, x), {"a": x}))),
        "rest": (lambda *x: x[0] + x[1], (x, x)),
        "empty": (lambda x: (), (x,)),
        "unused": (lambda x: (x * 2, x)[1], (x,)),
        "detached": (lambda x: x + x.detach(), (x,)),
        "losses": (lambda x: (F.mse_loss(x, x * 2), F.cross_entropy(x, i[0][:2]), F.smooth_l1_loss(x, x, reduction="sum"),
                              F.binary_cross_entropy_with_logits(x, x)), (x,)),
        "activations": (lambda x: (F.gelu(x), F.silu(x), F.elu(x), F.leaky_relu(x, 0.2), F.hardtanh(x), F.relu6(x), F.softplus(x),
                                   torch.sigmoid(x), torch.tanh(x), F.hardswish(x), F.mish(x), F.selu(x), F.glu(x[:, :2])), (x,)),
        "linalg": (lambda x: (torch.linalg.norm(x), x @ x.mT, torch.bmm(x[None], x[None].mT), torch.linalg.vector_norm(x, dim=1)), (x,)),
        "padded": (lambda x: (F.pad(x, (1, 1)), torch.cumsum(x, 1), torch.flip(x, [1]), torch.tril(x)), (x,)),
        "seldom": (lambda x: (1 / (x + 3), torch.unique(x), torch.unique(x, return_counts=True), F.adaptive_max_pool1d(x, 1),
                              F.adaptive_max_pool2d(x[None], (1, 1), return_indices=True)) if torch._assert(x.sum() > -9, "no") is None
                   else None, (x,)),
        "sorted": (lambda x: (torch.topk(x, 2)[0], torch.sort(x, 1, descending=True)[1], torch.gather(x, 1, i[:, :1])), (x,)),
    }


def modules(torch):
    """{name: (module, inputs)}."""
    nn, F = torch.nn, torch.nn.functional

    class MLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.drop, self.unused = nn.Linear(3, 4), nn.Linear(4, 2), nn.Dropout(0.5), nn.Linear(1, 1)
            self.register_buffer("shift", torch.ones(2))
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, x):
            h = F.relu(self.a(x))
            h = self.drop(h)
            h = self.b(h)
            return h.view(h.size(0), -1) + self.shift, (h, self.scale * self.shift)

    class CNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.seq = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout())
            self.fc = nn.Linear(36, 10)

        def forward(self, x):
            x = self.seq(x)
            x = torch.flatten(x, 1)
            x = self.fc(x)
            x = x + self.fc(x[:, :1].expand(-1, 36))
            return F.log_softmax(x, dim=1)

    class Block(nn.Module):
        """A block of a transformer."""

        def __init__(self, width=8, heads=2):
            super().__init__()
            self.norm1, self.norm2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))
            self.register_buffer("mask", torch.tril(torch.ones(8, 8)))

        def attend(self, x):
            batch, length, width = x.shape
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            q = q.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            k = k.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            v = v.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            scores = q @ k.transpose(-2, -1) / math.sqrt(4)
            scores = scores.masked_fill(self.mask[:length, :length] == 0, float("-inf"))
            y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(batch, length, width)
            return self.out(y)

        def forward(self, x):
            x = x + self.attend(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class Language(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.places = nn.Embedding(20, 8), nn.Embedding(8, 8)
            self.blocks = nn.ModuleList([Block() for _ in range(2)])
            self.head = nn.Linear(8, 20, bias=False)

        def forward(self, tokens):
            x = self.embed(tokens) + self.places(torch.arange(tokens.size(1)))
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    class Basic(nn.Module):
        def __init__(self, inside, width, stride=1):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(inside, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
            self.relu = nn.ReLU(inplace=True)
            self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
            self.downsample = None
            if stride != 1:
                self.downsample = nn.Sequential(nn.Conv2d(inside, width, 1, stride, bias=False), nn.BatchNorm2d(width))

        def forward(self, x):
            identity = x
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if self.downsample is not None:
                identity = self.downsample(x)
            out += identity
            return self.relu(out)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1, self.relu = nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            self.layer1, self.layer2 = nn.Sequential(Basic(4, 4), Basic(4, 4)), nn.Sequential(Basic(4, 8, 2), Basic(8, 8))
            self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(8, 5)

        def forward(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer2(self.layer1(x))
            x = torch.flatten(self.avgpool(x), 1)
            return self.fc(x)

    class Several(nn.Module):
        def forward(self, x, y=None):
            self.kept = x * 3
            return x + 1, x * 2, x / 2

    class Outer(nn.Module):
        """Calls whose results are used in another order, or not at all; what a part has kept; parameters of parts."""

        def __init__(self):
            super().__init__()
            self.a, self.q = Several(), nn.Sequential(Several())
            self.layers, self.e = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)]), nn.Linear(3, 3)
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x):
            p, q, _ = self.a(x)
            _, v, _ = self.q(x * self.w)
            y = q + p + self.a.kept
            for layer in self.layers:
                y = torch.relu(layer(y))
            z = y @ self.layers[0].weight + self.layers[1].weight[0] + self.e.bias
            return self.e(z) + self.layers[0](x), v - 1

    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))
    torch.manual_seed(0)
    x = torch.arange(6.).reshape(2, 3) / 3
    made = {}
    for name, build, given in (
            ("linear", lambda: nn.Linear(3, 2), (x,)), ("mlp", lambda: MLP().eval(), (x,)),
            ("cnn", lambda: CNN().eval(), (torch.rand(2, 1, 8, 8),)), ("lstm", lambda: nn.LSTM(3, 4), (torch.rand(5, 2, 3),)),
            ("gru", lambda: nn.GRU(3, 4, batch_first=True, num_layers=2), (torch.rand(2, 5, 3),)),
            ("block", Block, (torch.rand(2, 5, 8),)), ("language", Language, (torch.tensor([[1, 2, 3], [4, 5, 6]]),)),
            ("resnet", lambda: ResNet().eval(), (torch.rand(2, 3, 16, 16),)), ("outer", Outer, (x,)), ("tied", Tied, (x,)),
            ("norms", lambda: nn.Sequential(nn.Conv1d(3, 4, 2, padding=1), nn.GroupNorm(2, 4), nn.ConvTranspose1d(4, 4, 2), nn.PReLU(),
                                            nn.AvgPool1d(2), nn.Flatten(), nn.Linear(8, 2), nn.Softmax(1)), (torch.rand(2, 3, 2),))):
        torch.manual_seed(3)
        made[name] = build(), given
    return made
