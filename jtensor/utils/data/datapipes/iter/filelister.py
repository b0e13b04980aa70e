"""The paths of files: `FileLister`."""
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import get_file_pathnames_from_root
from .utils import IterableWrapperIterDataPipe, no_length

__all__ = ["FileListerIterDataPipe"]


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe):
    """The paths of the files in one folder or several. ``masks``: of what names (``*.txt``). ``recursive``: also in the folders within.
    ``non_deterministic``: not sorted. ``length``: what `len` answers."""

    def __init__(self, root=".", masks="", *, recursive=False, abspath=False, non_deterministic=False, length=-1):
        if isinstance(root, str):
            root = [root]
        self.datapipe = root if isinstance(root, IterDataPipe) else IterableWrapperIterDataPipe(root)
        self.masks, self.recursive, self.abspath = masks, recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self):
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(path, self.masks, self.recursive, self.abspath, self.non_deterministic)

    def __len__(self):
        if self.length == -1:
            raise no_length(self)
        return self.length
