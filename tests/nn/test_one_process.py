"""Scripts that can run on several processes find that this is one."""
import pytest

import jtensor

from .both import raised, same


@pytest.mark.parametrize("call", [
    "is_initialized()", "is_torchelastic_launched()", "get_rank()", "get_world_size()", "get_backend()", "barrier()",
    "destroy_process_group()", "all_reduce(torch.ones(1))", "broadcast(torch.ones(1), 0)", "all_gather([], torch.ones(1))",
])
def test_without_a_group(call):
    same(lambda torch: raised(lambda: eval("torch.distributed." + call, {"torch": torch})))


def test_a_module_of_several_processes_needs_a_group():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        jtensor.nn.parallel.DistributedDataParallel(jtensor.nn.Linear(1, 1))
