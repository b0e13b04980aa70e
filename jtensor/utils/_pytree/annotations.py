"""The names that annotations of functions over nests are written with. Owns: these types; they check nothing."""
import typing
from collections.abc import Callable, Iterable

PyTree = Context = DumpableContext = typing.Any

T = typing.TypeVar("T")
S = typing.TypeVar("S")
U = typing.TypeVar("U")
R = typing.TypeVar("R")
K = typing.TypeVar("K")


class KeyEntry(typing.Protocol):
    """What names a part of a container: `SequenceKey`, `MappingKey`, `GetAttrKey` or a class of one's own."""

    def __hash__(self):
        ...

    def __eq__(self, other):
        ...

    def __str__(self):
        ...

    def get(self, parent):
        """The part of this container that has the name."""
        ...


KeyPath = tuple[KeyEntry, ...]
FlattenFn = FlattenFunc = Callable[[PyTree], tuple[list[typing.Any], Context]]
UnflattenFn = UnflattenFunc = Callable[[Iterable[typing.Any], Context], PyTree]
FlattenWithKeysFn = FlattenWithKeysFunc = Callable[[PyTree], tuple[list[tuple[KeyEntry, typing.Any]], typing.Any]]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]
ToStrFunc = Callable[["TreeSpec", list[str]], str]  # noqa: F821 - as PyTorch writes it, a name
MaybeFromStrFunc = Callable[[str], tuple[typing.Any, Context, str] | None]


class structseq(tuple):
    """The type of C's named tuples (`torch.return_types`, `time.struct_time`) in annotations: there is no instance of it."""

    __slots__ = ()

    def __init_subclass__(cls):
        raise TypeError("type 'structseq' is not an acceptable base type")

    def __new__(cls, sequence, dict=...):
        raise NotImplementedError


for _part in (KeyEntry, structseq, T, S, U, R, K):
    _part.__module__ = "torch.utils._pytree"
