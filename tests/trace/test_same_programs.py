"""Every process makes the same programs of a script, in the same order: the cache on disk takes a program to be what its key says.

Python's sets have another order in each process (PYTHONHASHSEED). Where one of them decided what a program takes first, another process's
program, found under the same key, took one thing for another.
"""

import os
import subprocess
import sys

from jtensor.base.size import Size
from jtensor.views.access import access

SCRIPT = '''
import hashlib
import re

import jax.numpy as jnp
import numpy as np

import jtensor as torch
from jtensor.base import compat
from jtensor.base import background
from jtensor.trace.cache import codes
from jtensor.trace.lowering import fences, flat, lower
from jtensor.trace import plan

nn, F, told, plans = torch.nn, torch.nn.functional, [], []


def tell(kind, *texts):
    told.append(re.sub(r"\\s+", " ", " ".join([kind, *[hashlib.md5(text.encode()).hexdigest() for text in texts], texts[0][:150]])))


def text_of(graph, *given):
    """All that is compiled of a graph; constants by their bytes, since a jaxpr's text only names them."""
    with compat.x64():
        made = fences.of_graph(graph(*given))
        closed = made.jaxpr()
    return f"{closed} {[hashlib.md5(np.asarray(x).tobytes()).hexdigest() for x in closed.consts]} {sorted(made.compiler_options.items())}"


def program(nodes, wanted, inputs, counts, donate, *, made=lower.program, **more):
    tell("program", lower.key_of(nodes, wanted, inputs, counts, donate), text_of(lower.graph_of, nodes, wanted, inputs, counts))
    return made(nodes, wanted, inputs, counts, donate, **more)


def compile_program(jaxpr, avals, *, made=lower.compile_program, **more):
    """One that gives zeros: what is recorded does not depend on numbers, and compiling is what tests cost."""
    return made(lambda *xs: [jnp.zeros(a.shape, a.dtype) for a in jaxpr.out_avals], jaxpr.in_avals)


def kernel_of(graph, key, elements, *place, made=lower.kernel_of):
    tell("kernel", key, text_of(graph))
    return made(graph, key, elements, *place)


def planned(self, *args, made=plan.Plan.__init__, **named):
    made(self, *args, **named)
    plans.append(self)


def written(self, text, name, *, made=codes.Codes.compiled):
    tell("code", text)
    return made(self, text, name)


def submit(self, job, priority=0, name="job"):
    """At once and in this thread: when another one would begin is another moment each time."""
    handle = background.Handle(job, priority, name)
    handle.run()
    return handle


lower.program, lower.kernel_of, lower.compile_program = program, kernel_of, compile_program
plan.Plan.__init__, codes.Codes.compiled, background.Worker.submit = planned, written, submit

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.lstm, self.out = nn.BatchNorm1d(4), nn.LSTM(4, 3), nn.Linear(3, 5)

    def forward(self, x):
        first, second = self.norm(x).split(2, 1)
        x = torch.cat([second, first], 1).view(6, 2, 4)
        return self.out(torch.stack(self.lstm(x)[0].unbind())[:, [1, 0]]).log_softmax(-1)


net, x = Net(), torch.randn(12, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
targets, lengths = torch.tensor([[1, 2], [3, 1]]), torch.tensor([2, 1])
for step in range(5):
    optimizer.zero_grad()
    loss = F.ctc_loss(net(x), targets, torch.tensor([6, 6]), lengths)
    loss.backward()
    optimizer.step()
    loss.item()

# what saves several of its results, or takes several inputs by name: by themselves, and as programs, when they come again
def differentiated(function, *sizes):
    inputs = [torch.zeros(size, requires_grad=True) for size in sizes]
    sum([y.sum() for y in function(*inputs) if y.is_floating_point()]).backward()
    inputs[0].grad.tolist()


for function, *sizes in 2 * [
        (torch.svd, (3, 2)), (torch.linalg.eigh, (2, 2)), (torch.linalg.qr, (3, 2)), (torch.slogdet, (2, 2)),
        (lambda x: torch.aminmax(x, dim=0), (3, 2)), (lambda x: x.max(0), (3, 2)), (lambda x: x.topk(2), (3,)),
        (lambda x, y: [torch.addcmul(x, x, y), torch.lerp(x, y, 0.3), torch.einsum("i,i,j->j", x, y, x)], (3,), (3,)),
        (lambda x, w, b: [F.layer_norm(x, (4,), w, b), F.group_norm(x, 2, w, b)], (3, 4), (4,), (4,)),
        (lambda q, k, v: [F.scaled_dot_product_attention(q, k, v)], (1, 2, 2), (1, 2, 2), (1, 2, 2)),
        (lambda x: F.max_pool1d(x, 2, return_indices=True), (1, 1, 4)), (lambda x: [F.prelu(x, x[0, :1]), x[[0, 1], 1]], (2, 2))]:
    differentiated(function, *sizes)

for made in plans:
    tell("plan", f"{made.key!r} {made.inputs!r} {made.outputs!r} {made.scalar_kinds}", text_of(lambda: flat.flattened(made.jaxpr())))
print("\\n".join(told))
'''


def test_the_order_of_pythons_sets_is_not_in_programs():
    """These two seeds order the names of results differently."""
    running = [subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "PYTHONHASHSEED": seed, "JTENSOR_CACHE": "0"}) for seed in ("1", "2")]
    one, other = [process.communicate()[0].splitlines() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    kinds = [line.split()[0] for line in one]
    assert kinds.count("program") >= 10 and kinds.count("kernel") >= 5 and kinds.count("plan") >= 150 and kinds.count("code") >= 30
    assert [(mine, theirs) for mine, theirs in zip(one, other, strict=False) if mine != theirs][:3] == [] and len(one) == len(other)


def test_a_view_is_named_the_same_whoever_came_first():
    """A `Size` equals a tuple and has another text: what is kept on disk is asked for by the text."""
    found, _ = access(Size((6, 7, 11)), (77, 11, 1), Size((7, 1)), (11, 1), 0)
    assert "Size" not in repr(found.key) and access((6, 7, 11), (77, 11, 1), (7, 1), (11, 1), 0)[0] is found
