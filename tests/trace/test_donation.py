"""Inputs that a program writes over: only those that nobody else has, and nothing is lost if it is interrupted."""

import jax
import numpy as np
import pytest

import jtensor as torch
from jtensor.trace import donation, executor

pytestmark = pytest.mark.usefixtures("a_new_tape")

SIZE = 5000                                                         # large enough that a copy would be another buffer


def steps(x, count=4, look=lambda: None):
    """Overwrites a tensor step by step, as an optimizer does."""
    for _ in range(count):
        x.mul_(0.5)
        x.add_(1.0)
        executor.flush("test")
        look()
    return x


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("at", range(1, 9))
def test_an_interrupt_behind_a_program_that_wrote_over_its_inputs_loses_nothing(monkeypatch, at, looks):
    """Python runs a signal's handler behind the call of XLA: it raises, or looks at a parameter."""
    def trained(interrupted):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(4, 300), torch.nn.Tanh(), torch.nn.Linear(300, 2))
        optimizer, x, stage, calls = torch.optim.Adam(net.parameters()), torch.ones(3, 4), donation.Run.stage, []

        def step():
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.item()

        def run(self, executable, arrays):
            made = stage(self, executable, arrays)
            calls.append(1)
            if len(calls) == at:
                if not looks:
                    raise KeyboardInterrupt
                seen.append([p.tolist() for p in net.parameters()])
            return made
        for _ in range(5):
            step()
        seen, done = [], 0
        if interrupted:
            with monkeypatch.context() as patch:
                patch.setattr(donation.Run, "stage", run)
                while done < 12:
                    try:
                        before = [int(optimizer.state[p]["step"]) for p in net.parameters()]
                        step()
                    except KeyboardInterrupt:
                        [p.tolist() for p in net.parameters()]
                        assert [int(optimizer.state[p]["step"]) - n for p, n in zip(net.parameters(), before, strict=True)] in (
                            [0] * 4, [1] * 4)
                    done = int(optimizer.state[net[0].weight]["step"]) - 5
            assert len(calls) >= at and len(seen) == looks
        else:
            for _ in range(12):
                step()
        return [p.tolist() for p in net.parameters()]
    assert trained(True) == trained(False)


def expected(start, count=4):
    for _ in range(count):
        start = start * np.float32(0.5) + np.float32(1)
    return start


def test_a_rebound_storage_is_overwritten_in_place(monkeypatch):
    monkeypatch.setattr(executor.tape.Local, "threads", 1)          # while another thread has a tape, nothing is donated
    before = torch.report().donated
    x = steps(torch.rand(SIZE).clone(), 6)
    assert torch.report().donated >= before + 3 * SIZE * 4
    assert x.shape == (SIZE,)


def test_donation_never_harms_an_alias():
    start = np.linspace(-3, 3, SIZE, dtype=np.float32)
    x = torch.from_numpy(start.copy()).clone()
    steps(x)                                                        # the programs are there, and they donate
    x.copy_(torch.from_numpy(start))
    executor.flush("test")
    kept = {}

    def look():
        k = len(kept)
        kept[k] = [x.jax(), x.clone(), x * 1.0, np.asarray(x.jax()), x.detach().clone().numpy()][k % 5]
    steps(x, 10, look)
    for k, old in kept.items():
        np.testing.assert_array_equal(np.asarray(old), expected(start, k + 1))
    np.testing.assert_array_equal(np.asarray(x.jax()), expected(start, 10))


def test_a_value_saved_for_backward_is_not_given_away():
    w = torch.rand(SIZE, requires_grad=True)
    for _ in range(3):
        y = (w * w).sum()
        executor.flush("test")
        with torch.no_grad():
            w.data.mul_(0.5).add_(1)                                # unseen by versions, as in PyTorch
        executor.flush("test")
        w.grad = None
        y.backward()
        np.testing.assert_array_equal(w.grad.numpy(), 2 * w.detach().numpy())


def test_a_jax_array_that_came_in_is_never_overwritten():
    array = jax.numpy.arange(SIZE, dtype="float32")
    x = torch.from_jax(array)
    steps(x, 4)
    np.testing.assert_array_equal(np.asarray(array), np.arange(SIZE, dtype=np.float32))
