"""`torch.__future__`: how `Module.to` and its like put converted tensors into a module. Owns: the two switches."""

_overwrite = False
_swap = False


def set_overwrite_module_params_on_conversion(value):
    """Whether a module's conversion puts new parameters in the place of the old ones, instead of giving these other data."""
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion():
    """What `set_overwrite_module_params_on_conversion` was given; False at first."""
    return _overwrite


def set_swap_module_params_on_conversion(value):
    """Whether conversion and ``load_state_dict`` use `torch.utils.swap_tensors`. It goes before the other switch.

    >>> torch.__future__.set_swap_module_params_on_conversion(True)
    >>> layer = torch.nn.Linear(1, 1)
    >>> held = layer.weight
    >>> layer.double().weight is held, held.dtype
    (True, torch.float64)
    >>> torch.__future__.set_swap_module_params_on_conversion(False)
    """
    global _swap
    _swap = value


def get_swap_module_params_on_conversion():
    """What `set_swap_module_params_on_conversion` was given; False at first."""
    return _swap
