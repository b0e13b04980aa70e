"""`torch.utils.deterministic`: memory that nobody has written holds what no program wants to see."""
import types

import pytest

import jtensor

from ..nn.both import raised, same

KINDS = ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64", "complex128",
         "float8_e4m3fn", "uint16", "uint32"]
MADE = ["empty(2, dtype=d)", "empty_like(torch.zeros(2, dtype=d))", "zeros(2, dtype=d).new_empty(2)",
        "empty_strided((2, 2), (1, 2), dtype=d)", "empty_strided((2,), (3,), dtype=d)", "empty_permuted((2, 2), (1, 0), dtype=d)",
        "zeros(2, dtype=d).resize_(4)", "zeros(2, dtype=d).resize_(1).resize_(2)", "zeros(2, dtype=d).new(2)",
        "zeros(2, dtype=d).new_empty_strided((2,), (1,))",
        "empty(0, dtype=d)", "empty(1, 2, 2, 1, dtype=d, memory_format=torch.channels_last)"]


@pytest.fixture(autouse=True)
def as_it_was():
    yield
    for torch in (pytest.importorskip("torch"), jtensor):
        torch.use_deterministic_algorithms(False)
        torch.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("kind", KINDS)
def test_is_filled(kind):
    def program(torch):
        torch.use_deterministic_algorithms(True)
        made = [eval(f"torch.{text}", {"torch": torch, "d": getattr(torch, kind)}) for text in MADE]
        return [(str(t.dtype), t.stride(), str((t.float() if "float8" in kind else t).tolist())) for t in made]

    same(program)


def test_old_constructors_and_what_is_left_alone():
    def program(torch):
        torch.use_deterministic_algorithms(True, warn_only=True)
        grown = torch.zeros(2)
        grown.resize_(4)
        made = [torch.Tensor(2), torch.FloatTensor(1), torch.LongTensor(1), torch.zeros(2), torch.ones(2), torch.empty(1, device="meta")]
        weight, leaf = torch.nn.Linear(2, 2).weight, torch.empty(2, requires_grad=True)
        return [str(made), grown._version, bool(weight.isnan().any()), leaf.requires_grad]

    same(program)


def test_the_module_has_a_switch():
    def program(torch):
        module, seen = torch.utils.deterministic, []
        seen += [module.fill_uninitialized_memory, isinstance(module, types.ModuleType)]
        torch.use_deterministic_algorithms(True)
        seen.append(bool(torch.empty(2).isnan().any()))
        module.fill_uninitialized_memory = False
        seen += [module.fill_uninitialized_memory, bool(torch.zeros(2).resize_(4)[:2].isnan().any())]
        seen += [raised(lambda value=value: setattr(module, "fill_uninitialized_memory", value)) for value in (1, "yes", None)]
        module.fill_uninitialized_memory = True
        seen.append(bool(torch.empty(2).isnan().any()))
        torch.set_deterministic_debug_mode("default")
        return seen

    same(program)
    assert jtensor.empty(2).tolist() == [0.0, 0.0]
