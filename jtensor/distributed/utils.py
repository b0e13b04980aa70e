"""What libraries ask for around modules in several processes. Owns: the names of that."""
from .reducer import broadcast_together

__all__ = []


def _sync_module_states(module, process_group, broadcast_bucket_size, src, params_and_buffers_to_ignore=(), broadcast_buffers=True):
    """Has all members of a group have the parameters, and with ``broadcast_buffers`` the buffers, of member ``src``."""
    found = [*module.named_parameters(), *(module.named_buffers() if broadcast_buffers else ())]
    broadcast_together(process_group, [t.detach() for name, t in found if name not in params_and_buffers_to_ignore], src)
