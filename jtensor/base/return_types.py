"""`torch.return_types`: the named tuples that operators with several results answer with.

Owns: the factory. An operator's declaration names its fields; no list of operators is kept here. May not know: tensors.

>>> minmax = return_type("aminmax", ("min", "max"))
>>> low, high = minmax((1, 2))
>>> minmax((1, 2)).max, minmax((1, 2)) == (1, 2)
(2, True)
"""
import operator

import jax

from .naming import TorchNamed

_made = {}


def return_type(name, fields):
    """The class ``torch.return_types.<name>`` with these fields; the same class every time.

    Its instances are tuples made from one sequence of ``len(fields)`` items: fields are read-only attributes, slices and sums are plain
    tuples, they pickle, and JAX takes them for containers. ``ValueError`` if the name was made with other fields.

    >>> print(return_type("max", ("values", "indices"))((3, 0)))
    torch.return_types.max(
    values=3,
    indices=0)
    """
    fields = tuple(fields)
    cls = _made.get(name)
    if cls is None:
        cls = _made[name] = _make(name, fields)
        jax.tree_util.register_pytree_node(cls, lambda result: (tuple(result), None), lambda _, items: tuple.__new__(cls, items))
    elif cls.__match_args__ != fields:
        raise ValueError(f"torch.return_types.{name} has the fields {cls.__match_args__}, not {fields}")
    return cls


def written_type(cls):
    """The class that ``out=`` answers with where the operator answers with ``cls``: PyTorch gives it a name of its own."""
    return tuple if cls is tuple else return_type(cls.__name__ + "_out", cls.__match_args__)


def as_many(made, outs):
    """Refuses an ``out=`` of another number of tensors than there are results."""
    if len(made) != len(outs):
        raise TypeError(f"expected tuple of {len(made)} elements but got {len(outs)}")


def _make(name, fields):
    long_name, count = f"torch.return_types.{name}", len(fields)

    def new(cls, *args, **kwargs):
        return tuple.__new__(cls, _items(long_name, count, *args, **kwargs))

    def text(self):
        return f"{long_name}(\n" + ",\n".join([f"{field}={item!r}" for field, item in zip(fields, self, strict=True)]) + ")"

    def reduce(self):
        return cls, (tuple(self), {})

    def set_attribute(self, attribute, value):
        raise AttributeError("readonly attribute" if attribute in fields else f"'{long_name}' object has no attribute '{attribute}'")

    namespace = {"__slots__": (), "__new__": new, "__repr__": text, "__reduce__": reduce, "__setattr__": set_attribute,
                 "__match_args__": fields, "n_fields": count, "n_sequence_fields": count, "n_unnamed_fields": 0}
    namespace.update({field: property(operator.itemgetter(position)) for position, field in enumerate(fields)})
    cls = TorchNamed(name, (tuple,), namespace, module="torch.return_types", found_by=(return_type, (name, fields)))
    return cls


def _items(long_name, count, *args, **kwargs):
    """The items a structure sequence is made of: one sequence of the right length; a dictionary may follow and fills nothing."""
    given = dict(zip(("sequence", "dict"), args, strict=False)) | kwargs
    if "sequence" not in given:
        raise TypeError("structseq() missing required argument 'sequence' (pos 1)")
    if len(args) > 2 or not given.keys() <= {"sequence", "dict"}:
        raise TypeError(f"structseq() takes at most 2 arguments ({len(args) + len(kwargs)} given)")
    try:
        items = tuple(given["sequence"])
    except TypeError:
        raise TypeError("constructor requires a sequence") from None
    if not isinstance(given.get("dict", {}), dict):
        raise TypeError(f"{long_name}() takes a dict as second arg, if any")
    if len(items) != count:
        raise TypeError(f"{long_name}() takes a {count}-sequence ({len(items)}-sequence given)")
    return items
