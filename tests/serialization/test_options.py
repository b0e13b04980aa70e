"""What files are told once for many calls: byte orders, check sums, data that is skipped, where records begin, what may be named."""
import fractions
import io
import mmap
import pickle
import types
import zipfile

import numpy as np
import pytest

import jtensor
from jtensor.serialization import LoadEndianness
from jtensor.utils.serialization import config

from .both_ways import same, through


def saved(library, obj, **options):
    file = io.BytesIO()
    library.save(obj, file, **options)
    return file.getvalue()


def rewritten(written, change):
    """The archive with ``change(name, content)`` in place of each record; None leaves it out."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            content = change(name.partition("/")[2], old.read(name))
            if content is not None:
                new.writestr(name, content)
    return file.getvalue()


def big_endian(written, width, mark=True):
    def change(name, content):
        if name == "byteorder":
            return b"big" if mark else None
        return np.frombuffer(content, f"u{width}").byteswap().tobytes() if name.startswith("data/") else content
    return rewritten(written, change)


@pytest.mark.parametrize(("name", "width"), [("float32", 4), ("int64", 8), ("complex64", 4), ("bfloat16", 2), ("bool", 1)])
def test_numbers_of_the_other_byte_order(name, width):
    torch = pytest.importorskip("torch")
    ours, theirs = (library.arange(6).to(getattr(library, name)).view(2, 3).t() for library in (jtensor, torch))
    written = big_endian(saved(torch, theirs), width)
    same(jtensor.load(io.BytesIO(written)), torch.load(io.BytesIO(written)))
    same(jtensor.load(io.BytesIO(written)), theirs)
    unmarked = big_endian(saved(jtensor, ours), width, mark=False)
    jtensor.serialization.set_default_load_endianness(LoadEndianness.BIG)
    try:
        same(jtensor.load(io.BytesIO(unmarked)), theirs)
    finally:
        jtensor.serialization.set_default_load_endianness(None)
    assert width == 1 or jtensor.load(io.BytesIO(unmarked)).tolist() != theirs.tolist()


def test_byte_orders_that_are_none():
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        jtensor.serialization.set_default_load_endianness("big")
    with pytest.raises(ValueError, match="Unknown endianness type: middle"):
        jtensor.load(io.BytesIO(rewritten(saved(jtensor, 1), lambda name, content: b"middle" if name == "byteorder" else content)))


def test_files_without_check_sums_in_both_directions():
    torch = pytest.importorskip("torch")
    for library in (torch, jtensor):
        library.serialization.set_crc32_options(False)
        try:
            assert library.serialization.get_crc32_options() is False
            written = saved(library, library.arange(3.0))
        finally:
            library.serialization.set_crc32_options(True)
        assert {info.CRC for info in zipfile.ZipFile(io.BytesIO(written)).infolist()} == {0}
        same(jtensor.load(io.BytesIO(written)), torch.arange(3.0))
        assert torch.load(io.BytesIO(written)).tolist() == [0, 1, 2]
    damaged = saved(jtensor, jtensor.ones(2)).replace(jtensor.ones(2).numpy().tobytes(), b"x" * 8)
    with pytest.raises(RuntimeError, match="failed reading file"):
        jtensor.load(io.BytesIO(damaged))


def test_data_is_skipped_and_filled_in_later():
    torch = pytest.importorskip("torch")
    for library in (jtensor, torch):
        x = library.arange(1.0, 5.0)
        with library.serialization.skip_data():
            written = saved(library, [x, x[1:3]])
        for reader in (jtensor, torch):
            assert [part.tolist() for part in reader.load(io.BytesIO(written))] == [[0] * 4, [0] * 2]
        record = zipfile.ZipFile(io.BytesIO(written)).infolist()
        start = next(info.header_offset for info in record if info.filename.endswith("data/0"))
        start += 30 + sum(int.from_bytes(written[start + at:start + at + 2], "little") for at in (26, 28))
        filled = written[:start] + np.arange(4, dtype=np.float32).tobytes() + written[start + 16:]
        for reader in (jtensor, torch):
            assert [part.tolist() for part in reader.load(io.BytesIO(filled))] == [[0, 1, 2, 3], [1, 2]]
    whole = saved(jtensor, jtensor.ones(2, 2).t())
    with jtensor.serialization.skip_data():
        read = jtensor.load(io.BytesIO(whole))
        with pytest.raises(RuntimeError, match="Cannot use skip_data=True with _use_new_zipfile_serialization=False"):
            saved(jtensor, 1, _use_new_zipfile_serialization=False)
        with pytest.warns(UserWarning, match="meta device under skip_data context manager is a no-op"):
            saved(jtensor, jtensor.ones(2, device="meta"))
    assert read.tolist() == [[0, 0], [0, 0]] and through(jtensor.ones(1), jtensor.save, jtensor.load).tolist() == [1]


def test_settings_of_files(tmp_path):
    path, older = tmp_path / "a.pt", str(tmp_path / "b.pt")
    with config.patch({"save.storage_alignment": 4096, "load.mmap": True}):
        jtensor.save(jtensor.ones(3), path)
        with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
            jtensor.load(io.BytesIO(path.read_bytes()))
        assert jtensor.load(path).tolist() == [1, 1, 1]
    assert path.read_bytes().index(jtensor.ones(3).numpy().tobytes()) % 4096 == 0 and config.save.storage_alignment == 64
    jtensor.save(1, older, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match=r"mmap can only be used with files saved with `torch.save\(.*b.pt, _use_new"):
        jtensor.load(older, mmap=True)
    with pytest.raises(AttributeError, match="torch.utils.serialization.config.save.alignment does not exist"):
        config.save.alignment = 4
    with jtensor.serialization.set_default_mmap_options(mmap.MAP_SHARED), pytest.raises(NotImplementedError, match="MAP_SHARED"):
        jtensor.load(path, mmap=True)
    assert jtensor.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with pytest.raises(ValueError, match="expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 77"):
        jtensor.serialization.set_default_mmap_options(77)


def test_who_says_what_a_file_may_name(monkeypatch):
    written = saved(jtensor, fractions.Fraction(1, 2))

    def load(**options):
        return jtensor.load(io.BytesIO(written), **options)
    assert load(pickle_module=pickle) == load(weights_only=0) == fractions.Fraction(1, 2)
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
        load(pickle_module=pickle, weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected"):
        assert load() == fractions.Fraction(1, 2)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        load(weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "y")
    with pytest.raises(RuntimeError, match="Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD`"):
        load()
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        load(weights_only=False)


def test_versions_of_modules():
    check = jtensor.serialization.check_module_version_greater_or_equal
    module = types.SimpleNamespace(__name__="m", __version__="1.10.beta")
    assert check(module, (1, 9)) and not check(module, (1, 11))
    with pytest.raises(RuntimeError, match="'m' module version string is malformed '1.10.beta'"):
        check(module, (1, 9, 1))
    with pytest.warns(UserWarning, match="but continuing assuming that requirement is met"):
        assert check(module, (1, 9, 1), error_if_malformed=False)
