"""Nested tensors on a GPU are made of tensors there; only the offsets are looked at on the host."""
import warnings

import jtensor
from jtensor import nested


def test_a_gpu(gpu):
    data = [[[1., 2.], [3., 4.]], [[5., 6.]]]
    x = nested.nested_tensor([jtensor.tensor(one) for one in data], layout=jtensor.jagged, requires_grad=True).cuda()
    assert x.device.type == x.offsets().device.type == "cuda"
    weight = jtensor.ones(3, 2, device=gpu, requires_grad=True)
    out = jtensor.nn.functional.linear(x * 2, weight)
    assert out.to_padded_tensor(0.).tolist() == [[[6.] * 3, [14.] * 3], [[22.] * 3, [0.] * 3]]
    out.sum(1).sum().backward()
    assert weight.grad.tolist() == [[18., 24.]] * 3 and weight.grad.is_cuda
    assert x.cpu().unbind()[1].tolist() == data[1]


def test_the_other_layout(gpu):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                      # it is a prototype
        x = nested.nested_tensor([jtensor.ones(2, 3, device=gpu), jtensor.ones(1, 3, device=gpu)], requires_grad=True)
    y = (x @ x.transpose(1, 2)).to_padded_tensor(0.)
    y.sum().backward()
    assert y.is_cuda and x.grad.is_cuda and x.grad.unbind()[0].tolist() == [[4.] * 3] * 2
