"""Heat spreading in a plate, computed in place: slices are read and written where they are.

    python examples/heat.py               # with PyTorch
    python -m jtensor examples/heat.py    # with jtensor
"""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=32)
parser.add_argument("--steps", type=int, default=200)
args = parser.parse_args()
n = args.size

plate = torch.zeros(n, n)
plate[0] = 100.0  # a hot edge above ...
plate[-1, n // 4 : -(n // 4)] = 60.0  # ... a warm stretch below, the other edges stay cold
edges = plate.clone()

# Views of the one tensor: the inner points and their four neighbours.
inner = plate[1:-1, 1:-1]
north, south = plate[:-2, 1:-1], plate[2:, 1:-1]
west, east = plate[1:-1, :-2], plate[1:-1, 2:]


def draw(field):
    shades = " .:-=+*#%@"
    step = max(1, len(field) // 16)
    for row in field[::step, ::step]:
        print("".join(shades[min(int(v / 10), 9)] * 2 for v in row.tolist()).rstrip())


for step in range(1, args.steps + 1):
    inner += 0.2 * (north + south + west + east - 4 * inner)
    if step == args.steps // 4:
        plate[n // 2, n // 2 :] = 0  # a cold rod is laid across one half
    if step % (args.steps // 4) == 0:
        print(f"step {step:4d}  mean {plate.mean().item():.4f}  centre {plate[n // 2, n // 4].item():.4f}  version {plate._version}")

assert torch.equal(plate[0], edges[0]) and torch.equal(plate[:, 0], edges[:, 0])
draw(plate)
print("column in the middle:", plate[:: n // 8, n // 4])

# The same in red-black order (Gauss-Seidel): every second point, written through a mask.
field = edges.clone()
rows, columns = torch.arange(n).unsqueeze(1), torch.arange(n)
red = ((rows + columns) % 2 == 0)[1:-1, 1:-1]
centre = field[1:-1, 1:-1]
for _ in range(20):
    for colour in (red, ~red):
        average = (field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]) / 4
        centre[colour] = average[colour]
print(f"red-black: mean {field.mean().item():.4f}")
