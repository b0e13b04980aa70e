"""Steps of small networks on a device, by either library: the figures of `docs/speed.md`, "On a GPU".

    python tests/cuda/steps.py LIBRARY CASE [DEVICE]

LIBRARY: jtensor or torch. CASE: mlp, mlp8, cnn, gpt, or lengths (a small GPT whose batches all have other lengths, then tokens without a
cache). DEVICE: cuda unless said. One JSON line: milliseconds of the first steps, and of a step later on, each looked at or every eighth.
``JTENSOR_CACHE=0`` is a first start; `XLA_PYTHON_CLIENT_PREALLOCATE=false` leaves memory to another process.
"""
import importlib
import json
import sys
import time

import numpy as np

LIBRARY, CASE, DEVICE = (*sys.argv[1:], "cuda")[:3]
torch = importlib.import_module(LIBRARY)
nn, F = torch.nn, torch.nn.functional
torch.backends.cudnn.allow_tf32 = False                 # the one kind of product that may use it by default
torch.manual_seed(0)
RNG = np.random.default_rng(0)
FIRST, LATER, TURNS, TOKENS = 5, 40, 5, 12
SIZES = {"mlp": (784, 784, 784, 784, 10), "mlp8": (784, *[256] * 8, 10)}


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).reshape(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class Gpt(nn.Module):
    def __init__(self, width, layers, words, length):
        super().__init__()
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks, self.head = nn.Sequential(*[Block(width) for _ in range(layers)]), nn.Linear(width, words)

    def forward(self, words):
        return self.head(self.blocks(self.word(words) + self.place(torch.arange(words.shape[1], device=words.device))))


def pictures():
    """A model of a classifier, its optimizer and (a function of the step's number that answers) a batch."""
    shape, many = ((3, 32, 32), 128) if CASE == "cnn" else ((784,), 64)
    if CASE == "cnn":
        layers = []
        for before, after in ((3, 32), (32, 64)):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
        layers += [nn.Flatten(), nn.Linear(64 * 64, 10)]
    else:
        layers = [layer for sizes in zip(SIZES[CASE], SIZES[CASE][1:], strict=False) for layer in (nn.Linear(*sizes), nn.ReLU())][:-1]
    model = nn.Sequential(*layers).to(DEVICE)
    made = torch.optim.Adam(model.parameters()) if CASE == "mlp8" else torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x = torch.tensor(RNG.normal(size=(many, *shape)).astype(np.float32)).to(DEVICE)
    y = torch.tensor(RNG.integers(0, 10, many)).to(DEVICE)
    return model, made, lambda at: (x, y)


def sentences():
    """The same of a language model, whose batches come from NumPy."""
    width, layers, words, length = (256, 4, 512, 256) if CASE == "gpt" else (64, 2, 100, 128)
    model = Gpt(width, layers, words, length).to(DEVICE)

    def batch(at):
        drawn = torch.tensor(RNG.integers(0, words, (8, 129 if CASE == "gpt" else 20 + 37 * at % 71))).to(DEVICE)
        return drawn[:, :-1], drawn[:, 1:].reshape(-1)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3), batch


def timed(job, times=1):
    """Milliseconds of one of so many calls."""
    begin = time.perf_counter()
    for at in range(times):
        job(at)
    return (time.perf_counter() - begin) / times * 1e3


def main():
    model, optimizer, batch = pictures() if CASE in SIZES or CASE == "cnn" else sentences()

    def step(at):
        x, y = batch(at)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).reshape(len(y), -1), y)
        loss.backward()
        optimizer.step()
        return loss

    def every_eighth(at):
        loss = step(at)
        if at % 8 == 7:
            loss.item()
    said = {"library": LIBRARY, "case": CASE, "first": [round(timed(lambda _, at=at: step(at).item()), 1) for at in range(FIRST)]}
    if CASE == "lengths":
        said["later"] = [round(timed(lambda _, at=at: step(at).item()), 1) for at in range(FIRST, 2 * FIRST)]
        words = [torch.tensor(RNG.integers(0, 100, (1, 4))).to(DEVICE)]

        def token(at):
            with torch.no_grad():
                words[0] = torch.cat([words[0], model(words[0])[:, -1:].argmax(-1)], 1)
                words[0][0, -1].item()
        said["tokens"] = [round(timed(token), 1) for _ in range(TOKENS)]
    else:
        timed(lambda at: step(at).item(), LATER)
        turns = [(timed(lambda at: step(at).item(), LATER), timed(every_eighth, LATER)) for _ in range(TURNS)]
        said["looked at"], said["free"] = (round(min(turn), 3) for turn in zip(*turns, strict=True))
    print(json.dumps(said))


if __name__ == "__main__":
    main()
