"""Random numbers inside of `vmap`: an error, the same for all arrays of a batch, or different ones, as its ``randomness`` says.

Different numbers are drawn as PyTorch draws them, for the whole batch at once: the function is called outside of the level, with the
batch's dimension before the sizes that it is given, or with whole tensors for those that stand for a batch. Owns: the doors that functions
get at the first `vmap`, each another ``__code__``, so that a process without pays nothing. May not know: how numbers are drawn.
"""
import functools

from ..base.errors import missing
from ..base.functions import as_it_is, put_door
from ..tensor.calling.overriding import beneath
from ..tensor.core import Tensor
from ..tensor.lifted.batching import is_of, put_together, taken_apart
from ..tensor.lifted.duals import has_tangent
from ..tensor.lifted.levels import open_levels
from ..trace.tape import LOCAL
from . import arguments, draws, fills

ERROR = ("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on "
         "vmap or perform the randomness operation out of vmap")
OF_BATCH = "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
IN_PLACE = ("vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is "
            "necessary for your usage, please file an issue with functorch.")


def _innermost():
    """The place among the open levels of the innermost batch, or None."""
    levels = open_levels()
    return next((at for at in reversed(range(len(levels))) if levels[at].extra), None)


def _called(different, alike, original, again, args, kwargs):
    """A function's answer inside of the batches that are open."""
    levels, at = open_levels(), _innermost()
    if at is None:
        return original(*args, **kwargs)
    level = levels.pop(at)
    try:
        if level.randomness == "error":
            raise RuntimeError(ERROR)
        if level.randomness == "same":
            if not alike and any(isinstance(x, Tensor) and is_of(level, x) for x in args):
                raise RuntimeError(OF_BATCH)
            return again(*args, **kwargs)
        return different(level, again, args, kwargs)
    finally:
        levels.insert(at, level)


# -- different numbers ------------------------------------------------------------------------------------------------


def _by_size(level, again, args, kwargs):
    """``rand(*size)``."""
    if "size" in kwargs:
        kwargs = {**kwargs, "size": (level.size, *kwargs["size"])}
    elif len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = ((level.size, *args[0]),)
    else:
        args = (level.size, *args)
    return taken_apart(level, again(*args, **kwargs))


def _by_last(level, again, args, kwargs):
    """``randint(..., size)``, ``normal(mean, std, size)``, or ``normal`` of tensors."""
    if kwargs.get("size") is not None:
        return taken_apart(level, again(*args, **{**kwargs, "size": (level.size, *kwargs["size"])}))
    if args and isinstance(args[-1], (tuple, list)):
        return taken_apart(level, again(*args[:-1], (level.size, *args[-1]), **kwargs))
    return _of_tensors(level, again, args, kwargs)


def _by_turns(level, again, args, kwargs):
    """A permutation for each array in turn."""
    from ..tensor.install import FUNCTIONS
    return taken_apart(level, FUNCTIONS["stack"]([again(*args, **kwargs) for _ in range(level.size)]))


def _of_tensors(level, again, args, kwargs):
    """A function of whole tensors, of which no gradient leads back to them but zeros."""
    def whole(x):
        return put_together(level, x.detach()) if isinstance(x, Tensor) else x
    made = again(*map(whole, args), **{name: whole(x) for name, x in kwargs.items()})
    return taken_apart(level, made)


def _of_rows(level, again, args, kwargs):
    """``multinomial``, which takes a row or rows: the rows of all arrays."""
    input, *rest = args if args else (kwargs.pop("input"),)
    whole = put_together(level, input.detach())
    made = again(whole.flatten(0, -2), *rest, **kwargs)
    return taken_apart(level, made.unflatten(0, whole.shape[:-1]))


def _of_parameters(level, again, args, kwargs):
    """A function of whole tensors that has a gradient."""
    if any(isinstance(x, Tensor) and ((x.requires_grad and LOCAL.grad_enabled) or has_tangent(x)) for x in args):
        raise missing("gradients of random numbers of this kind that are different inside of vmap", "randomness='same', or no gradient")
    return _of_tensors(level, again, args, kwargs)


def _in_place(level, again, args, kwargs):
    """A method that writes to a tensor that stands for a batch."""
    self, *rest = args
    if not is_of(level, self):
        raise RuntimeError(IN_PLACE)
    whole = put_together(level, self._detached()).clone()
    rest = [put_together(level, x.detach()) if isinstance(x, Tensor) else x for x in rest]
    again(whole, *rest, **kwargs)
    return self.copy_(taken_apart(level, whole))


# -- doors ------------------------------------------------------------------------------------------------------------


def _put(function, different, alike):
    function = beneath(function)
    original = as_it_is(function)
    put_door(function, lambda args, kwargs: _called(different, alike, original, function, args, kwargs), original)


@functools.cache
def put_doors():
    """Once, when the first `vmap` is called."""
    for function in (draws.rand, draws.randn):
        _put(function, _by_size, True)
    for function in (draws.randint, draws.normal):
        _put(function, _by_last, False)
    _put(draws.randperm, _by_turns, True)
    for function in (draws.rand_like, draws.randn_like, draws.randint_like, draws.dropout_noise):
        _put(function, _of_tensors, True)
    for function in (draws.bernoulli, draws.poisson, draws.binomial):
        _put(function, _of_tensors, False)
    _put(draws.multinomial, _of_rows, False)
    for function in (draws._standard_gamma, draws._sample_dirichlet):
        _put(function, _of_parameters, False)
    for function in fills.METHODS.values():
        _put(function, _in_place, True)
    arguments.INSIDE[0] = _refuse


def _refuse():
    """No numbers are drawn inside of a batch but by these doors."""
    if (at := _innermost()) is not None:
        if open_levels()[at].randomness == "error":
            raise RuntimeError(ERROR)
        raise missing("this random function inside of vmap", "torch.rand, torch.randn, torch.bernoulli and the methods like normal_")
