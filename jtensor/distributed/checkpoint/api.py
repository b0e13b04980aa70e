"""What goes wrong while processes write or read a checkpoint together. Owns: the error that all of them raise."""
import traceback

__all__ = ["CheckpointException"]


def _wrap_exception(error):
    """An error as it is sent to the others: (itself, where it came from)."""
    summary = traceback.extract_tb(error.__traceback__)
    for frame in summary:
        if hasattr(frame, "_code"):             # from Python 3.13 on; it cannot be pickled
            frame._code = None
    return error, summary


def _is_wrapped_exception(obj):
    return isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], BaseException) and isinstance(obj[1], traceback.StackSummary)


class CheckpointException(BaseException):
    """Some processes have failed: ``failures`` says which, {rank: (error, where it came from)}. All processes of the group raise it."""

    def __init__(self, msg, failures):
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self):
        """{rank: (its error, where that came from)}."""
        return self._failures

    def __str__(self):
        text = f"CheckpointException ranks:{self._failures.keys()}\n"
        for rank, (error, trace) in self._failures.items():
            text += f"Traceback (most recent call last): (RANK {rank})\n"
            text += "".join(traceback.format_list(trace or ())) + "".join(traceback.format_exception_only(error))
        return text
