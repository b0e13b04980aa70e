"""Names that libraries import of what is not there: what calls one is refused.

Owns: how such a name is made. May not know: the names.
"""
from .errors import missing, refusal


def kind(home, name, what, instead, *bases):
    """A class of which there is no instance: making one raises ``NotImplementedError``.

    >>> from jtensor.base.absent import kind
    >>> kind("somewhere", "Reader", "files of parts", "torch.load")()
    Traceback (most recent call last):
    jtensor.MissingFeature: jtensor does not have files of parts (Reader); what works: torch.load
    """
    def refuse(cls, *args, **kwargs):
        raise missing(f"{what} ({name})", instead)
    return type(name, bases, {"__new__": refuse, "__module__": home, "__doc__": f"Of {what}. To be named alone: there is no instance."})


def function(home, name, what, instead):
    """A function that raises ``NotImplementedError``."""
    made = refusal(name, what, instead, "it is there to be named alone.")
    made.__module__ = home
    return made
