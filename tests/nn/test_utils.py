"""Clipping, flattening, packed sequences, weight normalisation."""
import pytest

import jtensor

from .both import close, raised, same, warned


def _with_grads(torch):
    params = [torch.nn.Parameter(torch.arange(1., 5.)), torch.nn.Parameter(torch.ones(2, 2)), torch.nn.Parameter(torch.ones(1))]
    for p in params[:2]:
        p.grad = p.detach() * 3
    return params


def test_clipping():
    def program(torch):
        utils, answers = torch.nn.utils, []
        for clip in (lambda p: utils.clip_grad_norm_(p, 1.), lambda p: utils.clip_grad_norm_(p, 100., norm_type=1),
                     lambda p: utils.clip_grad_norm_(iter(p), 2., norm_type=float("inf")), lambda p: utils.clip_grad_value_(p, 4.),
                     lambda p: utils.get_total_norm([q.grad for q in p[:2]])):
            params = _with_grads(torch)
            answers += [clip(params), [p.grad for p in params]]
        params = _with_grads(torch)
        params[0].grad[0] = float("nan")
        return answers + [raised(lambda: utils.clip_grad_norm_(params, 1., error_if_nonfinite=True)),
                          warned(lambda: utils.clip_grad_norm_((p for p in []), 1.))]

    close(program)


def test_one_vector():
    def program(torch):
        params = [torch.nn.Parameter(torch.arange(4.).reshape(2, 2)), torch.nn.Parameter(torch.ones(3))]
        vector = torch.nn.utils.parameters_to_vector(params)
        torch.nn.utils.vector_to_parameters(vector.detach() * 2, params)
        return [vector, params, raised(lambda: torch.nn.utils.vector_to_parameters(3, params))]

    same(program)


def test_packed_sequences():
    def program(torch):
        rnn, x = torch.nn.utils.rnn, torch.arange(24.).reshape(3, 4, 2)
        packed = rnn.pack_padded_sequence(x, [1, 3, 2, 3], enforce_sorted=False)
        again = rnn.pack_padded_sequence(x.transpose(0, 1), torch.tensor([3, 2, 2, 1]), batch_first=True)
        return [list(packed), list(again), rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1., total_length=4),
                rnn.pad_sequence([torch.ones(2), torch.ones(3)], padding_side="left"), rnn.unpack_sequence(again),
                rnn.invert_permutation(torch.tensor([2, 0, 1])), packed.double().data.dtype is torch.float64,
                [raised(f) for f in (lambda: rnn.pack_padded_sequence(x, [1, 2, 3, 3]), lambda: rnn.pack_padded_sequence(x, [3, 2]),
                                     lambda: rnn.pack_padded_sequence(x, [3, 2, 1, 0]), lambda: rnn.pack_padded_sequence(x, [3, 0, 2, 1]),
                                     lambda: rnn.pack_padded_sequence(x, [3, 0, 2, 1], enforce_sorted=False), lambda: rnn.pad_sequence(3),
                                     lambda: rnn.pad_sequence([torch.ones(2), [1]]), lambda: rnn.pad_sequence([torch.tensor(1.)]),
                                     lambda: rnn.pad_packed_sequence(packed, total_length=1))]]

    same(program)


def test_weight_norm():
    def program(torch):
        layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
        layer(torch.ones(1, 2)).sum().backward()
        answers = [list(layer.state_dict()), layer.weight_g.grad, layer.weight_v.grad, layer.weight]
        torch.nn.utils.remove_weight_norm(layer)
        return answers + [list(layer.state_dict()), raised(lambda: torch.nn.utils.remove_weight_norm(layer))]

    close(program)


def test_a_normalised_weight_is_one_operator():
    def program(torch):
        answers = []
        for shape, dim in (((3, 2), 0), ((3, 2), 1), ((2, 3, 2), 1), ((3, 2), None)):
            v = torch.arange(1., 1 + 2 * 3 * (len(shape) - 1)).reshape(shape).requires_grad_()
            layer = torch.nn.Module()
            layer.weight = torch.nn.Parameter(v.detach())
            torch.nn.utils.parametrizations.weight_norm(layer, dim=dim)
            parts = list(layer.parameters())
            weight = layer.weight
            answers += [weight, weight.grad_fn.name(), *torch.autograd.grad((weight * v.detach()).sin().sum(), parts)]
        return answers

    close(program)


def test_spectral_norm_reads_states_from_before_it_kept_both_vectors():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    theirs = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))
    theirs(torch.ones(1, 2))
    theirs.eval()
    expected = theirs(torch.ones(1, 2))
    state = {name: jtensor.from_numpy(value.numpy()) for name, value in theirs.state_dict().items() if name != "weight_v"}
    ours = jtensor.nn.utils.spectral_norm(jtensor.nn.Linear(2, 3)).eval()
    ours.load_state_dict({**state, "weight": jtensor.from_numpy(theirs.weight.detach().numpy())})
    assert ours(jtensor.ones(1, 2)).tolist()[0] == pytest.approx(expected.tolist()[0], rel=1e-5)
    refused = {}
    for library, layer in (torch, torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))), (jtensor, ours):
        with pytest.raises(RuntimeError) as told:
            layer.load_state_dict({"bias": library.zeros(3)})
        refused[library.__name__] = str(told.value)
    assert refused["jtensor"] == refused["torch"]
    jtensor.nn.utils.remove_spectral_norm(ours)
    assert str(ours.load_state_dict(ours.state_dict())) == "<All keys matched successfully>"


def test_unpadded_sequences_lie_by_themselves():
    def program(torch):
        found = torch.nn.utils.rnn.unpad_sequence(torch.arange(6.0).reshape(3, 2), torch.tensor([3, 1]))
        return found, [sequence.stride() for sequence in found]

    same(program)
