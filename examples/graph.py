"""A graph convolution network on the karate club: who goes with whom, told from the friendships alone.

    python examples/graph.py               # with PyTorch
    python -m jtensor examples/graph.py    # with jtensor

The adjacency matrix is sparse, the members are known by learnt vectors whose gradients are sparse, and two of 34 are told apart at first.
"""

import torch
import torch.nn as nn

FRIENDS = """
    1 0  2 0 2 1  3 0 3 1 3 2  4 0  5 0  6 0 6 4 6 5  7 0 7 1 7 2 7 3  8 0 8 2  9 2  10 0 10 4 10 5  11 0  12 0 12 3  13 0 13 1 13 2 13 3
    16 5 16 6  17 0 17 1  19 0 19 1  21 0 21 1  25 23 25 24  27 2 27 23 27 24  28 2  29 23 29 26  30 1 30 8  31 0 31 24 31 25 31 28
    32 2 32 8 32 14 32 15 32 18 32 20 32 22 32 23 32 29 32 30 32 31
    33 8 33 9 33 13 33 14 33 15 33 18 33 19 33 20 33 22 33 23 33 26 33 27 33 28 33 29 33 30 33 31 33 32"""
MEMBERS = 34
WITH_THE_TEACHER = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21}


def adjacency():
    """The friendships of both sides and of each with himself, each divided by the roots of both sides' numbers of friends."""
    pairs = torch.tensor([int(n) for n in FRIENDS.split()]).reshape(-1, 2).t()
    loops = torch.arange(MEMBERS).expand(2, -1)
    indices = torch.cat([pairs, pairs.flip(0), loops], 1)
    graph = torch.sparse_coo_tensor(indices, torch.ones(indices.shape[1]), (MEMBERS, MEMBERS), check_invariants=True).coalesce()
    root = torch.sparse.sum(graph, 1).to_dense().rsqrt()
    rows, columns = graph.indices()
    return torch.sparse_coo_tensor(graph.indices(), root[rows] * root[columns], graph.shape, check_invariants=True, is_coalesced=True)


class Convolution(nn.Module):
    """A mean over friends, of features that a matrix has mixed."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.mixed = nn.Linear(inputs, outputs, bias=False)

    def forward(self, graph, features):
        return torch.spmm(graph, self.mixed(features))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.member = nn.Embedding(MEMBERS, 8, sparse=True)
        self.first, self.second = Convolution(8, 8), Convolution(8, 2)
        self.register_buffer("graph", adjacency())

    def forward(self):
        features = self.member(torch.arange(MEMBERS))
        return self.second(self.graph, torch.relu(self.first(self.graph, features)))


torch.manual_seed(1)
network = Network()
print("graph", tuple(network.graph.shape), network.graph.layout, network.graph._nnz(), "elements")
known, sides = torch.tensor([0, 33]), torch.tensor([0, 1])
weights = [p for name, p in network.named_parameters() if name != "member.weight"]
optimizers = [torch.optim.Adam(weights, lr=0.01), torch.optim.SparseAdam(network.member.parameters(), lr=0.01)]
for step in range(100):
    loss = nn.functional.cross_entropy(network()[known], sides)
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    if step % 20 == 0:
        print(f"step {step:3d}  loss {loss.item():.4f}")
grad = network.member.weight.grad
print("the gradient of the members:", grad.layout, tuple(grad.shape), grad._nnz(), "rows")
told = network().argmax(1).tolist()
right = sum((side == 0) is (member in WITH_THE_TEACHER) for member, side in enumerate(told))
print(f"{right} of {MEMBERS} are told apart")
