"""`torch.utils.tensorboard.summary`: what `SummaryWriter` writes, as loggers of other libraries make it themselves. The package
``tensorboard`` has to be there."""


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None):
    """(experiment, start, end): the settings of a run, and which numbers tell how good it was."""
    return _summaries().hparams(hparam_dict, metric_dict, hparam_domain_discrete)


def _summaries():
    import tensorboard  # noqa: F401

    from .._tensorboard import summaries
    return summaries


def __getattr__(name):
    if name in ("custom_scalars", "histogram", "histogram_raw", "image", "pr_curve", "scalar", "text"):
        return getattr(_summaries(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
