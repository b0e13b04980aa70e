"""`torch.func`'s gradients of functions, against live PyTorch: values, nests, histories and refusals."""
import importlib
import warnings

import pytest

import jtensor

torch = pytest.importorskip("torch")

CALLS = [
    "f.grad(cube)(x)", "f.grad(f.grad(lambda x: x ** 3))(x[0])", "f.grad_and_value(cube)(x)",
    "f.grad(lambda a, b: (a * b).sum(), argnums=1)(x, x * 2)",
    "f.grad(lambda a, b: (a * b).sum(), argnums=(0, -1))(x, x * 2)", "f.grad(lambda a: ((a * 2).sum(), {'k': a + 1}), has_aux=True)(x)",
    "f.grad(lambda d: (d['b'] * d['a'][0]).sum())({'b': x, 'a': [x]})", "f.grad(lambda x: x.detach().sum())(x)", "f.grad(lambda x: x)(x)",
    "f.grad(lambda x: 1.)(x)", "f.grad(cube)(x.long())", "f.grad(cube, argnums=3)(x)", "f.grad(cube)(3.)",
    "f.grad(lambda x: (x.sum(), 1))(x)",
    "f.grad(cube, has_aux=True)(x)", "f.vjp(lambda x: x * 2, x)[1](x)", "f.vjp(lambda a, b: (a * b, a.sum()), x, x)[1]((x, x[0]))",
    "f.vjp(lambda a: (a, a), x, has_aux=True)[2]", "f.jacrev(lambda x: x ** 2)(x)", "f.hessian(cube)(x)",
    "f.jacrev(lambda a, b: a * b, argnums=(0, 1))(x, x)", "f.jacrev(lambda x: {'a': x * 2, 'b': x.sum()})(x)",
    "f.jacrev(lambda x: (x * 2, x), has_aux=True)(x)", "f.jacrev(lambda x: (x * 2, 3), has_aux=True)(x)", "f.jacrev(lambda x: 1.)(x)",
    "f.jacrev(lambda x: None)(x)", "f.jacrev(lambda x: ())(x)", "f.jacrev(lambda x: (x, 2))(x)", "f.jacrev(lambda x: x.long())(x)",
    "f.vjp(lambda x: x.long(), x)", "f.vjp(lambda x: None, x)", "f.jacrev(cube, argnums='a')(x)", "f.grad(cube, argnums=())(x)",
    "f.grad_and_value(lambda x: (x.sum(), 3), has_aux=True)(x)", "f.hessian(lambda x: 1.)(x)", "f.jvp(lambda x: None, (x,), (x,))",
    "f.functional_call(m, {'weight': w[None]}, (x,), strict=True)", "f.functional_call(m, ({'bias': w}, {'weight': w, 'bias': w}), (x,))",
    "f.grad(lambda x: x.sum() if x.requires_grad else x.sum() * 2)(x)",
    "f.grad(cube)(w)", "f.grad(lambda x: (x * w).sum())(x)", "f.grad(lambda x: (x * w).sum())(w)", "f.vjp(lambda x: x * w, x)[0]",
    "f.grad(lambda a: f.grad(lambda b: (a * b ** 2).sum())(a).sum())(x)", "no_grad(lambda: f.grad(cube)(w))",
    "no_grad(lambda: f.vjp(lambda x: x ** 2, w))[1](x)", "no_grad(lambda: f.vjp(lambda x: x ** 2, w))[0].requires_grad",
    "[no_grad(lambda: pull(x)) for out, pull in [f.vjp(lambda x: x ** 2, w)]]", "f.jacrev(lambda x: looked(x) ** 2, chunk_size=2)(x)",
    "f.jacrev(lambda x: (looked(x) ** 2, x.sum()), chunk_size=1)(x)",
    "f.vjp(lambda x: (x, [x]), x)[1]((x, x))", "f.vjp(lambda x: (x, [x]), x)[1](((x, [x]),))", "f.grad(lambda x: x.sum() * 1j)(x)",
    "f.grad(lambda x: x.sum().long())(x)", "f.grad(cube, argnums=(0, -1))(x)", "f.jacrev(lambda x: x * 1j)(x)",
    "f.jacfwd(lambda x: x * 1j)(x)", "f.jacrev(lambda x: x.real)(x * 1j)", "f.jacfwd(lambda x, y: x)(x, x * 1j)",
    "f.functional_call(m, {'': w}, (x,))",
    "f.functional_call(m, {'in_features': w}, (x,))",
    "f.grad(lambda p: f.functional_call(m, p, (x,)).sum())(dict(m.named_parameters()))",
]


def answer(T, text):
    T.manual_seed(0)

    def no_grad(function):
        with T.no_grad():
            return function()

    def looked(x):
        """The input; in backward somebody looks where the gradient is not zero, which is refused for a batch."""
        x = x.clone()
        if x.requires_grad:
            x.register_hook(lambda grad: grad.nonzero().sum().mul(0) + grad)
        return x
    names = {"looked": looked, "f": importlib.import_module(T.__name__ + ".func"), "x": T.arange(3.0) + 1,
             "cube": lambda x: (x**3).sum(), "no_grad": no_grad,
             "w": T.ones(3, requires_grad=True), "m": T.nn.Linear(3, 1)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)        # PyTorch's forward mode compiles something of its own
            return str(eval(text, names))
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("text", CALLS)
def test_a_call(text):
    assert answer(jtensor, text) == answer(torch, text)


def test_gradients_of_gradients_reach_what_is_outside():
    found = []
    for T in (torch, jtensor):
        y, w = (T.arange(3.0) + 1).requires_grad_(), T.ones(3, requires_grad=True)
        T.func.grad(lambda x, w=w: (x**3 * w).sum())(y).sum().backward()
        found.append((y.grad.tolist(), w.grad.tolist()))
    assert found[0] == found[1]
