"""A classifier of handwritten digits: a small network, SGD with momentum, minibatches in random order.

    python examples/digits.py               # with PyTorch
    python -m jtensor examples/digits.py    # with jtensor
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

torch.manual_seed(args.seed)

# ---- data: 1797 pictures of 8 x 8 pixels, a fifth of them kept for the test

data = np.load(Path(__file__).parent / "data" / "digits.npz")
images = torch.from_numpy(data["images"]).reshape(-1, 64).float() / 16
labels = torch.from_numpy(data["labels"]).long()

order = torch.randperm(len(images))
train, test = order[360:], order[:360]
x_train, y_train = images[train], labels[train]
x_test, y_test = images[test], labels[test]

# ---- model

model = nn.Sequential(
    nn.Linear(64, 128),
    nn.ReLU(),
    nn.Linear(128, 64),
    nn.ReLU(inplace=True),
    nn.Linear(64, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)

print(model)
print("parameters:", sum(p.numel() for p in model.parameters()))


def accuracy(x, y):
    model.eval()
    with torch.no_grad():
        predicted = model(x).argmax(dim=1)
    model.train()
    return (predicted == y).float().mean().item()


# ---- training

for epoch in range(1, args.epochs + 1):
    total = torch.zeros(())
    for batch in torch.randperm(len(x_train)).split(args.batch):
        optimizer.zero_grad()
        loss = criterion(model(x_train[batch]), y_train[batch])
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(batch)
    if epoch <= 3 or epoch % 5 == 0 or epoch == args.epochs:
        print(f"epoch {epoch:2d}  loss {total.item() / len(x_train):.4f}  test accuracy {accuracy(x_test, y_test):.1%}")

# ---- what is still wrong

confusion = torch.zeros(10, 10, dtype=torch.int64)
with torch.no_grad():
    for truth, guess in zip(y_test.tolist(), model(x_test).argmax(1).tolist()):
        confusion[truth, guess] += 1
print("rows: the digit, columns: what the network says")
print(confusion)
print(f"test accuracy {confusion.diagonal().sum().item() / len(y_test):.1%}")
