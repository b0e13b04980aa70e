"""What of ``torch._C._distributed_c10d`` there is: stores, groups and what they make, at their place in PyTorch."""
from ..distributed.distributed_c10d import (  # noqa: F401
    FileStore,
    GradBucket,
    HashStore,
    PrefixStore,
    ReduceOp,
    Store,
    TCPStore,
    Work,
)
from ..distributed.groups import ProcessGroup  # noqa: F401
from ..distributed.reducer import Reducer  # noqa: F401
