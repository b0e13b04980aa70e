"""Statements with masked tensors, each told with its result or error: ``told(torch)`` gives {statement: text}.

    python tests/masked/masked_cases.py LIBRARY
"""
import copy
import io
import json
import pickle
import sys
import warnings
from importlib import import_module

UNARY = """abs acos acosh angle asin asinh atan atanh ceil clamp(0.2,0.6) cos deg2rad digamma erf erfinv exp exp2 expm1 floor frac i0
    isfinite isnan lgamma log log10 log1p log2 logit nan_to_num neg positive pow(3) reciprocal round rsqrt sigmoid sign sgn signbit sin
    sinc sinh sqrt square tan tanh trunc""".split()
BINARY = """add atan2 div floor_divide fmod logaddexp mul remainder sub eq ge fmax bitwise_and""".split()
REDUCED = "sum mean amin amax argmin argmax prod all norm var std".split()

# Each makes `r` of: d (numbers), m (a mask), x (masked, a leaf that requires a gradient), n (masked, none), s and c (sparse: COO, CSR).
STATEMENTS = """
masked_tensor([1.], m)
masked_tensor(d, n)
masked_tensor(d, m[0])
masked_tensor(d, m[:, :2])
masked_tensor(d, d)
masked_tensor(d.bfloat16(), m)
masked_tensor(d.to_sparse(), m)
masked_tensor(d.to_sparse_csc(), m.to_sparse_csc())
masked_tensor((d * 10).to(torch.int32), m), masked_tensor(d > 0.4, m), masked_tensor(d.half(), m)
masked_tensor(torch.tensor(1.), torch.tensor(False)), masked_tensor(torch.tensor(7), torch.tensor(True))
masked_tensor(torch.arange(8.).reshape(2, 2, 2), torch.arange(8).reshape(2, 2, 2) % 3 == 0)
masked_tensor(torch.tensor([[1., 2.]]).to_sparse(), torch.tensor([[True, False]]).to_sparse())
masked_tensor(torch.tensor([[1., 0.]]).to_sparse_csr(), torch.tensor([[False, True]]).to_sparse_csr())
masked_tensor(torch.sparse_coo_tensor([[0, 1], [1, 0]], [3., 4.], (2, 2)), torch.sparse_coo_tensor([[0], [1]], [True], (2, 2)))
is_masked_tensor(n), is_masked_tensor(d), n.is_sparse, n.is_sparse_coo(), n.layout, n.shape, n.stride(), n.t().is_contiguous()
n.get_data(), n.get_mask(), n.to_tensor(7.), n[0, 0].item(), float(n[1, 1]), bool(n[0, 0])
n[0, 1].item()
n < 0.5, n > 0.5, n == n, ~(n > 0.5), (n > 0.5) | (n < 0.9), -n, n * 2, 2 * n, d + n, d.mul(n), n + d[0], n ** 2, n % 0.3, n / 2
1 - n
n @ d.t()
n.add(n, alpha=2)
n.round(decimals=1)
n.clamp(d)
n + masked_tensor(d, ~m)
n.sort()
n.tolist()
n.numpy()
n.to_sparse_csc()
torch.zeros_like(n)
n.softmax(1), n.softmax(0), torch.ones_like(n), n.double(), n.to(torch.float16).dtype, n.contiguous(), n.t().contiguous()
n.t(), n.view(6), n[:, 1:], n[1], n[None], n[torch.tensor([1, 0])], n[m], n.unfold(1, 2, 1)
n.split(1), torch.cat([n, n]), torch.stack([n, n])
n.permute(1, 0)
torch.where(d > 0.4, n, n * 2), torch.where(d > 0.4, n, d), d.where(d > 0.4, n)
torch.where(d > 0.4, n)
n.exp_(), n.add_(1), n.mul_(n), n
n.copy_(d), n
n.fill_(1)
n.sum(1, dtype=torch.float64).dtype
torch.masked.sum(n), torch.masked.mean(n, 1), torch.masked.var(n), torch.masked.argmax(n, 1), torch.masked.median(n, 1)
torch.masked.softmax(n, 1), torch.masked.norm(n), torch.masked.cumsum(n, 1), torch.masked.logsumexp(n, 0)
masked_tensor(torch.ones(2, 2), torch.tensor([[False, False], [True, False]])).mean(1)
s, s.get_data(), s.get_mask(), s.is_sparse, s.layout, s.to_dense(), c, c.get_data(), c.is_sparse_csr()
s.sin(), s + s, s * 2, s > 0.5, s.sum(), s.mean(), s.argmax(), s.amin(), c.exp(), c * c, c.prod(), c.amax(), c.var()
torch.tensor(True).to_sparse().item(), masked_tensor(torch.tensor(1.).to_sparse(), torch.tensor(True).to_sparse()).exp()
s.sum(0)
s + d
s.is_contiguous()
s.indices()
s.neg_()
n.to_sparse().get_data(), n.to_sparse_csr().get_data(), s.to_sparse_csr()
c.to_sparse()
copy.deepcopy(x), copy.deepcopy(x).requires_grad, pickle.loads(pickle.dumps(n)), saved(n), torch.tensor(n)
torch.nn.Parameter(n)
x.mul_(2)
g(lambda x: (x * x + x).mean())
g(lambda x: x.exp().log().sum(0).sum())
g(lambda x: (x.to_sparse() * 2).to_dense().sum())
g(lambda x: x.to_sparse_csr().sum())
g(lambda x: x.to_dense().sum())
g(lambda x: x.t().contiguous().sum())
g(lambda x: x[0].sum())
g(lambda x: x[:, 1:].sum())
g(lambda x: x.unfold(1, 2, 1).sum())
g(lambda x: x.unsqueeze(0).sum())
g(lambda x: x[m].sum())
g(lambda x: torch.where(d > 0.4, x, x * 2).sum())
g(lambda x: x.to_tensor(7.).pow(2).sum())
g(lambda x: x.get_data().sum())
g(lambda x: x.softmax(1).exp().sum())
g(lambda x: torch.masked.softmax(x, 1).sum())
g(lambda x: as_masked_tensor(torch.masked.norm(x, 2, 1), m.any(1)).sum())
g(lambda x: as_masked_tensor(torch.masked.logsumexp(x, 1), m.any(1)).sum())
g(lambda x: (x * d[0]).sum() + x.double().sum())
g(lambda x: torch.autograd.grad((x ** 3).sum(), x, create_graph=True)[0].sum())
g(lambda x: x.exp().mul_(2).sum())
g(lambda x: x.clone().square_().sum())
g(lambda x: torch.autograd.grad(x.exp(), x, torch.ones(2, 3))[0])
x.register_hook(lambda g: g * 10) and None, x.sum().backward(), x.sum().backward(), x.grad
leaf((d / d).requires_grad_(), m)
torch.ops.aten.sigmoid_backward(d, d), torch.ops.aten.select_backward(d[0], [2, 3], 0, 1)
torch.ops.aten.slice_backward(d, [4, 3], 0, 1, 3, 1)
torch.ops.aten.unfold_backward(torch.ones(2, 2, 2), [2, 3], 1, 2, 1), torch.ops.aten.tanh_backward(d, d)
torch.ops.aten.logit_backward(d, d)
torch.masked.sum(d.to_sparse(), 1), torch.masked.amax(d.to_sparse(), 0, keepdim=True, mask=m), torch.masked.prod(d.to_sparse(), mask=m)
torch.masked.mean(d.to_sparse_csr(), 0, keepdim=True, mask=m.to_sparse_csr()), torch.masked.sum(d.to_sparse_csr(), 1, keepdim=True)
torch.masked.amin(d.to_sparse_csr(), (0, 1), keepdim=True, mask=m[1])
torch.masked.prod(d.to_sparse(), 1)
torch.masked.sum(d.to_sparse_csr(), 1)
torch.masked.mean(d.to_sparse(), 1, mask=m)
torch.masked.argmax(d.to_sparse(), 1)
""".strip().splitlines()


def told(torch):
    """{statement: what it gives or raises}."""
    masked = import_module(torch.__name__ + ".masked")
    lines, mask = [[0.5, 0.25, 0.75], [0.1, 0.9, 0.3]], [[True, False, True], [False, True, True]]

    def given():
        d, m = torch.tensor(lines), torch.tensor(mask)

        def g(function):
            x = masked.masked_tensor(d, m, requires_grad=True)
            y = function(x)
            if y.requires_grad:
                y.backward()
            return y, y.grad_fn and y.grad_fn.name(), x.grad

        def leaf(x, m):
            (masked.as_masked_tensor(x, m) * 2).sum().backward()
            return x.grad

        def saved(x):
            file = io.BytesIO()
            torch.save(x, file)
            return torch.load(io.BytesIO(file.getvalue()), weights_only=False)
        x, n = masked.masked_tensor(d, m, requires_grad=True), masked.masked_tensor(d, m)
        return {"torch": torch, "d": d, "m": m, "x": x, "n": n, "s": n.to_sparse(), "c": n.to_sparse_csr(), "g": g, "leaf": leaf,
                "saved": saved, "copy": copy, "pickle": pickle,
                **{name: getattr(masked, name) for name in ("masked_tensor", "as_masked_tensor", "is_masked_tensor", "MaskedTensor")}}
    statements = [*STATEMENTS, *[f"g(lambda x: x.{one if '(' in one else one + '()'}.sum())" for one in UNARY],
                  *[f"n.{one}(masked_tensor(d.flip(0), m)), g(lambda x: x.{one}(d + 1).sum())" for one in BINARY],
                  *[f"n.{one}(), n.{one}(1), n.{one}(0, keepdim=True), g(lambda x: x.{one}(1).sum())" for one in REDUCED]]
    answers = {}
    for statement in statements:
        try:
            answers[statement] = repr(eval(statement, given()))
        except Exception as error:
            answers[statement] = f"{type(error).__name__}: {str(error).splitlines()[0]}".replace("jtensor.", "torch.")[:180]
    return answers


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(told(import_module(sys.argv[1]))))
