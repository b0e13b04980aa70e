"""`FlopCounterMode`: how many floating-point operations a program's products of matrices and convolutions take, by module.

While it counts, operations run one at a time (as with ``jtensor.eager()``) and each is looked at as it runs, on the meta device as it is
called: what PyTorch calls it, and the products in its program. Owns: the counts, the formulas, the table. May not know: what operations
compute, how they are differentiated.
"""
import functools
import math

import jtensor

from ..tensor.values import LOOKING
from ..trace import executor
from ..trace.tape import LOCAL
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]


class _Named:
    """An operator that PyTorch has below its public functions: a name alone."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"aten.{self.name}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


@functools.cache
def _operator(name):
    return getattr(jtensor.ops.aten, name, None) or _Named(name)


# -- formulas -----------------------------------------------------------------------------------------------------------

def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    """Operations of a matrix product: an addition counts as one, a multiplication, too.

    >>> mm_flop((2, 3), (3, 4))
    48
    """
    (m, k), (inner, n) = a_shape, b_shape
    if k != inner:
        raise AssertionError(f"matmul: inner dimensions must match (k == k2), got {k} and {inner}")
    return m * n * 2 * k


def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    """The same; what is added does not count."""
    return mm_flop(a_shape, b_shape)


def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    """The same of a batch.

    >>> bmm_flop((5, 2, 3), (5, 3, 4))
    240
    """
    if a_shape[0] != b_shape[0]:
        raise AssertionError(f"bmm: batch dimensions must match (b == b2), got {a_shape[0]} and {b_shape[0]}")
    return a_shape[0] * mm_flop(a_shape[1:], b_shape[1:])


def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    """The same; what is added does not count."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Operations of a convolution, a bias not counted.

    >>> conv_flop_count((1, 2, 8), (4, 2, 3), (1, 4, 6))
    288
    """
    places = (x_shape if transposed else out_shape)[2:]
    return 2 * x_shape[0] * math.prod(places) * math.prod(w_shape)


def conv_flop(x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, *args, out_shape=None, **kwargs):
    """The same with the arguments of ``aten.convolution``."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


def conv_backward_flop(grad_out_shape, x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, _output_padding, _groups,
                       output_mask, out_shape=None):
    """Operations of its gradients, of those of the input and of the weights that ``output_mask`` asks for."""
    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, x_shape, not transposed)
    if output_mask[1]:
        first, second = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += conv_flop_count(*((shape[1], shape[0], *shape[2:]) for shape in (first, second, w_shape)))
    return count


flop_registry = {_operator(name): formula for name, formula in (
    ("mm", mm_flop), ("addmm", addmm_flop), ("bmm", bmm_flop), ("baddbmm", baddbmm_flop), ("convolution", conv_flop),
    ("convolution_backward", conv_backward_flop))}


_KNOWN = frozenset(flop_registry.values())          # what these say of shapes is counted of the program itself


def register_flop_formula(targets, get_raw=False):
    """Decorator: a formula for one or several operators of ``torch.ops.aten`` that PyTorch has none for.

    It is called with the shapes of the tensors among the arguments and ``out_shape``. With ``get_raw`` PyTorch gives it tensors:
    ``NotImplementedError``.
    """
    if get_raw:
        from ..base.errors import missing
        raise missing("formulas of tensors (get_raw=True)", "formulas of shapes")

    def register(formula):
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            flop_registry[target] = formula
        return formula
    return register


# -- an operation as it runs --------------------------------------------------------------------------------------------

# {what an operation is called here: what PyTorch calls it forwards, and the products of its gradients}
_PRODUCTS = {"mm": ("mm", "mm"), "addmm": ("addmm", "mm"), "bmm": ("bmm", "bmm"), "baddbmm": ("baddbmm", "bmm"),
             "gru_layer": ("addmm", "mm"), "rnn_layer": ("addmm", "mm"), "lstm_layer": ("addmm", "mm"),
             "mkldnn_rnn_layer": ("addmm", "mm")}


def _counted(plan, formulas):
    """The operator of PyTorch's that an operation is, and how many operations it takes; None where PyTorch counts none."""
    key, backwards = plan.key, plan.key[0] == "vjp"
    if backwards:
        _, key, origin, wanted, *_ = key
    name = str(key[0]).rpartition(".")[2].removesuffix("_flipped")
    own = None if backwards else formulas.get(_operator(name))
    if own is not None and own not in _KNOWN:
        shapes = [aval.shape[::-1] if at in plan.flipped else aval.shape for at, aval in enumerate(plan.inputs)]
        return _operator(name), own(*shapes, out_shape=plan.outputs[0].shape)
    if name in _PRODUCTS:
        return _operator(_PRODUCTS[name][backwards]), _of_products(plan.jaxpr())
    if name == "convolution":
        transposed = key[1][6] == "True"
        if backwards:
            return _operator("convolution_backward"), conv_backward_flop(
                plan.inputs[0].shape, origin[0].shape, origin[1].shape, None, None, None, None, transposed, None, None,
                [0 in wanted, 1 in wanted])
        x, w = (aval.shape for aval in plan.inputs[:2])
        return _operator(name), conv_flop_count(x, w, plan.outputs[0].shape, transposed)
    return None


def _of_products(jaxpr, times=1):
    """Of all products of matrices in a program; what is in a loop counts for each of its rounds."""
    count = 0
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        if equation.primitive.name == "dot_general":
            (left, _), _ = equation.params["dimension_numbers"]
            summed = math.prod(equation.invars[0].aval.shape[axis] for axis in left)
            count += 2 * times * summed * math.prod(equation.outvars[0].aval.shape)
        for value in equation.params.values():
            if hasattr(value, "eqns") or hasattr(value, "jaxpr"):
                count += _of_products(value, times * equation.params.get("length", 1))
    return count


# -- the counter --------------------------------------------------------------------------------------------------------

_SUFFIXES = ["", "K", "M", "B", "T"]


def _with_suffix(number, suffix):
    return f"{number / 1000 ** _SUFFIXES.index(suffix):.3f}{suffix}"


def _suffix_of(number):
    return _SUFFIXES[max(0, min(len(_SUFFIXES) - 1, (len(str(number)) - 2) // 3))]


def _percent(part, whole):
    return f"{part / whole:.2%}" if whole else "0%"


class FlopCounterMode:
    """Counts the floating-point operations of what runs inside of its ``with``, forwards and backwards, by module and operator.

    Products of matrices and convolutions count, as in PyTorch on a CPU; what is added, activations, losses do not, nor does its fused
    attention. Those of an LSTM and of ``bilinear`` count, too. ``depth``: of modules in the table, which ``display`` has printed at the
    end (with the package ``tabulate``); ``custom_mapping``: {operator of ``torch.ops.aten``: a formula, called with the tensors' shapes and
    ``out_shape``}.

    >>> import jtensor as torch
    >>> network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    >>> with FlopCounterMode(display=False) as counter:
    ...     network(torch.ones(2, 3)).sum().backward()
    >>> counter.get_total_flops()
    144
    >>> counter.get_flop_counts()["Sequential.2"]
    {<OpOverloadPacket(op='aten.addmm')>: 16, <OpOverloadPacket(op='aten.mm')>: 32}

    Source: https://docs.pytorch.org/docs/stable/_modules/torch/utils/flop_counter.html
    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        if mods is not None:
            import warnings
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.flop_counts, self.depth, self.display = {}, depth, display
        self.flop_registry = {**flop_registry, **(custom_mapping or {})}
        self.mod_tracker = ModuleTracker()

    def __enter__(self):
        executor.flush("begin of a count")
        self.flop_counts = {}
        self.mod_tracker.__enter__()
        self._eager, LOCAL.eager = LOCAL.eager, True
        self._plain, executor._run = executor._run, self._looked_at
        LOOKING.append(self._count)
        return self

    def __exit__(self, *error):
        executor.flush("end of a count")
        LOOKING.remove(self._count)
        executor._run, LOCAL.eager = self._plain, self._eager
        self.mod_tracker.__exit__(*error)
        if self.display:
            print(self.get_table(self.depth))

    def _looked_at(self, segment, asked):
        for plan, *_ in segment.nodes:
            self._count(plan)
        self._plain(segment, asked)

    def _count(self, plan):
        found = _counted(plan, self.flop_registry)
        if found is not None:
            operator, count = found
            for module in self.mod_tracker.parents:
                counts = self.flop_counts.setdefault(module, {})
                counts[operator] = counts.get(operator, 0) + count

    def get_total_flops(self):
        """All that was counted."""
        return sum(self.flop_counts.setdefault("Global", {}).values())

    def get_flop_counts(self):
        """{name of a module: {operator: how many operations}}; "Global" is all of the program."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        """The counts as text, of modules down to ``depth``. ``ImportError`` without the package ``tabulate``."""
        import tabulate
        tabulate.PRESERVE_WHITESPACE = True
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        suffix, rows, covered = _suffix_of(total), [], False

        def lines(module, level):
            own = sum(self.flop_counts[module].values())
            yield [" " * level + module, _with_suffix(own, suffix), _percent(own, total)]
            for operator, count in self.flop_counts[module].items():
                yield [f"{' ' * level} - {operator}", _with_suffix(count, suffix), _percent(count, total)]
        for module in sorted(self.flop_counts):
            if module != "Global" and module.count(".") + 1 <= depth:
                covered = covered or sum(self.flop_counts[module].values()) >= total
                rows.extend(lines(module, module.count(".")))
        if "Global" in self.flop_counts and not covered:
            rows = [*lines("Global", 0), *([f" {name}", *rest] for name, *rest in rows)]
        rows = rows or [["Global", "0", "0%"]]
        return tabulate.tabulate(rows, headers=["Module", "FLOP", "% Total"], colalign=("left", "right", "right"))
