"""Files' contents as objects, by the ends of the files' names.

A handler takes an end and the contents, and answers None for what is not its own. Images, films, sounds and MATLAB's files need the
packages that read them.
"""
import io
import json
import os
import pickle
import tempfile

import numpy as np

import jtensor

from .common import StreamWrapper

__all__ = ["Decoder", "ImageHandler", "MatHandler", "audiohandler", "basichandlers", "extension_extract_fn", "handle_extension",
           "imagehandler", "mathandler", "videohandler"]

# Ends of names, in PyTorch's order. It looks for an end within each of these texts, so that "pt" is text (of "transcript").
_TEXT, _NUMBER, _JSON, _PICKLE = "txt text transcript", "cls cls2 class count index inx id", "json jsn", "pickle pyd"
_IMAGES = "jpg jpeg png ppm pgm pbm pnm".split()
_FILMS = "mp4 ogv mjpeg avi mov h264 mpg webm wmv".split()
_SOUNDS = "flac wav mp3 sox m4a ogg wma".split()

# What an image becomes: (of what kind its numbers are held, their type, which channels).
_KINDS = {"": "numpy", "torch": "torch"}
_IMAGE_FORMS = {f"{prefix}{channels}{bits}": (kind, "uint8" if bits else "float", channels)
                for prefix, kind in _KINDS.items() for channels in ("l", "rgb", "rgba") for bits in ("8", "")}
_IMAGE_FORMS |= {"torch": ("torch", "float", "rgb"), "pil": ("pil", None, "rgb")}
_IMAGE_FORMS |= {f"pil{channels}": ("pil", None, channels) for channels in ("l", "rgb", "rgba")}


def basichandlers(extension, data):
    """Contents that Python reads itself: text, whole numbers, JSON, pickles; None of anything else.

    >>> from jtensor.utils.data.datapipes.utils.decoder import basichandlers
    >>> basichandlers("json", b"[1]"), basichandlers("cls", b"7"), basichandlers("wav", b"")
    ([1], 7, None)
    """
    if extension in _TEXT:
        return data.decode("utf-8")
    if extension in _NUMBER:
        try:
            return int(data)
        except ValueError:
            return None
    if extension in _JSON:
        return json.loads(data)
    if extension in _PICKLE:
        return pickle.loads(data)
    return None


def handle_extension(extensions, f):
    """A handler that calls ``f`` with the contents of files whose names end so; an end may have several parts (``seg.jpg``)."""
    wanted = [end.split(".") for end in extensions.lower().split()]

    def handler(key, data):
        parts = key.lower().split(".")
        return f(data) if any(parts[-len(end):] == end for end in wanted) else None
    return handler


def _needs(package, what, error, install=None, space=""):
    return ModuleNotFoundError(f"Package `{package}` is required to be installed for {what}.Please use `pip install {install or package}`"
                               f"{space}to install the package")


class ImageHandler:
    """Images as arrays (``rgb``, ``l8``: float32 in 0 to 1 or uint8, channels last), tensors (``torchrgb``: channels first) or images of
    PIL (``pil``)."""

    def __init__(self, imagespec):
        if imagespec not in _IMAGE_FORMS:
            raise AssertionError(f"unknown image specification: {imagespec}")
        self.imagespec = imagespec.lower()

    def __call__(self, extension, data):
        if extension.lower() not in _IMAGES:
            return None
        try:
            import PIL.Image
        except ModuleNotFoundError as error:
            raise _needs("PIL", "default image decoder", error, "Pillow", " ") from error
        kind, type_, channels = _IMAGE_FORMS[self.imagespec]
        with io.BytesIO(data) as stream:
            image = PIL.Image.open(stream)
            image.load()
            image = image.convert(channels.upper())
        if kind == "pil":
            return image
        numbers = np.asarray(image)
        if type_ == "float":
            numbers = numbers.astype("f") / 255.0
        return numbers if kind == "numpy" else jtensor.tensor(numbers.transpose(2, 0, 1))


def imagehandler(imagespec):
    """The handler of images that makes them of that form (`ImageHandler`)."""
    return ImageHandler(imagespec)


def _by_file(extension, data, read):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, f"file.{extension}")
        with open(name, "wb") as stream:
            stream.write(data)
        return read(name)


def videohandler(extension, data):
    """Films, by torchvision."""
    if extension not in _FILMS:
        return None
    try:
        import torchvision.io
    except ImportError as error:
        raise _needs("torchvision", "default video file loader", error) from error
    return _by_file(extension, data, torchvision.io.read_video)


def audiohandler(extension, data):
    """Sounds, by torchaudio."""
    if extension not in _SOUNDS:
        return None
    try:
        import torchaudio
    except ImportError as error:
        raise _needs("torchaudio", "default audio file loader", error) from error
    return _by_file(extension, data, torchaudio.load)


class MatHandler:
    """MATLAB's files, by SciPy, which is given the settings."""

    def __init__(self, **loadmat_kwargs):
        try:
            import scipy.io as sio
        except ImportError as error:
            raise _needs("scipy", "mat file", error) from error
        self.sio, self.loadmat_kwargs = sio, loadmat_kwargs

    def __call__(self, extension, data):
        if extension != "mat":
            return None
        with io.BytesIO(data) as stream:
            return self.sio.loadmat(stream, **self.loadmat_kwargs)


def mathandler(**loadmat_kwargs):
    """The handler of MATLAB's files (`MatHandler`)."""
    return MatHandler(**loadmat_kwargs)


def extension_extract_fn(pathname):
    """The end of a file's name, without the dot.

    >>> from jtensor.utils.data.datapipes.utils.decoder import extension_extract_fn
    >>> extension_extract_fn("a/b.tar.gz")
    'gz'
    """
    return os.path.splitext(pathname)[1].removeprefix(".")


class Decoder:
    """Contents by the first handler that answers something; as they are where none does.

    >>> from jtensor.utils.data.datapipes.utils.decoder import Decoder, basichandlers
    >>> Decoder(basichandlers)([("a.txt", b"x")])
    {'a.txt': 'x'}
    """

    def __init__(self, *handler, key_fn=extension_extract_fn):
        self.handlers, self.key_fn = list(handler), key_fn

    def add_handler(self, *handler):
        """Adds handlers, which are asked after those that are there."""
        self.handlers.extend(handler)

    @staticmethod
    def _is_stream_handle(data):
        inner = data.file_obj if isinstance(data, StreamWrapper) else data
        return isinstance(inner, (io.BufferedIOBase, io.RawIOBase))

    def decode1(self, key, data):
        """What contents are, by the end of a name."""
        if not data:
            return data
        for handler in self.handlers:
            found = handler(key, data)
            if found is not None:
                return found
        return data

    def decode(self, data):
        """A dictionary of what pairs of names and contents are; a name that begins with an underscore stands for text."""
        found = {}
        for name, contents in [data] if isinstance(data, tuple) else data:
            if self._is_stream_handle(contents):
                stream, contents = contents, contents.read()
                stream.close()
            found[name] = contents.decode("utf-8") if name[0] == "_" else self.decode1(self.key_fn(name), contents)
        return found

    def __call__(self, data):
        return self.decode(data)
