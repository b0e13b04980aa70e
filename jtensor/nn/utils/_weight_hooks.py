"""Hooks that compute a parameter, their ``name``, before each forward pass: those of `weight_norm` and `spectral_norm`."""


def found(module, kind, name):
    """The key of the module's hook of a class for a parameter, or None."""
    hooks = module._forward_pre_hooks.items()
    return next((key for key, hook in hooks if isinstance(hook, kind) and hook.name == name), None)


def take_out(module, kind, name, title):
    """Has that hook put the weight back, and takes it out. ValueError where there is none."""
    key = found(module, kind, name)
    if key is None:
        raise ValueError(f"{title} of '{name}' not found in {module}")
    module._forward_pre_hooks[key].remove(module)
    del module._forward_pre_hooks[key]
