"""Two seeded trainings, written once and run by both libraries: the same weights, masks and batches bit for bit, the same printed
losses."""
import hashlib

import numpy as np
import pytest

import jtensor


def mlp(T):
    nn = T.nn
    return nn.Sequential(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))


def cnn(T):
    nn = T.nn
    return nn.Sequential(nn.Conv2d(1, 3, 3, bias=False), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout2d(0.2), nn.Flatten(),
                         nn.Linear(12, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))


SHAPES = {mlp: (12,), cnn: (1, 6, 6)}


def bits(tensor):
    return hashlib.sha256(np.ascontiguousarray(tensor.detach().numpy()).tobytes()).hexdigest()[:16]


def train(T, network, optimizer, epochs=3):
    """(what must be equal bit for bit, the first loss, the text that a script would print)."""
    T.manual_seed(3)
    model = network(T)
    exact = [bits(p) for p in model.parameters()]
    x = T.randn(96, *SHAPES[network])
    y = T.randint(3, (96,))
    train_set, _ = T.utils.data.random_split(T.utils.data.TensorDataset(x, y), [80, 16])
    loader = T.utils.data.DataLoader(train_set, batch_size=16, shuffle=True)
    exact += [bits(x), bits(y), train_set.indices]
    masks = []
    for layer in model:
        if "Dropout" in type(layer).__name__:       # zeros of the output, and only there where the input was none
            layer.register_forward_hook(lambda layer, given, out: masks.append(((out == 0) & (given[0] != 0)).tolist()))
    method = {"sgd": lambda p: T.optim.SGD(p, lr=0.1, momentum=0.9), "adam": lambda p: T.optim.Adam(p, lr=1e-2)}[optimizer]
    method = method(model.parameters())
    text, first = [repr(model), repr(method)], None
    for epoch in range(epochs):
        total = 0.0
        for a, b in loader:
            method.zero_grad()
            loss = T.nn.functional.cross_entropy(model(a), b)
            loss.backward()
            method.step()
            if first is None:
                first, exact = loss.item(), [*exact, bits(a), bits(b), *masks]
            total += loss.item()
        text.append(f"epoch {epoch} loss {total / len(loader):.4f}")
    return exact, first, text


@pytest.mark.parametrize("network, optimizer", [(mlp, "adam"), (cnn, "sgd")], ids=["mlp", "cnn"])
def test_same_weights_masks_batches_and_printed_losses(network, optimizer):
    torch = pytest.importorskip("torch")
    ours, theirs = (train(T, network, optimizer) for T in (jtensor, torch))
    assert ours[0] == theirs[0] and len(ours[0]) > 6
    assert ours[1] == pytest.approx(theirs[1], rel=5e-7)
    assert ours[2] == theirs[2]


def test_another_seed_would_be_seen():
    jtensor.manual_seed(3)
    a = bits(mlp(jtensor)[0].weight)
    jtensor.manual_seed(4)
    assert bits(mlp(jtensor)[0].weight) != a
