"""`torch.utils.tensorboard`: logs for TensorBoard. They are written by the package ``tensorboard``, which has to be installed: without it
the names are not to be had, and asking for one raises the ``ModuleNotFoundError`` that PyTorch raises."""

_NAMES = ("FileWriter", "SummaryWriter")


def __getattr__(name):
    if name in _NAMES or name == "writer":
        import tensorboard  # noqa: F401

        from .._tensorboard import writer
        return writer if name == "writer" else getattr(writer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
