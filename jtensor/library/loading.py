"""`torch.ops.load_library`: operators that other libraries bring compiled against PyTorch, which cannot be loaded where it is not.

Some are written anew here; which, says the table. Owns: which file stands for which of them. May not know: what they do.
"""
import importlib
import os

__all__ = ["load_library", "loaded_libraries"]

# The end of a file's path, without what follows the first dot: the room.
_WRITTEN_ANEW = {"torchvision/_C": "torchvision.regions", "torchvision/image": "torchvision.images",
                 "torchaudio/lib/_torchaudio": "torchaudio", "torchaudio/lib/libtorchaudio": "torchaudio"}
loaded_libraries = set()


def load_library(path):
    """Defines the operators of a compiled library under `torch.ops`, if they are written anew here: torchvision's and torchaudio's.

    The file is not opened. OSError for any other library.

    >>> torch.ops.load_library("/site-packages/torchvision/_C.so")
    >>> torch.ops.torchvision.nms(torch.tensor([[0., 0., 2., 2.], [0., 0., 2., 1.9]]), torch.tensor([0.5, 0.9]), 0.5)
    tensor([1])
    """
    folder, file = os.path.split(os.path.abspath(path))
    named = "/".join([*folder.split(os.sep), file.partition(".")[0]])
    room = next((room for end, room in _WRITTEN_ANEW.items() if named.endswith("/" + end)), None)
    if room is None:
        raise OSError(f"Could not load this library: {path}. It is compiled against PyTorch, which is not in this process: jtensor has the "
                      "operators of torchvision and torchaudio. One's own is a function in Python (torch.library.custom_op).")
    importlib.import_module(f"{__package__}.{room}")
    loaded_libraries.add(str(path))
