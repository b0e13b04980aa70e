"""Whether a trace does what was traced: it is run again beside the function, and the function is traced again.

Owns: that comparison, PyTorch's warnings of it, and `TracingCheckError`. May not know: how anything is traced.
"""
import difflib
import re
import warnings

import jtensor

from ..tensor.core import Tensor
from . import TracerWarning

_RANDOM = re.compile(r"torch\.(dropout_?|feature_dropout_?|alpha_dropout_?|feature_alpha_dropout_?|rand|randn|randint|randperm|rand_like|"
                     r"randn_like|randint_like|bernoulli_?|multinomial|normal_?|poisson|rrelu_?|exponential_|uniform_|random_|geometric_|"
                     r"cauchy_|log_normal_|binomial)\((.*)\)")


class TracingCheckError(Exception):
    """A trace that could not be run again, or that came out otherwise the second time."""

    __module__ = "torch.jit._trace"

    def __init__(self, graph_diff_error, tensor_compare_error, extra_msg=None):
        self.message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            self.message += extra_msg + "\n"
        for head, text in (("ERROR: Graphs differed across invocations!\n", graph_diff_error),
                           ("ERROR: Tensor-valued Constant nodes differed in value across invocations. This often indicates that the "
                            "tracer has encountered untraceable code.\n", tensor_compare_error)):
            if text is not None:
                self.message += head + _indented(text) + "\n"
        super().__init__(self.message)


def _indented(text):
    return "\n".join(["\t" + line for line in text.splitlines()])


def check(made, function, inputs, tolerance, again):
    """Compares the results of a traced program with the function's, and with those of a second trace, which ``again`` makes.

    Warnings tell of differences; `TracingCheckError` is raised where the second trace is another program.
    """
    with jtensor.no_grad():
        second = again(_copied(inputs))
        outcome = _run(made, inputs, "trace", made, second)
        if _compare(outcome, _run(function, inputs, "Python function", made, second), "Python function", tolerance, made):
            _compare(outcome, _run(second, inputs, "repeated trace", made, second), "repeated trace", tolerance, made)
        difference, constants = _programs_differ(made, second)
    if difference is not None or constants is not None:
        raise TracingCheckError(difference, constants)


def _copied(x):
    if isinstance(x, Tensor):
        return x.detach().clone().requires_grad_(x.requires_grad) if x.is_floating_point() or x.is_complex() else x.clone()
    if isinstance(x, dict):
        return {key: _copied(one) for key, one in x.items()}
    if isinstance(x, (list, tuple)):
        made = [_copied(one) for one in x]
        return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
    return x


def _run(function, inputs, what, made, second):
    try:
        given = _copied(inputs)
        answer = function(**given) if isinstance(given, dict) else function(*given)
    except Exception as error:
        message = f"encountered an exception while running the {what} with test inputs.\nException:\n{_indented(str(error))}"
        raise TracingCheckError(*_programs_differ(made, second), extra_msg=message) from error
    return [one for one in (answer if isinstance(answer, tuple) else (answer,)) if isinstance(one, Tensor)]


def _programs_differ(made, second):
    """(what differs between the texts of two traces, what between their constants), each None where nothing does."""
    one, other = (re.sub(r"___torch_mangle_[0-9]+\.", "", _texts(program)) for program in (made, second))
    difference = None
    if one != other:
        lines = difflib.ndiff(one.splitlines(True), other.splitlines(True))
        difference = "Graph diff:\n" + _indented("".join(lines)) + "\n"
    constants = None
    for ours, theirs in zip(_archive(made).constants, _archive(second).constants, strict=False):
        try:
            jtensor.testing.assert_close(ours, theirs, equal_nan=True)
        except AssertionError as error:
            constants = f"Comparison exception: {_indented(str(error))}"
            break
    return difference, constants


def _archive(made):
    return made._program if hasattr(made, "_program") else made.owner._archive


def _texts(made):
    return "\n".join([text.decode() for text in _archive(made).records.values()])


def _compare(found, expected, what, tolerance, made):
    same = True
    for at, (one, other) in enumerate(zip(found, expected, strict=False)):
        wide = jtensor.complex128 if one.is_complex() or other.is_complex() else jtensor.float64
        try:
            jtensor.testing.assert_close(one.to(wide), other.to(wide), rtol=tolerance, atol=_absolute(one, other), equal_nan=True)
        except AssertionError as error:
            if same:
                _warn_of_chance(made)
            warnings.warn(f"Output nr {at + 1}. of the traced function does not match the corresponding output of the {what}. Detailed "
                          f"error:\n{error}", TracerWarning, stacklevel=5)
            same = False
    return same


def _absolute(*tensors):
    loose = {jtensor.float16: 1e-5, jtensor.bfloat16: 1e-5, jtensor.float32: 1e-5, jtensor.complex64: 1e-5, jtensor.float64: 1e-7,
             jtensor.complex128: 1e-7}
    return max(loose.get(one.dtype, 0.0) for one in tensors)


def _warn_of_chance(made):
    """Names the lines that draw numbers; those of parts of a module are not looked at, as PyTorch does not."""
    lines = [line.strip() for line in made.code.splitlines() if _RANDOM.search(line)]
    if lines:
        warnings.warn("Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:\n"
                      + "\n".join(map(_indented, lines[:20]))
                      + "\nThis may cause errors in trace checking. To disable trace checking, pass check_trace=False to torch.jit.trace()",
                      TracerWarning, stacklevel=6)
