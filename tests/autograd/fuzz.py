"""Random programs about autograd: views, in-place writes, hooks, custom functions, saved tensors, second derivatives.

The numbers are small integers, so that both libraries must print the same. ``python tests/autograd/fuzz.py --programs 200 --seed 1``
compares jtensor with live PyTorch; `program(seed)` is one program's source.
"""
import argparse
import importlib.util
import random
import sys
from pathlib import Path

HEAD = '''
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 + 0 * x
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b, a + b
    @staticmethod
    def backward(ctx, g, h):
        a, b = ctx.saved_tensors
        return g * b + h, g * a + h
class Negate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.neg_()
        ctx.mark_dirty(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return -g
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 3
def see(name, t):
    print(name, t.tolist(), t.requires_grad, t.is_leaf, t._version, t._is_view(), None if t.grad_fn is None else t.grad_fn.name())
'''


def program(seed):
    """The source of one program."""
    r = random.Random(seed)
    lines = [HEAD, "a = torch.tensor([[1., 2.], [3., -1.]], requires_grad=True)", "b = torch.tensor([2., -3.], requires_grad=True)",
             "c = torch.tensor([[1., -2.], [0., 4.]])"]
    pool = ["a", "b", "c"]
    for at in range(r.randint(4, 12)):
        lines += _step(r, pool, f"t{at}")
    lines += _end(r, pool)
    return "\n".join(lines) + "\n"


def _step(r, pool, new):
    x, y = r.choice(pool), r.choice(pool)
    made = [
        f"{new} = {x} {r.choice('+-*')} {y}",
        f"{new} = {x} * {r.choice([2, -1, 3])}",
        f"{new} = -{x}",
        f"{new} = {x}.relu()",
        f"{new} = {x}.view(-1)",
        f"{new} = {x}.t() if {x}.dim() < 3 else {x}",
        f"{new} = {x}[{r.choice(['0', '-1', '...', '1:', ':1', 'None'])}]",
        f"{new} = {x}.sum({r.choice(['', '0', '-1'])})",
        f"{new} = {x}.expand(2, 2)",
        f"{new} = {x}.detach()",
        f"{new} = {x}.clone()",
        f"{new} = Twice.apply({x})",
        f"{new}, {new}_ = Product.apply({x}, {y})",
        f"{new} = Same.apply({x})",
        f"{new} = Negate.apply({x})",
        f"{new} = torch.where({x} > 0, {x}, {y})",
        f"{new} = torch.stack([{x}, {y}])",
        f"{new} = {x}.clamp(-2, 2)",
        f"{new} = {x}.reshape(2, -1)",
        f"{new} = {x}.data",
        f"{new} = {x}.contiguous().view(-1)[1:]",
    ]
    other = [
        f"{x}.{r.choice(['add_', 'mul_', 'sub_', 'copy_'])}({y})",
        f"{x}.{r.choice(['zero_', 'relu_', 'neg_'])}()",
        f"{x}[0] = {y}",
        f"{x} += 1",
        f"{x}.retain_grad()",
        f"{x}.register_hook(lambda g: print('hook {x}', None if g is None else g.tolist()))",
        f"{x}.register_hook(lambda g: g * 2)",
        f"{x}.requires_grad_({r.choice(['True', 'False'])})",
        f"{x}.detach_()",
        f"{x}.register_post_accumulate_grad_hook(lambda p: print('post {x}', p.grad.tolist()))",
        f"torch.autograd.graph.increment_version({x})",
        f"{x}.data.mul_(2)",
    ]
    if r.random() < .62:
        source = r.choice(made)
        names = [new, new + "_"] if "Product" in source else [new]
        fallback = [f"    {n} = {x}" for n in names]
        pool.extend(names)
    else:
        source, fallback, names = r.choice(other), [], [x]
    guard = r.choice(["", "", "", "with torch.no_grad(): ", "with torch.inference_mode(): "]) if r.random() < .3 else ""
    if r.random() < .08:
        guard = "with torch.autograd.graph.saved_tensors_hooks(lambda t: (t, 1), lambda p: p[0]): "
    shown = [f"err(lambda: see('{n}', {n}))" for n in names]
    return [
        "try:",
        "    " + guard + source,
        "except Exception as e:",
        "    print(type(e).__name__, str(e).split(chr(10))[0])",
        *fallback,
        *shown,
    ]


def _end(r, pool):
    """Gradients, of one kind or another, twice."""
    lines = []
    for _ in range(2):
        root = r.choice(pool[3:] or pool)
        graph = r.choice(["", "", ", retain_graph=True", ", create_graph=True"])
        if r.random() < .5:
            lines.append(f"err(lambda: ({root} * {root}).sum().backward({graph[2:]}))")
        else:
            target = r.choice(["[a, b]", "a", r.choice(pool)])
            lines += ["try:", f"    gs = torch.autograd.grad({root}.sum(), {target}, allow_unused=True{graph})",
                      "    print([None if g is None else (g.tolist(), g.requires_grad) for g in gs])",
                      "    if gs[0] is not None and gs[0].requires_grad:",
                      "        hs = torch.autograd.grad((gs[0] * gs[0]).sum(), [a, b], allow_unused=True)",
                      "        print([None if h is None else h.tolist() for h in hs])",
                      "except Exception as e:", "    print(type(e).__name__, str(e).split(chr(10))[0])"]
    for n in pool:
        lines.append(f"err(lambda: print('{n}', {n}.tolist(), None if {n}.grad is None else {n}.grad.tolist(), {n}.requires_grad))")
    return lines


def snippets():
    spec = importlib.util.spec_from_file_location("autograd_snippets", Path(__file__).with_name("snippets.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=3)
    given = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import jtensor
    tools = snippets()
    torch = tools.live_torch()
    wrong = []
    for seed in range(given.seed * 1_000_000, given.seed * 1_000_000 + given.programs):
        source = program(seed)
        lines = tools.differences(tools.run(source, torch), tools.run(source, jtensor))
        if lines:
            wrong.append(seed)
            if len(wrong) <= given.show:
                steps = [
                    line.strip()
                    for line in source[len(HEAD) :].split("\n")
                    if not line.startswith(("try", "except", "err(lambda: see"))
                    and "print(" not in line.replace("print('hook", "").replace("print('post", "")
                    or "backward" in line
                ]
                print(f"== {seed}", *steps, *lines[:6], sep="\n")
    print(f"{given.programs} programs, {len(wrong)} differ: {wrong[:40]}")


if __name__ == "__main__":
    _main()
