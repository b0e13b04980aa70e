"""Same seed, same numbers, same text: a convolutional network with dropout, batch norm and a shuffled loader.

    python examples/seeded_cnn.py               # with PyTorch
    python -m jtensor examples/seeded_cnn.py    # with jtensor: the very same output

Weights, dropout masks and the order of the batches all come from one seed. Nothing is copied from one library to the other.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

torch.manual_seed(args.seed)

# ---- data: 1792 pictures of 8 x 8 pixels, a quarter of them kept for the test

data = np.load(Path(__file__).parent / "data" / "digits.npz")
images = torch.from_numpy(data["images"][:1792]).reshape(-1, 1, 8, 8).float() / 16
labels = torch.from_numpy(data["labels"][:1792]).long()
train, test = random_split(TensorDataset(images, labels), [1344, 448])
loader = DataLoader(train, batch_size=64, shuffle=True)

# ---- model, initialised as PyTorch does by default

model = nn.Sequential(
    nn.Conv2d(1, 6, 3, padding=1, bias=False),
    nn.BatchNorm2d(6),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Dropout2d(0.1),
    nn.Flatten(),
    nn.Linear(96, 32),
    nn.ReLU(),
    nn.Dropout(0.25),
    nn.Linear(32, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
print(model)
print(optimizer)
print("first filter", model[0].weight[0, 0])
print("a mask      ", nn.functional.dropout(torch.ones(12), 0.25))

# ---- training

for epoch in range(1, args.epochs + 1):
    total = 0.0
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
        if epoch == 1 and step == 0:
            print("first batch ", y[:16].tolist())
            print(f"first loss   {loss.item():.6f}")
    print(f"epoch {epoch}  loss {total / len(loader):.4f}")

model.eval()
x, y = (torch.stack([test[i][k] for i in range(len(test))]) for k in (0, 1))
with torch.no_grad():
    print(f"test accuracy {(model(x).argmax(1) == y).float().mean().item():.1%}")
