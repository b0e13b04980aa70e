"""Programs that `torch.jit.script` refuses, and some that it takes: ``load(lib)`` answers this file's names with a library's ``torch``."""
# ruff: noqa: F821, UP006, UP035, UP045, B007, F841
from pathlib import Path
from typing import Dict, Final, List, Optional, Tuple


def load(lib):
    """{name: what it is} of this file, whose ``torch`` is a library."""
    space = {"torch": lib, "__name__": "scripted_mistakes", "__file__": __file__}
    exec(compile(Path(__file__).read_text(), __file__, "exec"), space)
    return space


NUMBER = 3

if "torch" in globals():
    Tensor, nn = torch.Tensor, torch.nn
    KEPT = torch.ones(2)

    def m_unknown_method(x): return x.foo()

    def m_undefined(x): return nothing_of_the_kind

    def m_returns(x: int):
        if x > 0:
            return 1
        return "a"

    def m_global_number(x): return NUMBER + x

    def m_global_tensor(x): return x + KEPT

    def m_try(x):
        try:
            return x
        except ValueError:
            return x

    def m_no_function(x): return torch.nosuch(x)

    def m_star(x, *a): return x

    def m_branches(x: int):
        if x > 1:
            a = 1
        else:
            a = "s"
        return a

    def m_one_branch(x: int):
        if x > 1:
            a = 1
        return a

    def m_add_text(x): return torch.add(x, "a")

    def m_loop_type(x):
        a = 1
        a = "s"
        for i in range(3):
            a = 2
        return a

    def m_missing_argument(x): return m_two(x)

    def m_two(x, y: int) -> int: return y

    def m_global(x):
        global NUMBER
        return x

    def m_lambda(x): return (lambda y: y)(x)

    def m_yield(x):
        yield x

    def m_dict_attribute(x): return {1: 2}.foo

    def m_tuple_index(x: Tuple[int, int]): return x[5]

    def m_many_indices(x: int): return x[1, 2]

    def m_index_of_number(x: int): return x[0]

    def m_slice_assigned(x: List[int]):
        x[0:2] = [1, 2]
        return x

    def m_unpack_number(x: int):
        a, b = x
        return a

    def m_unpack_count(x: int):
        a, b = (1, 2, 3)
        return a

    def m_iterate_number(x: int):
        for i in x:
            pass
        return x

    def m_call_number(x: int): return x(3)

    def m_list_key(x: List[int]): return x["a"]

    def m_if_expression(x: int): return "a" if x else 3

    def m_break_unrolled(x: Tuple[int, int]):
        for i in x:
            if i > 2:
                break
        return x

    def m_no_return(x: int) -> int:
        if x > 2:
            return 3

    def m_maybe_return(x: int):
        if x > 2:
            return 3

    def m_set_attribute(x):
        x.foo = 3
        return x

    def m_optional_added(x: Optional[Tensor]): return x + 1

    def m_comprehension_if(x: List[int]): return [i for i in x if i > 2]

    def m_inner_function(x: int):
        def g(y): return y
        return g(x)

    def m_format_spec(x: int): return f"{x:.2f}"

    def m_dict_key(x: Dict[str, int]): return x[1]

    def m_retyped(x: int):
        x = "s"
        return x

    def m_number_and_text(x: int, y: str): return x + y

    def m_annotated_return(x: int) -> str: return x

    def m_delete(x: int):
        del x.y
        return x

    class Parted(nn.Module):
        k: Final[int] = 3

        def __init__(self):
            super().__init__()
            self.c, self.e, self.l, self.z = 3, [], nn.Linear(2, 2), object()

    def _module(forward):
        return lambda: type("Parted", (Parted,), {"forward": forward, "__module__": __name__})()

    def m1(self, x): self.zz = x

    def m2(self, x): self.c = "a"

    def m3(self, x): return self.e

    def m4(self, x): return self.l(x, x)

    def m5(self, x): return self.l.foo

    def m6(self, x): return self.nope

    def m7(self, x): return self.z

    def m8(self, x): return self[0]

    MISTAKES = {name: lambda one=one: one for name, one in list(globals().items()) if name.startswith("m_")}
    MISTAKES |= {f"module_{at}": _module(one) for at, one in enumerate((m1, m2, m3, m4, m5, m6, m7, m8))}
