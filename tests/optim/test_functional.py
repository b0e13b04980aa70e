"""The methods as functions of lists: the same arithmetic as the classes', PyTorch's signatures and refusals."""
import inspect

import numpy as np
import pytest

import jtensor

from ..nn.both import close, raised, same

# name: (the options of the class, the lists of states by their names in the class's state, the function's options)
BETAS = {"beta1": .8, "beta2": .95}
ADAM = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step")
FUNCTIONS = {
    "sgd": ("SGD", ("momentum_buffer",), {"lr": .1, "momentum": .9, "dampening": .1, "weight_decay": .01, "nesterov": False}),
    "adam": ("Adam", ADAM, {"lr": .05, **BETAS, "eps": 1e-6, "weight_decay": .1, "amsgrad": True}),
    "adamw": ("AdamW", ADAM, {"lr": .05, **BETAS, "eps": 1e-6, "weight_decay": .1, "amsgrad": True}),
    "adagrad": ("Adagrad", ("sum", "step"), {"lr": .1, "lr_decay": .1, "weight_decay": .1, "eps": 1e-6}),
    "adadelta": ("Adadelta", ("square_avg", "acc_delta", "step"), {"lr": 1., "rho": .8, "eps": 1e-6, "weight_decay": .1}),
    "adamax": ("Adamax", ("exp_avg", "exp_inf", "step"), {"lr": .05, **BETAS, "eps": 1e-6, "weight_decay": .1}),
    "asgd": ("ASGD", ("ax", "mu", "eta", "step"), {"lr": .05, "lambd": .1, "alpha": .7, "t0": 2, "weight_decay": .1}),
    "nadam": ("NAdam", ("exp_avg", "exp_avg_sq", "mu_product", "step"),
              {"lr": .05, **BETAS, "eps": 1e-6, "weight_decay": .1, "momentum_decay": .01}),
    "radam": ("RAdam", ("exp_avg", "exp_avg_sq", "step"), {"lr": .05, **BETAS, "eps": 1e-6, "weight_decay": .1}),
    "rmsprop": ("RMSprop", ("square_avg", "grad_avg", "momentum_buffer", "step"),
                {"lr": .05, "alpha": .9, "eps": 1e-6, "weight_decay": .1, "momentum": .5, "centered": True}),
    "rprop": ("Rprop", ("prev", "step_size", "step"),
              {"step_size_min": 1e-5, "step_size_max": 10., "etaminus": .4, "etaplus": 1.3}),
}


def _function(torch, name):
    return getattr(__import__(f"{torch.__name__}.optim.{name}", fromlist=[name]), name)


def _tensors(torch, seed, shapes=((3, 2), (2,))):
    rng = np.random.default_rng(seed)
    return [torch.tensor(rng.standard_normal(shape).astype("f4")) for shape in shapes]


def _states(torch, names, params):
    """New states: all that the classes begin with."""
    first = {"mu": 1., "mu_product": 1., "eta": .05}
    return [[None for _ in params] if name == "momentum_buffer" and len(names) == 1 else
            [torch.tensor(first.get(name, 0.)) for _ in params] if name in ("step", *first) else
            [torch.full_like(p, .05 if name == "step_size" else 0.) for p in params] for name in names]


def _options(name, **changes):
    """The function's options; ``maximize`` is keyword-only with some, an option with a default with others: both take it by name."""
    return {**FUNCTIONS[name][2], "maximize": False, **changes}


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_trajectory_as_pytorch_has_it(name, maximize):
    def program(torch):
        params, found = _tensors(torch, 0), []
        states = _states(torch, FUNCTIONS[name][1], params)
        for seed in range(1, 8):
            answer = _function(torch, name)(params, _tensors(torch, seed), *states, **_options(name, maximize=maximize))
            found.append([answer, [p.clone() for p in params], [[t.clone() for t in ts] for ts in states]])
        return found

    close(program, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_as_the_class(name):
    cls, names, options = FUNCTIONS[name]
    params, others = _tensors(jtensor, 0), [jtensor.nn.Parameter(p) for p in _tensors(jtensor, 0)]
    states = _states(jtensor, names, params)
    own = {"betas": (options.get("beta1"), options.get("beta2")), "etas": (options.get("etaminus"), options.get("etaplus")),
           "step_sizes": (options.get("step_size_min"), options.get("step_size_max")), "lr": .05, **options}
    known = inspect.signature(getattr(jtensor.optim, cls)).parameters
    optimizer = getattr(jtensor.optim, cls)(others, **{k: v for k, v in own.items() if k in known})
    for seed in range(1, 8):
        _function(jtensor, name)(params, _tensors(jtensor, seed), *states, **_options(name))
        for p, grad in zip(others, _tensors(jtensor, seed), strict=True):
            p.grad = grad
        optimizer.step()
        for i, (a, b) in enumerate(zip(params, others, strict=True)):
            np.testing.assert_array_equal(a.numpy().view("u4"), b.detach().numpy().view("u4"))
            for entry, values in zip(names, states, strict=True):
                np.testing.assert_array_equal(values[i].numpy().view("u4"), optimizer.state[b][entry].numpy().view("u4"), entry)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signature(name):
    def program(torch):
        return [(p.name, p.kind.name, p.default if p.default is not p.empty else "none")
                for p in inspect.signature(_function(torch, name)).parameters.values()]

    same(program)


def test_functional_has_them_all():
    def program(torch):
        functional = __import__(f"{torch.__name__}.optim._functional", fromlist=["adam"])
        return [getattr(functional, name) is _function(torch, name) for name in FUNCTIONS]

    same(program)


def test_sparse_adam():
    def program(torch):
        functional = __import__(f"{torch.__name__}.optim._functional", fromlist=["adam"])
        params, means, squares = ([f(3, 2) for _ in range(2)] for f in (torch.ones, torch.zeros, torch.zeros))
        steps = [0, 0]
        for k in range(1, 4):
            grads = [torch.sparse_coo_tensor([[0, 2, 0]], [[1., 2.], [3., -4.], [k, 2.]], (3, 2)),
                     torch.sparse_coo_tensor(torch.zeros(1, 0, dtype=torch.int64), torch.zeros(0, 2), (3, 2))]
            functional.sparse_adam(params, grads, means, squares, [k, k], eps=1e-6, beta1=.8, beta2=.9, lr=.1, maximize=k == 2)
        return params, means, squares, steps

    close(program)


def test_sparse_adams_counts_stay_plain_numbers_in_a_pickle():
    def program(torch):
        import pickle
        table = torch.nn.Embedding.from_pretrained(torch.ones(3, 2), freeze=False, sparse=True)
        table(torch.tensor([2])).sum().backward()
        optimizer = torch.optim.SparseAdam(table.parameters(), lr=.5)
        optimizer.step()
        again = pickle.loads(pickle.dumps(optimizer))
        return [state["step"] for state in again.state.values()]

    same(program)


def test_sgd_begins_its_buffers_in_the_list():
    def program(torch):
        params, buffers, grads = _tensors(torch, 0), [None, None], _tensors(torch, 1)
        options = _options("sgd", nesterov=True, dampening=0)
        _function(torch, "sgd")(params, grads, buffers, **options)
        kept = [b is g for b, g in zip(buffers, grads, strict=True)]
        buffers[0] = None
        _function(torch, "sgd")(params, grads, buffers, **options)
        _function(torch, "sgd")(params, grads, [], **_options("sgd", momentum=0, dampening=0))
        return kept, params, buffers

    close(program)


def test_what_is_not_looked_at_may_be_empty():
    def program(torch):
        params, grads = _tensors(torch, 0), _tensors(torch, 1)
        steps = [torch.tensor(0.) for _ in params]

        def zeros():
            return [torch.zeros_like(p) for p in params]

        _function(torch, "adam")(params, grads, zeros(), zeros(), [], steps, **_options("adam", amsgrad=False))
        _function(torch, "rmsprop")(params, grads, zeros(), [], [], steps, **_options("rmsprop", momentum=0, centered=False))
        return params, steps

    close(program)


def test_complex_and_a_rate_that_is_a_tensor():
    def program(torch):
        p, g = torch.tensor([1 + 2j, -3j]), torch.tensor([.5 - 1j, 2 + 1j])
        states = [[torch.zeros_like(p)] for _ in range(2)]
        steps = [torch.tensor(3.)]
        _function(torch, "adam")([p], [g], *states, [], steps, **_options("adam", amsgrad=False, lr=torch.tensor(.1)), has_complex=True)
        return torch.view_as_real(p), torch.view_as_real(states[0][0]), steps

    close(program)


def test_fused_divides_by_the_scale_and_skips_what_is_not_finite():
    def program(torch):
        params, grads, steps = _tensors(torch, 0), _tensors(torch, 1), [torch.tensor(2.), torch.tensor(2.)]
        states = [[torch.zeros_like(p) for p in params] for _ in range(2)]
        options = _options("adam", amsgrad=False)
        for bad in (0., 1.):
            _function(torch, "adam")(params, grads, *states, [], steps, fused=True, grad_scale=torch.tensor(4.),
                                     found_inf=torch.tensor(bad), **options)
        return params, grads, states, steps

    close(program)


def test_refusals():
    def program(torch):
        p, g, z = _tensors(torch, 0), _tensors(torch, 1), _tensors(torch, 2)
        steps = [torch.tensor(0.), torch.tensor(0.)]
        leaf = [torch.nn.Parameter(x) for x in _tensors(torch, 0)]

        def call(name, *lists, **changes):
            return raised(lambda: _function(torch, name)(*lists, **_options(name, **changes)))

        return [
            call("adam", p, g, z, z, z, [0, 1]), call("adagrad", p, g, z, [0, 1]), call("adadelta", p, g, z, z, [0, 1]),
            call("adamax", p, g, z, z, [0, 1]), call("nadam", p, g, z, z, steps, [0, 1]), call("nadam", p, g, z, z, [1, 1], steps),
            call("radam", p, g, z, z, [0, 1]), call("rmsprop", p, g, z, z, z, [0, 1]), call("rprop", p, g, z, z, [0, 1]),
            call("sgd", p, g, [None, None], grad_scale=torch.ones(1)), call("adam", p, g, z, z, z, steps, found_inf=torch.ones(1)),
            call("adagrad", p, g, z, steps, grad_scale=torch.ones(1)),
            call("adam", p, g, z, z, z, steps, capturable=True), call("asgd", p, g, z, steps, steps, steps, capturable=True),
            call("nadam", p, g, z, z, steps, steps, capturable=True), call("rprop", p, g, z, z, steps, capturable=True),
            call("adam", p, g, z, z, z, steps, fused=True, differentiable=True),
            call("adagrad", p, g, z, steps, fused=True, differentiable=True),
            call("adagrad", p, g, z, steps, fused=True, has_sparse_grad=True),
            call("sgd", p, g, [None, None], fused=True, has_sparse_grad=True),
            call("adam", p, g, z, z, z, steps, foreach=True, lr=torch.tensor(.1)),
            call("radam", p, g, z, z, steps, foreach=True, differentiable=True),
            call("sgd", leaf, g, [None, None]), call("adam", p, g, [], z, z, steps), call("adam", [], [], [], [], [], []),
            raised(lambda: _function(torch, "sgd")(p, g, [])),
        ]

    same(program)


def test_steps_like_others_come_in_one_piece():
    params, states = _tensors(jtensor, 0), _states(jtensor, ADAM, _tensors(jtensor, 0))
    grads, before = _tensors(jtensor, 1), jtensor.report().replayed
    for _ in range(12):
        with jtensor.no_grad():
            _function(jtensor, "adam")(params, grads, *states, **_options("adam"))
        params[0].tolist()
    assert jtensor.report().replayed > before
