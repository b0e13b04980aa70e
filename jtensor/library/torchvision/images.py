"""`torch.ops.image`: pictures in files. They are read and written by Pillow, which torchvision itself depends on.

Owns: the schemas, how Pillow's pictures become tensors of (channels, height, width) and back. May not know: boxes.
"""
import io

import numpy as np

import jtensor

from ...base.dtypes import scalar_name
from ..libraries import written_anew

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}                  # torchvision.io.ImageReadMode; 0 leaves a picture as it is


def read_file(filename):
    """The bytes of a file. RuntimeError where there is none."""
    try:
        return jtensor.from_numpy(np.fromfile(filename, np.uint8))
    except OSError as error:
        raise RuntimeError(f"[Errno {error.errno}] {error.strerror}: '{filename}'") from error


def write_file(filename, data):
    """Writes bytes into a file."""
    if data.dtype != jtensor.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    with open(filename, "wb") as file:
        file.write(data.contiguous().numpy().tobytes())
    return data


def _opened(data, expected=None):
    from PIL import Image, UnidentifiedImageError
    if data.dtype != jtensor.uint8:
        raise RuntimeError(f"Input tensor must have uint8 data type, got {scalar_name(data.dtype)}")
    if data.dim() != 1 or not data.numel():
        raise RuntimeError("Expected a non empty 1-dimensional tensor")
    try:
        picture = Image.open(io.BytesIO(data.numpy().tobytes()))
    except UnidentifiedImageError as error:
        raise RuntimeError("Unsupported image file. Only jpeg, png, webp and gif are currently supported. For avif and heic format, please "
                           "rely on `decode_avif` and `decode_heic` directly.") from error
    if expected is not None and picture.format != expected:
        raise RuntimeError("Not a JPEG file: starts with " + " ".join(f"0x{byte:02x}" for byte in data[:2].tolist()) if expected == "JPEG"
                           else f"Content is not {expected.lower()}!")
    return picture


def _as_tensor(picture, mode):
    """(channels, height, width) of bytes, a view of how pictures lie: pixel by pixel. 16 bits stay so (``uint16``)."""
    deep, wanted = picture.mode.startswith("I"), _MODES.get(mode)
    if wanted == "L" and picture.format == "JPEG":
        picture.draft("L", None)                     # the brightness as it is in the file
    if wanted in ("L", "LA") and picture.format == "PNG" and picture.mode in ("RGB", "RGBA"):
        array = _grey(np.array(picture.convert("RGBA")))[:, :, :len(wanted)]
    elif deep:
        array = np.repeat(np.array(picture).astype(np.uint16)[:, :, None], 3 if wanted == "RGB" else 1, 2)
    else:
        array = np.array(picture.convert(wanted) if wanted else picture.convert("L") if picture.mode == "1" else picture)
    return jtensor.from_numpy(array.reshape(*array.shape[:2], -1)).permute(2, 0, 1)


def _grey(array):
    """(height, width, 4) as brightness and opacity, by the weights 0.2989, 0.587 and the rest, in the whole numbers of libpng."""
    weights = np.array([9794, 19234, 3740])
    return np.stack([(array[:, :, :3] @ weights >> 15).astype(np.uint8), array[:, :, 3]], 2)


def _decoded(expected):
    def decode(data, mode=0, apply_exif_orientation=False):
        picture = _opened(data, expected)
        if apply_exif_orientation:
            from PIL import ImageOps
            picture = ImageOps.exif_transpose(picture)
        return _as_tensor(picture, mode)
    return decode


def decode_gif(data):
    """(channels, height, width) of a picture, (pictures, channels, height, width) of several."""
    from PIL import ImageSequence
    frames = [_as_tensor(frame.convert("RGB"), 3) for frame in ImageSequence.Iterator(_opened(data, "GIF"))]
    return frames[0] if len(frames) == 1 else jtensor.stack(frames)


def decode_image(data, mode=0, apply_exif_orientation=False):
    """A picture in any of the formats."""
    if _opened(data).format == "GIF":
        return decode_gif(data)
    return _decoded(None)(data, mode, apply_exif_orientation)


def _encoded(data, kind, **options):
    from PIL import Image
    if data.dtype != jtensor.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    if data.dim() != 3:
        raise RuntimeError("Input data should be a 3-dimensional tensor")
    if data.size(0) not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {data.size(0)}")
    array = data.permute(1, 2, 0).contiguous().numpy(force=True)
    written = io.BytesIO()
    Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array).save(written, kind, **options)
    return jtensor.from_numpy(np.frombuffer(written.getvalue(), np.uint8).copy())


def encode_jpeg(data, quality):
    """The bytes of a JPEG file."""
    return _encoded(data, "JPEG", quality=quality)


def encode_png(data, compression_level):
    """The bytes of a PNG file."""
    return _encoded(data, "PNG", compress_level=compression_level)


def _without_cuda(*args):
    raise RuntimeError("decoding and encoding on a GPU is not there; what works: decode_jpeg and encode_jpeg on the CPU")


written_anew("image", {
    "read_file(str filename) -> Tensor": read_file,
    "write_file(str filename, Tensor data) -> Tensor": write_file,
    "decode_image(Tensor data, int mode, bool apply_exif_orientation=False) -> Tensor": decode_image,
    "decode_jpeg(Tensor data, int mode, bool apply_exif_orientation=False) -> Tensor": _decoded("JPEG"),
    "decode_png(Tensor data, int mode, bool apply_exif_orientation=False) -> Tensor": _decoded("PNG"),
    "decode_webp(Tensor encoded_data, int mode) -> Tensor": _decoded("WEBP"),
    "decode_gif(Tensor data) -> Tensor": decode_gif,
    "encode_jpeg(Tensor data, int quality) -> Tensor": encode_jpeg,
    "encode_png(Tensor data, int compression_level) -> Tensor": encode_png,
    "decode_jpegs_cuda(Tensor[] encoded_images, int mode, Device device) -> Tensor[]": _without_cuda,
    "encode_jpegs_cuda(Tensor[] decoded_images, int quality) -> Tensor[]": _without_cuda,
})
