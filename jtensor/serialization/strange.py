"""Files that `torch.save` has not written, and zip files that are cut off: what PyTorch says of them.

Owns: these errors. A pickle that is none of ours is gone through to see what is wrong with it, but nothing is made of what it names. May
not know: tensors.
"""
import pickle
import warnings

from . import careful
from .pickles import Tolerant

_END = 22                                            # bytes: the shortest ending that a zip file can have
CUT_OFF = ("PytorchStreamReader failed reading zip archive: {}. This is an internal miniz error. If you are seeing this error, there is a "
           "high likelihood that your checkpoint file is corrupted. This can happen if the checkpoint was not saved properly, was "
           "transferred incorrectly, or the file was modified after saving.")
_UNREADABLE = (careful.REFUSED + careful.NO_LONGER + "\nPlease file an issue with the following so that we can make `weights_only=True` "
               "compatible with your use case: WeightsUnpickler error: \n\nUnsupported operand {}" + careful.DOCUMENTED)
# the codes of pickles that PyTorch's unpickler of weights knows
_KNOWN = frozenset(b"().GJKMNQRUX]abcehjqrstu}\x80\x81\x85\x86\x87\x88\x89\x8a\x8f")


class _Weights(pickle._Unpickler):
    """Goes through a pickle as PyTorch's unpickler of weights does, and makes nothing of the names that ``find`` lets pass."""

    def __init__(self, file, find):
        super().__init__(file)
        self.find_class = find

    def persistent_load(self, entry):
        return None


def _unknown(code):
    def refuse(unpickler):
        raise pickle.UnpicklingError(_UNREADABLE.format(code))
    return refuse


def _protocol(unpickler):
    found = unpickler.read(1)[0]
    if found != 2:
        warnings.warn(f"Detected pickle protocol {found} in the checkpoint, which was not the default pickle protocol used by `torch.load` "
                      "(2). The weights_only Unpickler might not support all instructions implemented by this protocol, please file an "
                      "issue for adding support if you encounter this.", stacklevel=2)


_Weights.dispatch = {code: pickle._Unpickler.dispatch[code] if code in _KNOWN else _unknown(code) for code in range(256)}
_Weights.dispatch[pickle.PROTO[0]] = _protocol
for _code, _width in ((pickle.BINGET, 1), (pickle.LONG_BINGET, 4)):         # what is not there is a KeyError
    _Weights.dispatch[_code[0]] = lambda unpickler, width=_width: unpickler.append(
        unpickler.memo[int.from_bytes(unpickler.read(width), "little")])


def folder_of(paths):
    """The folder that holds all files of a zip archive, with its slash; PyTorch's error where it is none that `torch.save` has written."""
    first = paths[0] if paths else ""
    folder, slash, _ = first.partition("/")
    if paths and not slash:
        raise RuntimeError(f"[enforce fail at inline_container.cc:180] . file in archive is not in a subdirectory: {first}")
    if f"{folder}/version" not in paths and f"{folder}/.data/version" not in paths:
        raise RuntimeError('Expected hasRecord("version") to be true, but got false.  (Could this error message be improved?  If so, '
                           "please report an enhancement request to PyTorch.)")
    if f"{folder}/data.pkl" not in paths:
        raise RuntimeError(CUT_OFF.replace("reading zip archive", "locating file data.pkl").format("file not found"))
    return f"{folder}/"


def cut_off(file, start):
    """The error for a zip file without an end."""
    return RuntimeError(CUT_OFF.format("not a ZIP archive" if file.seek(0, 2) - start < _END else "failed finding central directory"))


def refuse(file, find):
    """Raises PyTorch's error for a file of neither format. ``find(module, name)`` refuses what files of weights may not name; None where a
    file may name anything."""
    if isinstance(file.read(0), str):
        raise AssertionError("Expected bytes, got str")
    (Tolerant(file) if find is None else _Weights(file, find)).load()
    raise RuntimeError("Invalid magic number; corrupt file?")
