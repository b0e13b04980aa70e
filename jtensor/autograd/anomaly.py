"""Anomaly detection: names the forward operation whose backward failed or gave NaN.

Owns: the flag and its context managers. May not know: tensors (the engine asks whether it is on).
"""
ON = _state = {"on": False, "check_nan": True}


def enabled():
    """Whether anomaly detection is on."""
    return _state["on"]


def checks_nan():
    return _state["on"] and _state["check_nan"]


class set_detect_anomaly:
    """Switches anomaly detection on or off; as a context manager it restores the mode at the end."""

    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, mode, check_nan=True):
        self.previous = dict(_state)
        _state.update(on=bool(mode), check_nan=check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _state.update(self.previous)


class detect_anomaly:
    """Context manager: backward errors show the forward traceback, and a NaN gradient raises."""

    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, check_nan=True):
        import warnings
        self.check_nan = check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
                      stacklevel=2)

    def __enter__(self):
        self.previous = dict(_state)
        _state.update(on=True, check_nan=self.check_nan)

    def __exit__(self, *exc):
        _state.update(self.previous)
