"""Files by their paths: `FileOpener`."""
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import get_file_binaries_from_pathnames
from .utils import no_length

__all__ = ["FileOpenerIterDataPipe"]


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe):
    """Pairs of a path and the file, opened to be read ("r", "b", "t"). ``length``: what `len` answers.

    >>> from jtensor.utils.data.datapipes.iter import FileOpener
    >>> next(iter(FileOpener(["README.md"]).read_from_stream(9)))
    ('README.md', '# jtensor')
    """

    def __init__(self, datapipe, mode="r", encoding=None, length=-1):
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self):
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)

    def __len__(self):
        if self.length == -1:
            raise no_length(self)
        return self.length
