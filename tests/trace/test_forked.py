"""Processes that `os.fork` makes, in which XLA's threads are missing: they compute what their parent computes, who goes on afterwards."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

BOTH = """if True:
    import os, sys
    import jtensor as torch

    def child(function):
        "What a child of fork prints, whether it ended well."
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            function()
            sys.stdout.flush()
            sys.exit(0)                                             # which takes down what the process has
        return os.waitpid(pid, 0)[1]
"""
STEPS = BOTH + """
    torch.manual_seed(0)
    x, w = torch.randn(30, 40), torch.randn(40, 20).requires_grad_()
    optimizer = torch.optim.Adam([w], 1e-2)

    def steps(n=2):
        for _ in range(n):
            loss = ((x @ w).tanh() ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item())
        print(torch.fft.fft(w.detach())[0, 1].item(), torch.linalg.svdvals(w.detach())[0].item())      # compiled here for the first time

    pending = x.exp() + 1                                           # recorded, and run by both
    steps(0 if "fresh" in sys.argv else 3)
    kept = [t.clone() for t in (w.detach(), optimizer.state[w]["exp_avg"])] if "fresh" not in sys.argv else []
    print(child(lambda: (steps(), print(pending.sum().item(), *[t.sum().item() for t in kept]))))
    print(child(lambda: print(child(steps))))                       # a child's child
    steps()
    print(pending.sum().item(), *[t.sum().item() for t in kept])
"""


def lines(program, tmp_path, *args):
    """What a program prints that is run with warnings as errors and a cache of its own."""
    found = subprocess.run([sys.executable, "-W", "error", "-c", program, *args], capture_output=True, text=True, timeout=240,
                           env={**os.environ, "JTENSOR_CACHE_DIR": str(tmp_path / "programs")})
    assert found.returncode == 0 and not found.stderr, found.stderr
    return found.stdout.split("\n")[:-1]


@pytest.mark.parametrize("args", [(), ("fresh",)])
def test_a_child_of_fork_computes_what_its_parent_computes(tmp_path, args):
    for _ in "new", "from disk":                                    # what a child has compiled is kept as well
        found = lines(STEPS, tmp_path, *args)
        found = found[1 if args else 4:]
        child, ended, grandchild = found[:4], found[4], found[5:8]
        assert ended == found[8] == found[9] == "0"
        assert found[10:] == child and grandchild == child[:3]


def test_pools_and_processes_that_are_forked_compute(tmp_path):
    program = BOTH + """
    import multiprocessing

    def double(x):
        return (torch.tensor(x) @ torch.ones(3, 2)).sum().item()

    def train(index, model):
        model(torch.ones(2, 4)).sum().backward()
        assert model.weight.grad.sum().item() == 2 * 4 * 3

    double([1.0, 2.0, 3.0])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(double, [[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [2.0, 2.0, 2.0]]))
    torch.multiprocessing.start_processes(train, (torch.nn.Linear(4, 3),), nprocs=2, start_method="fork")
    """
    assert lines(program, tmp_path) == ["[12.0, 2.0, 12.0]"]


def test_a_child_ends_before_a_child_of_its_own(tmp_path):
    """What compiles for it ends when its input does, which the other has inherited."""
    program = BOTH + """
    goes_on, end = os.pipe()
    x = torch.randn(4, 4)
    (x @ x).sum().item()

    def child_that_forks():
        torch.linalg.inv(x).exp().sum().item()
        sys.stdout.flush()
        if os.fork() == 0:
            os.close(end)
            print(x.cumsum(0).cos().sum().isfinite().item(), flush=True)
            os.read(goes_on, 1)
            sys.exit(0)

    print(child(child_that_forks))
    os.close(end)
    """
    assert sorted(lines(program, tmp_path)) == ["0", "True"]


def test_functions_of_jax_work_in_a_child_of_fork(tmp_path):
    program = BOTH + """
    import jax, jax.numpy as jnp
    x = torch.arange(6.0).reshape(2, 3) + 1
    x.sum().item()

    def child_of_jax():
        print(jax.jit(lambda a: (jnp.cos(a) @ a.T).sum())(x.jax()) == (x.cos() @ x.T).sum().item())

    print(child(child_of_jax))
    """
    assert lines(program, tmp_path) == ["True", "0"]


def test_a_child_asks_what_xla_knows(tmp_path):
    program = BOTH + """
    from jtensor.base import compat
    compat.default_device()
    print(child(lambda: print(compat.has_option("xla_backend_optimization_level"), compat.has_option("xla_cpu_never_heard_of"))))
    """
    assert lines(program, tmp_path) == ["True False", "0"]


def test_where_there_is_a_gpu_a_child_computes_on_the_cpu(tmp_path):
    """What passes for a GPU is a client of the CPU, as in `conftest.gpu`."""
    program = BOTH + """
    sys.path.append(sys.argv[1])
    from jtensor.base import compat
    from standing_in import pass_for_a_gpu
    pass_for_a_gpu(compat.cpu_apart(queue=True))
    x, y = torch.arange(6.0).cuda(), torch.arange(6.0)
    print((x * 2).sum().item())

    def child_without_a_gpu():
        print((y * 3).sum().item(), torch.cuda.is_available())
        for wanted in (lambda: x.exp().sum().item(), lambda: torch.ones(3, device="cuda"), lambda: y.cuda()):
            try:
                print(wanted())
            except RuntimeError as error:
                print(str(error)[:51])

    print(child(child_without_a_gpu))
    print((x + 1).sum().item())
    """
    refused = ["Cannot re-initialize CUDA in forked subprocess. To "] * 3
    tests = str(Path(__file__).resolve().parents[1])
    assert lines(program, tmp_path, tests) == ["30.0", "45.0 False", *refused, "0", "21.0"]
