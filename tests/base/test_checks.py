"""`torch._check` and its kin against PyTorch's."""
import pytest

import jtensor

CALLS = ["_check(True)", "_check(False)", "_check(False, lambda: 'hm')", "_check(False, 'hm')", "_check(torch.tensor(False))", "_check(1)",
         "_check_with(IndexError, False, lambda: 'x')", "_check_index(False, lambda: 'i')", "_check_value(False)", "_check_type(False)",
         "_check_not_implemented(False)", "_check_tensor_all(torch.tensor([True, False]), lambda: 'no')",
         "_check_tensor_all(torch.tensor([True]))", "_check_tensor_all(torch.tensor([1, 0]))", "_check_tensor_all([True])",
         "_check_tensor_all_with(ValueError, torch.tensor([True, False]))", "_assert(True, 'm')", "_assert(False, 'm')",
         "_assert(torch.tensor(False), 'm')", "_assert_async(torch.tensor(True))", "_assert_async(torch.tensor(0.0))",
         "_assert_async(torch.tensor(False), 'm')"]


def outcome(torch, call):
    try:
        return eval(f"torch.{call}", {"torch": torch})
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("call", CALLS)
def test_as_there(call):
    assert outcome(jtensor, call) == outcome(pytest.importorskip("torch"), call)
