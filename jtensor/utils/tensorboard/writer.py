"""`torch.utils.tensorboard.writer`: where `SummaryWriter` lives in PyTorch. The package ``tensorboard`` has to be there."""


def __getattr__(name):
    if name in ("FileWriter", "SummaryWriter"):
        import tensorboard  # noqa: F401

        from .._tensorboard import writer
        return getattr(writer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
