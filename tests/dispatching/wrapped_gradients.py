"""Gradients of a wrapper's class, which are made of operators, beside those of ordinary tensors, which are formulas of numbers: run as a
script, it says which differ."""
import jtensor as torch
from jtensor.utils._pytree import tree_map


class Held(torch.Tensor):
    """Holds a tensor."""

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(cls, elem.size(), dtype=elem.dtype, requires_grad=requires_grad)

    def __init__(self, elem, requires_grad=False):
        self.elem = elem

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        made = func(*tree_map(_out_of, args), **tree_map(_out_of, kwargs or {}))
        return tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, made)


def _out_of(x):
    return x.elem if isinstance(x, Held) else x


OF_ONE = """abs acos acosh angle asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 frac i0 lgamma log
    log10 log1p log2 logit nan_to_num neg pow(3) pow(0) pow(0.5) rad2deg reciprocal round rsqrt sigmoid sgn sin sinc sinh sqrt square tan
    tanh clamp(0.3,0.6) clamp(min=0.3) clamp(max=0.6) sum(1)
    mean() mean(1) mean((0,1),keepdim=True) amax(1) amin((0,1)) amax(0,keepdim=True) softmax(1) log_softmax(0)
    t().exp() view(6)[2:] select(1,2) unfold(1,2,1) diagonal() unsqueeze(0) norm(2,1) norm(1) norm(3,0) double() clone()""".split()
OF_TWO = """add sub mul div atan2 fmod remainder logaddexp logaddexp2 maximum minimum fmax fmin pow""".split()


def differing():
    """The functions whose gradients differ, or are refused."""
    numbers = torch.tensor([[0.5, 0.25, 0.75], [0.1, 0.9, 0.3]])
    found = []

    def gradients(make, function):
        inputs = [make(numbers.clone()), make(numbers.flip(0) + 0.15)]
        made = function(*inputs)
        grads = torch.autograd.grad((made * made).sum(), inputs, allow_unused=True)
        return [one if one is None else _out_of(one) for one in grads]
    cases = {one: f"lambda x, y: x.{one if '(' in one else one + '()'}" for one in OF_ONE} | {
        one: f"lambda x, y: torch.{one}(x, y)" for one in OF_TWO} | {"row": "lambda x, y: x[0] * y", "2 ** x": "lambda x, y: 2 ** x"}
    for name, text in cases.items():
        function = eval(text, {"torch": torch})
        want = gradients(lambda x: x.requires_grad_(), function)
        try:
            got = gradients(lambda x: Held(x, True), function)
        except Exception as error:
            found.append(f"{name}: {type(error).__name__}: {error}"[:200])
            continue
        for one, other in zip(want, got, strict=True):
            if one is not None and (other is None or not torch.allclose(one, other, equal_nan=True)):
                found.append(name)
    return found


if __name__ == "__main__":
    print(differing())
