"""The names of a module's parameters as they are without what is wrapped around it. Owns: which wrappers have no part in a name."""
import itertools

from ..._dynamo.eval_frame import OptimizedModule
from ...nn.modules.module import _EXTRA_STATE_KEY_SUFFIX, Module
from ...nn.parallel import DistributedDataParallel

__all__ = ["EXTRA", "known", "name_of"]

EXTRA = object()                        # stands for what a module's `get_extra_state` gives
_CHECKPOINTED, _MODIFIERS = "_checkpoint_wrapped_module.", "_fqn_modifiers"
_WRAPPERS = {DistributedDataParallel: "module", OptimizedModule: "_orig_mod"}


def name_of(model, name, whole=False, modifiers=_MODIFIERS):
    """A name from `named_parameters` or of a state dict, without those of wrappers; ``whole``: with those that state dicts have."""
    name = name.replace(_CHECKPOINTED, "")
    if "." not in name:
        return name
    parts, place, path = [], model, name.split(".")
    for at, part in enumerate(path):
        wrapped = next((own for kind, own in _WRAPPERS.items() if isinstance(place, kind)), None)
        if wrapped is not None:
            if part != wrapped:
                raise AssertionError(f"Expected '{wrapped}', got '{part}'")
            place = getattr(place, part)
            if whole:
                parts.append(part)
            continue
        instead = getattr(place, modifiers)().get(part) if hasattr(place, modifiers) else None
        if instead and hasattr(place, instead):
            place = getattr(place, instead)
        parts.append(part)
        if part != _EXTRA_STATE_KEY_SUFFIX:
            place = getattr(place, part)
        elif at != len(path) - 1:
            raise RuntimeError("Expect `_extra_state` to be the last obj name")
    return ".".join(parts)


def known(model, modifiers=_MODIFIERS):
    """(name, parameter or buffer) of all that a state dict has, those of inner modules first; `EXTRA` for what is none."""
    seen = set()

    def visit(module, prefix):
        seen.add(module)
        start = f"{prefix}." if prefix else ""
        hidden = set(getattr(module, modifiers)().values()) if hasattr(module, modifiers) else ()
        for name, child in module.named_children():
            if child not in seen:
                yield from visit(child, prefix if name in hidden else start + name)
        for name, value in itertools.chain(module.named_buffers(recurse=False), module.named_parameters(recurse=False)):
            if name not in module._non_persistent_buffers_set:
                yield start + name, value
        if type(module).get_extra_state is not Module.get_extra_state:
            yield start + _EXTRA_STATE_KEY_SUFFIX, EXTRA
    yield from visit(model, "")
