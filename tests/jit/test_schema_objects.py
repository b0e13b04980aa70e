"""Schemas as objects against live PyTorch: what is read, what is refused and where, those of all operators; TorchScript's types."""
import copy
import pickle
import re

import pytest

import jtensor
from jtensor.base.errors import MissingFeature

torch = pytest.importorskip("torch")

KINDS = """
    Generator ScalarType Layout MemoryFormat QScheme Dimname Quantizer SymBool SymFloat DeviceIndex Capsule AnyClassType
    AnyEnumType NoneType None Storage Stream AnyList AnyTuple ConstQuantizerPtr TensorList Device number Number Scalar Any
    Union(int,str) Union(str,int,int?) RRef(Tensor) Await(int) Future(int)[] Dict(str,int)? (int,Tensor?)[] SymInt? SymInt[2]?
    ScalarType[] Dict(str,SymInt) Future(SymInt) (SymInt,ScalarType) t[] t1 Tensor?[](a) Tensor(a)?(b) Tensor(a!)[](b)?
    int[2](a!)? Dict(int,Tensor)(a) Tensor(a,b) Tensor(a->b) Tensor(a|b->c) (Tensor(a),Tensor(b!)) int[][3]? int[3][2] int?[2]
""".split()
TEXTS = [line.strip("\n").removeprefix("    ").encode().decode("unicode_escape") for line in r"""
    h(bool[3] m=[True,False,True]) -> ()
    h(bool[2] m=True) -> ()
    h(float[2] x=1.) -> ()
    h(float[2] x=[1.,2]) -> ()
    h(int[] x=[1,1]) -> ()
    h(int[2] x=[1,2]) -> ()
    h(int[] x=1) -> ()
    h(Tensor[] x=None) -> ()
    h(Tensor[] x=[]) -> ()
    h(int[]? x=[1,2]) -> ()
    h(int[2]? x=1) -> ()
    h(Tensor?[] x=[]) -> ()
    h(str[] x=[]) -> ()
    h(complex[] x=[1j]) -> ()
    h(Scalar[] x=[1]) -> ()
    h(SymInt[2] x=1, SymInt y=3, SymInt? z=-1) -> ()
    h(Device? d='cpu', Generator? g=None, Generator g=None, Device? f=None) -> ()
    h(int? x=1, float? y=2, str? s='q') -> ()
    h(Layout l=strided) -> ()
    h(Layout? l=sparse_coo) -> ()
    h(ScalarType? l=bfloat16) -> ()
    h(ScalarType? l=cfloat) -> ()
    h(ScalarType? l=half) -> ()
    h(MemoryFormat m=channels_last) -> ()
    h(MemoryFormat m=preserve_format) -> ()
    h(int m=Sum) -> ()
    h(Any? x=None) -> ()
    h(Any x=None) -> ()
    h(Stream x=None) -> ()
    h(Dict(str,int) x=None) -> ()
    h(t x=None) -> ()
    h(str x=3) -> ()
    h(int x='3') -> ()
    h(float[] x=[], int[] y=[]) -> ()
    h(float x=.5, float y=1., float z=1e5, Scalar w=1e5, Scalar v=-.5) -> ()
    h(Tensor x, *) -> ()
    h(*) -> ()
    h(*, int x=1, int y) -> ()
    h(int x, ...) -> ...
    h() -> (...)
    h(*, ...) -> ()
    h((int, int) x) -> ((int, int), int)
    h() -> Tensor(a!)[] x
    h(int[3] x=[1,2]) -> ()
    h(int x=inf) -> ()
    h(int\nx)->\nint
    h(int x)->int\n
    \nh()->int
     h ( int  x ) -> int\x20
    aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
    g(...) -> ...
    h() -> ()
    h() -> Tensor(a -> *)
    h(Tensor(a -> b|c)[] x) -> Tensor(a)[]
    h(Tensor? x, SymInt[] n, SymInt? m=None, Any a, t x) -> t
    h(Dict(str, Tensor) d, (int, str) t, Future(int) f, Tensor[][] y, int[][2] z) -> int
    n::h(Tensor x, Tensor(a!)? y, Tensor?[] z) -> (Tensor)
    h(float x=1e-5, float y=1, float z=-2.5, int w=-3, float inf=inf, bool[3] m=[True,False,True], int[1] u=0, float[] e=[]) -> Tensor(*)
    h(int x=1,) -> int
    h(foo x) -> int
    h(int x
    h
    h()
    h() ->
    h(int) -> int
    h(int x) -> int y
    h(int x, *, int y, *, int z) -> int
    h(int x, int x) -> int
    h(int x=a) -> int
    aten::h.(int x) -> int
    a::b::c(int x) -> int
    a.b.c(int x) -> int
    h(int x) -> int extra foo
    h(Tensor(a!){C} x) -> int
    h(str x="a\\n'") -> str
    h(int[3] x=1, int[2]? y=None, bool b=1, Scalar s=1.5, Scalar? q=True) -> int
    h(int x=None) -> int
    h(Tensor x=None) -> ()
    h(int(a) x) -> int
    h(Tensor(a) x, Tensor(b) y) -> (Tensor(a) z, Tensor(b) w)
    h(Tensor(a|b) x) -> Tensor(a|b!)
    h(number x, Stream s, Storage t, QScheme q, Dimname[]? n, Tag t) -> int
    h(RRef(Tensor) s, Union[int,str] t) -> int
    h(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
    h(Tensor x, *, Tensor(a!) out_x, Tensor(b!) y) -> Tensor(a!)
    h(Tensor(a!) out, Tensor y) -> Tensor(a!)
""".strip("\n").splitlines()]
LINES = [line.strip() for line in r"""
    T.ListType(T.IntType.get()), T.ListType.ofInts() == T.ListType(T.IntType.get()), T.ListType.ofInts() == T.ListType.ofFloats()
    T.OptionalType.ofTensor().str(), T.OptionalType.ofTensor().getElementType(), T.TensorType.getInferred()
    T.DictType(T.StringType.get(), T.IntType.get()).getKeyType(), T.TupleType([T.IntType.get()]).elements(), T.TupleType([]).str()
    T.UnionType([T.StringType.get(), T.IntType.get()]), T.FutureType(T.IntType.get()).str(), T.AwaitType(T.IntType.get()).str()
    T.IntType(), T.Type()
    T.IntType.get() is T.IntType.get(), T.IntType.get().containedTypes(), T.SymIntType.get(), T.IntType.get().is_interface_type()
    T.IntType.get() == 3
    T.ListType(3)
    T.IntType.get().isSubtypeOf(T.NumberType.get()), T.BoolType.get().isSubtypeOf(T.NumberType.get())
    T.NoneType.get().isSubtypeOf(T.OptionalType.ofTensor()), T.ListType.ofInts().isSubtypeOf(T.ListType(T.NumberType.get()))
    T.TupleType([T.IntType.get()]).isSubtypeOf(T.TupleType([T.NumberType.get()])), T.IntType.get().isSubtypeOf(T.AnyType.get())
    T.OptionalType(T.IntType.get()).isSubtypeOf(T.OptionalType(T.NumberType.get())), T.SymIntType.get().isSubtypeOf(T.IntType.get())
    T.parse_schema(3)
    T.parse_schema()
    T.parse_schema("h(foo x) -> int", False)
    T.parse_schema("h(foo x) -> int", allow_typevars=True)
    T.FunctionSchema()
    P = T.parse_schema; P("h(int x)->int") == P("h(int x) -> int"), P("h(int x)->int") == P("h(int y)->int")
    P = T.parse_schema; len({P("h()->()"), P("h() -> ()")})
    s = T.parse_schema("h(int x, *, Tensor(a!) y) -> Tensor(a!)"); T.FunctionSchema("g", "u", s.arguments, s.returns, True, False)
    T.Argument("x", T.ListType.ofInts(), 2, [1, 1], False, None).default_value
    s = T.ops.aten.add.Tensor._schema; s is T.ops.aten.add.Tensor._schema, copy.deepcopy(s) == s, pickle.loads(pickle.dumps(s)) == s
    T._C.parse_schema is T.parse_schema, T._C.FunctionSchema is T.FunctionSchema, T._C.Argument is T.Argument
    T.FunctionSchema, T.Argument, T._C._AliasInfo, type(T.parse_schema("h(int x) -> ()").arguments[0].type)
""".strip().splitlines()]


def told(schema):
    """All that a schema says."""
    arguments = [(a.name, a.N, a.default_value, type(a.default_value).__name__, a.has_default_value(), a.kwarg_only, a.is_out, a.is_write,
                  a.alias_info and (a.alias_info.is_write, sorted(a.alias_info.before_set), sorted(a.alias_info.after_set)),
                  [(str(t), t.str(), t.annotation_str, t.kind(), type(t).__name__) for t in (a.type, a.real_type)])
                 for a in schema.arguments + schema.returns]
    return str(schema), schema.name, schema.overload_name, schema.is_mutable, schema._is_view_op(), len(schema.arguments), arguments


def outcome(library, text):
    try:
        return repr(told(library.parse_schema(text)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def test_texts_are_read_and_refused_as_in_pytorch():
    texts = TEXTS + [f"h({kind} x) -> ()" for kind in KINDS] + [f"h() -> {kind}" for kind in KINDS]
    assert not {text: both for text in texts if len(set(both := (outcome(torch, text), outcome(jtensor, text)))) > 1}


def answered(library, line):
    scope = {"T": library, "copy": copy, "pickle": pickle}
    *before, last = line.split("; ")
    try:
        exec("; ".join(before), scope)
        return re.sub("0x[0-9a-f]+", "0x", repr(eval(last, scope)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def test_types_and_objects_are_pytorchs():
    assert not {line: both for line in LINES if len(set(both := (answered(torch, line), answered(jtensor, line)))) > 1}


def test_operators_schemas_are_pytorchs():
    """Of every form that both have (all of them are in one table)."""
    from jtensor.library import aten
    wrong, count = [], 0
    for name, forms in aten.operators().items():
        for form in forms:
            ours, theirs = (getattr(getattr(library.ops.aten, name), form) for library in (jtensor, torch))
            count += 1
            if (told(ours._schema), ours.is_view) != (told(theirs._schema), theirs.is_view):
                wrong.append(str(theirs._schema))
    assert not wrong and count > 2000


def test_ones_own_operator_has_one():
    @jtensor.library.custom_op("schemas::scale_", mutates_args={"x"})
    def scale_(x: jtensor.Tensor, by: float = 2.0) -> None:
        x.mul_(by)

    schema = jtensor.ops.schemas.scale_.default._schema
    assert isinstance(schema, jtensor.FunctionSchema) and schema.is_mutable and schema.arguments[1].default_value == 2.0
    assert str(schema) == "schemas::scale_(Tensor(a0!) x, float by=2.) -> ()"


def test_what_is_refused():
    schema = jtensor.parse_schema("h(int x) -> int")
    with pytest.raises(MissingFeature, match="== of schemas"):
        schema.is_backward_compatible_with(schema)
    with pytest.raises(MissingFeature, match="torch.ClassType"):
        jtensor.ClassType("a")
