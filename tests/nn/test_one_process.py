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


def test_it_is_not_available_and_says_so():
    group = jtensor.distributed
    assert not (group.is_available() or group.is_initialized() or group.is_nccl_available() or group.is_gloo_available())
    with pytest.raises(NotImplementedError, match="groups of processes"):
        group.init_process_group("gloo")
    with pytest.raises(NotImplementedError, match="groups of processes"):
        jtensor.nn.parallel.DistributedDataParallel(jtensor.nn.Linear(1, 1))
