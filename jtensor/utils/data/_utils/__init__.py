"""How samples become batches (``collate``), and how they are fetched (``fetch``, ``worker``)."""
from . import collate as collate
from . import fetch as fetch
from . import pin_memory as pin_memory
from . import worker as worker
