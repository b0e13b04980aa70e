"""Recurrent layers as one operator: gradients of both orders and names are PyTorch's, and no bit depends on how the tape ran."""
import pytest

import jtensor

from .both import close, raised, same

KINDS = [("LSTM", {}), ("GRU", {"bias": False}), ("RNN", {}), ("RNN", {"nonlinearity": "relu"}), ("LSTM", {"bidirectional": True})]
NAMES = [" ".join([kind, *settings]) for kind, settings in KINDS]


def _states(torch, kind, settings, n, size, dtype):
    shape = 1 + ("bidirectional" in settings), n, size
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for _ in range(1 + (kind == "LSTM"))]


@pytest.mark.parametrize(("kind", "settings"), KINDS, ids=NAMES)
def test_gradients_of_both_orders(kind, settings):
    def program(torch):
        net = getattr(torch.nn, kind)(3, 5, batch_first=kind == "LSTM", dtype=torch.float64, **settings)
        x, states = torch.randn(2, 2, 3, dtype=torch.float64, requires_grad=True), _states(torch, kind, settings, 2, 5, torch.float64)
        output, last = net(x, tuple(states) if kind == "LSTM" else states[0])
        last = last if kind == "LSTM" else (last,)
        loss = (output * torch.arange(output.numel(), dtype=output.dtype).reshape(output.shape)).sum() + sum((s * s).sum() for s in last)
        inputs = [x, *states, *net.parameters()]
        grads = torch.autograd.grad(loss, inputs, create_graph=True)
        return [output, *last, *grads, *torch.autograd.grad(sum((g * g).sum() for g in grads), inputs)]

    close(program, rtol=1e-9, atol=1e-12)


def test_what_the_graph_shows():
    def program(torch):
        shown = []
        for kind in ("LSTM", "GRU", "RNN"):
            output, last = getattr(torch.nn, kind)(3, 4, 2)(torch.ones(2, 2, 3))
            shown += [type(t.grad_fn).__name__ for t in (output, *(last if kind == "LSTM" else (last,)))]
        return shown

    close(program)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize(("kind", "settings"), KINDS[:3], ids=NAMES[:3])
def test_no_bit_depends_on_how_the_tape_ran(kind, settings, steps, afresh):
    def train(look):
        jtensor.manual_seed(3)
        net, x = getattr(jtensor.nn, kind)(8, 16, **settings), jtensor.randn(steps, 5, 8)
        states = [s.detach() for s in _states(jtensor, kind, settings, 5, 16, jtensor.float32)]
        for _ in range(3):
            output, last = net(x * 1.5 + 0.25, tuple(states) if kind == "LSTM" else states[0])
            if look:
                output.tolist()
            loss = (output * output + output).exp().sum() + sum((s * 0.5).sum() for s in (last if kind == "LSTM" else (last,)))
            net.zero_grad()
            loss.backward()
            if look:
                [p.grad.tolist() for p in net.parameters()]
            with jtensor.no_grad():
                for p in net.parameters():
                    p -= 0.1 * p.grad
        return [loss.item(), [p.tolist() for p in net.parameters()], [p.grad.tolist() for p in net.parameters()]]

    with jtensor.eager():
        wanted = train(False)
    assert train(True) == wanted and train(False) == wanted and train(False) == wanted


@pytest.mark.parametrize("batch_first, lengths", [(False, [1, 3]), (True, [2, 1, 2])])
def test_packing_is_one_node(batch_first, lengths):
    def program(torch):
        padded = torch.arange(12.0).reshape(3, 2, 2).requires_grad_()
        packed = torch.nn.utils.rnn.pack_padded_sequence(padded, lengths, batch_first, enforce_sorted=False)
        (packed.data ** 2).sum().backward()
        return [packed.data, packed.batch_sizes, packed.data.grad_fn.name(), packed.data.stride(), padded.grad]

    same(program)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("lengths", [[9, 3], [5, 5], [5, 4], [6, 1]])
def test_lengths_beyond_the_input_are_believed(kind, lengths):
    def program(torch):
        utils = torch.nn.utils.rnn
        packed = utils.pack_padded_sequence(torch.arange(24.0).reshape(2, 4, 3), lengths, batch_first=True)
        net = getattr(torch.nn, kind)(3, 2, num_layers=2, bidirectional=True)
        return [packed.data, packed.batch_sizes, raised(lambda: net(packed)), raised(lambda: utils.pad_packed_sequence(packed))]

    same(program)


def test_rows_beyond_the_steps_are_left_out():
    def program(torch):
        utils = torch.nn.utils.rnn
        return utils.pad_packed_sequence(utils.PackedSequence(torch.arange(20.0).reshape(10, 2), torch.tensor([2, 2, 1])))

    same(program)


def test_outputs_by_batches_are_transposed_in_place_but_of_an_lstm():
    def program(torch):
        answers = []
        for kind in ("RNN", "GRU", "LSTM"):
            x = torch.ones(1, 2, 2, requires_grad=True)
            output, hidden = getattr(torch.nn, kind)(2, 3, batch_first=True)(x)
            output.sum().backward()
            answers.append((output.grad_fn.name(), output.stride(), tuple(x.grad.shape)))
        state = torch.zeros(1, 1, 3)
        return answers, raised(lambda: torch.nn.LSTM(2, 3)(torch.ones(2, 1, 2), (state, state, state)))

    same(program)


@pytest.mark.parametrize(("kind", "settings"), [*KINDS, ("GRU", {"num_layers": 2, "bidirectional": True})], ids=[*NAMES, "GRU twice"])
def test_packed_sequences(kind, settings):
    """Of samples that end at other steps, in both directions: outputs, last states, names, gradients."""
    def program(torch):
        net = getattr(torch.nn, kind)(3, 5, dtype=torch.float64, **settings)
        seqs = [torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (4, 1, 9, 4, 2)]
        shape = settings.get("num_layers", 1) * (1 + ("bidirectional" in settings)), len(seqs), 5
        states = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for _ in range(1 + (kind == "LSTM"))]
        packed = torch.nn.utils.rnn.pack_sequence(seqs, enforce_sorted=False)
        output, last = net(packed, tuple(states) if kind == "LSTM" else states[0])
        last = last if kind == "LSTM" else (last,)
        padded, lengths = torch.nn.utils.rnn.pad_packed_sequence(output, batch_first=True)
        (padded.sin().sum() + sum((s * s).sum() for s in last)).backward()
        grads = [x.grad for x in (*seqs, *states, *net.parameters())]
        return [output.data, type(output.data.grad_fn).__name__, padded, lengths, *last, *grads]

    close(program, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_packed_sequences_as_one_operator_are_those_of_single_steps(kind, monkeypatch):
    from jtensor.nn.functional import recurrent
    found = []
    for one in (True, False):
        if not one:
            monkeypatch.setattr(recurrent, "_packed_layer", lambda *args: None)
        jtensor.manual_seed(1)
        net = getattr(jtensor.nn, kind)(2, 4, bidirectional=True)
        packed = jtensor.nn.utils.rnn.pack_sequence([jtensor.randn(n, 2) for n in (3, 17, 8)], enforce_sorted=False)
        output, last = net(packed)
        loss = output.data.cos().sum() + sum(s.sum() for s in last)
        loss.backward()
        found.append([output.data, loss, *[p.grad for p in net.parameters()]])
    for a, b in zip(*found, strict=True):
        assert jtensor.allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("value", [0.0, -1.5, float("nan")])
def test_sequences_that_are_there_are_padded_as_others(side, value, monkeypatch):
    from jtensor.nn.utils import rnn
    found = []
    for there in (True, False):
        if not there:
            monkeypatch.setattr(rnn, "elements_of", lambda tensors: None)
        x = jtensor.arange(60.0).reshape(20, 3)
        for seqs in ([x[:4], x[7:9], x[3:15:4]], [x.t()[:2], x.t()[1:]], [x[:4].bfloat16(), x[:1].bfloat16()], [x[:2], x[3:5].double()]):
            [s.tolist() for s in seqs]
            for batch_first in (False, True):
                made = jtensor.nn.utils.rnn.pad_sequence(seqs, batch_first, value, side)
                found.append((made.dtype, made.stride(), str(made.tolist())))
    half = len(found) // 2
    assert found[:half] == found[half:]
