"""Where the processes of a launcher write to, and the exception for a signal that a launcher gets.

Owns: the words for standard streams, the folders of a job's logs. May not know: tensors; how processes are started.
"""
import enum
import os
import re
import shutil
import tempfile

__all__ = ["DefaultLogsSpecs", "SignalException", "Std", "to_map"]

_ONE = r"[0-3]"
_EACH = rf"\d+:{_ONE}(,\d+:{_ONE})*"


class SignalException(Exception):
    """The launcher got a signal: ``sigval`` is which."""

    def __init__(self, msg, sigval):
        super().__init__(msg)
        self.sigval = sigval


class Std(enum.IntFlag):
    """Standard streams: none, the output, the errors or both.

    >>> Std.from_str("3") is Std.ALL, Std.from_str("0:1,1:2") == {0: Std.OUT, 1: Std.ERR}
    (True, True)
    """

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = OUT | ERR

    @classmethod
    def from_str(cls, vm):
        """The streams that ``"3"`` names, or a dictionary of those that ``"0:1,1:2"`` names for local ranks. ValueError for other texts."""
        if re.fullmatch(_ONE, vm):
            return cls(int(vm))
        if re.fullmatch(_EACH, vm):
            return {int(rank): cls(int(value)) for rank, value in (pair.split(":") for pair in vm.split(","))}
        raise ValueError(f"{vm} does not match: <{_ONE}> or <{_EACH}>")


def to_map(val_or_map, local_world_size):
    """Streams for each of so many local ranks, given one value for all or a dictionary, in which absent ranks have none."""
    if isinstance(val_or_map, Std):
        return dict.fromkeys(range(local_world_size), val_or_map)
    return {rank: val_or_map.get(rank, Std.NONE) for rank in range(local_world_size)}


class DefaultLogsSpecs:
    """Where the processes of a job write: ``<log_dir>/<run id>_<random>/attempt_<n>/<local rank>/`` has their files.

    Args:
        log_dir: the folder; one for temporary files unless given, which is removed after a job that leaves nothing in it to be read.
        redirects: the streams that go to ``stdout.log`` and ``stderr.log`` only, a `Std` or a dictionary of local ranks.
        tee: the streams that go there and to the console, each line with its rank in front.
        local_ranks_filter: the local ranks that are seen on the console; all, unless given.
    """

    def __init__(self, log_dir=None, redirects=Std.NONE, tee=Std.NONE, local_ranks_filter=None):
        self._asked, self._redirects, self._tee, self._shown = log_dir, redirects, tee, local_ranks_filter
        self._base = self._job = None

    @property
    def root_log_dir(self):
        """The folder that was asked for; None if a temporary one is to do."""
        return self._asked

    def _attempt(self, run_id, attempt):
        """The folder of one start of all processes, made anew."""
        if self._job is None:
            self._base = self._asked or tempfile.mkdtemp(prefix="torchelastic_")
            os.makedirs(self._base, exist_ok=True)
            self._job = tempfile.mkdtemp(prefix=f"{run_id}_", dir=self._base)
        folder = os.path.join(self._job, f"attempt_{attempt}")
        os.makedirs(folder)
        return folder

    def _stream(self, std, local_rank, count):
        """What becomes of a stream: whether a file has it, whether the console does, and whether with a prefix."""
        teed = bool(std & to_map(self._tee, count)[local_rank])
        filed = teed or bool(std & to_map(self._redirects, count)[local_rank])
        shown = (teed or not filed) and (self._shown is None or local_rank in self._shown)
        return filed, shown, teed

    def _forget(self):
        """Removes a temporary folder in which there are no files."""
        if self._base is not None and not self._asked and not any(files for _, _, files in os.walk(self._base)):
            shutil.rmtree(self._base, ignore_errors=True)
        self._job = None
