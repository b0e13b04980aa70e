"""Conway's game of life on a torus, in place: one board, written through views, slices and masks.

    python examples/life.py               # with PyTorch
    python -m jtensor examples/life.py    # with jtensor
"""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=20)
parser.add_argument("--generations", type=int, default=40)
args = parser.parse_args()
n = args.size

glider = torch.tensor([[0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=torch.uint8)
board = torch.zeros(n, n, dtype=torch.uint8)
board[1:4, 1:4] = glider
board[1:4, -5:-2] = glider.flip(1)
board[n // 2, n // 2 - 1 : n // 2 + 2] = 1  # a blinker

neighbours = torch.empty_like(board)


def generation():
    neighbours.zero_()
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            if (down, right) != (0, 0):
                neighbours.add_(board.roll((down, right), dims=(0, 1)))
    born = (board == 0) & (neighbours == 3)
    dies = (board == 1) & ((neighbours < 2) | (neighbours > 3))
    board[born] = 1
    board.masked_fill_(dies, 0)
    return born.sum().item(), dies.sum().item()


def draw():
    for row in board.tolist():
        print("".join(" #"[cell] for cell in row).rstrip() or ".")


draw()
for step in range(1, args.generations + 1):
    born, died = generation()
    if step % 10 == 0:
        print(f"generation {step}: {board.sum().item()} alive, {born} born, {died} died")
draw()
print("rows alive:", board.sum(dim=1))
print("dtype and version:", board.dtype, board._version)
