"""The program cache on disk: executables of earlier processes, one file each.

Owns: the folder, its permissions and size, the key's environment part, whole-or-not-at-all writes and their checksums.
May not know: how a key was made, what a program computes.

An entry is machine code, so the folder must belong to the user alone (mode 0700); else it is neither read nor written and
`statistics` says so. A damaged or foreign entry is as good as none. Saving happens in the background.

Environment: ``JTENSOR_CACHE=0`` switches it off, ``JTENSOR_CACHE_DIR`` places it (default ``$XDG_CACHE_HOME/jtensor`` or
``~/.cache/jtensor``), ``JTENSOR_CACHE_SIZE`` bounds it in bytes (``500M``; default 1 GiB).

    load("key")   executable or None
    save("key", executable)
    read("key"), write("key", function that gives the bytes)      the same for what depends on no device
"""
import contextlib
import hashlib
import os
import platform
import stat
import tempfile
import threading
import time

from ...base import compat, denormals, precision, sites, switches
from ...base.background import Worker, processors
from . import package

_MAGIC = b"jtensor program 1\n"
_DIGEST = 16
_SUFFIX = ".xla"
_SOURCES = ".sources"                # of the one small file for each place that the package lies in
_SWEEP_EVERY = 256                  # saves between two looks at the folder's size
_STALE = 3600                       # seconds after which a use renews an entry's date, and a temporary file is rubbish

_counts = {"hits": 0, "misses": 0, "saves": 0, "damaged": 0, "evicted": 0, "failed": 0}
_WRITER = Worker("store", finish=5.0, patience=5.0)
_LOCK = threading.Lock()
used, _USED = [], 256               # names of the executables that this process has loaded or saved, in this order; how many are noted
coming = {}                         # name: handle of one that is being loaded before anybody has asked for it (`ahead`)
_state = {"folder": None, "why": None, "opened": False, "unswept": 0}


# ---- the folder ------------------------------------------------------------------------------------------------------

def _wanted():
    given = os.environ.get("JTENSOR_CACHE_DIR")
    if given:
        return os.path.abspath(os.path.expanduser(given))
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "jtensor")


def _private(path):
    """Why a folder cannot be trusted with machine code, or None."""
    seen = os.lstat(path)
    if not stat.S_ISDIR(seen.st_mode):
        return "is not a folder (nor may it be a link)"
    if hasattr(os, "getuid"):
        if seen.st_uid != os.getuid():
            return "belongs to another user"
        if seen.st_mode & 0o077:
            return f"is open to other users (mode {seen.st_mode & 0o777:o}; it must be 700)"
    return None


def folder():
    """The cache's folder, made if need be; None where the cache is off or the folder cannot be trusted."""
    if not _state["opened"]:
        with _LOCK:
            if not _state["opened"]:
                _open()
    return _state["folder"]


def _open():
    _state["folder"], _state["why"] = None, None
    _state["unswept"] = os.urandom(1)[0] % _SWEEP_EVERY     # so that short-lived processes, too, look now and then
    if not switches.is_on("JTENSOR_CACHE", True):
        _state["why"] = "switched off (JTENSOR_CACHE=0)"
    else:
        path, warn = _wanted(), True
        try:
            if not os.path.lexists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with contextlib.suppress(FileExistsError):      # another process was quicker
                    os.mkdir(path, 0o700)
            why = _private(path)
        except OSError as error:                                # a home that cannot be written is no reason to be loud
            why, warn = f"cannot be used ({error.strerror})", "JTENSOR_CACHE_DIR" in os.environ
        if why:
            _state["why"], _state["opened"] = f"{path} {why}", True
            if warn:
                sites.warn(f"jtensor's program cache is off: {_state['why']}", RuntimeWarning)
        else:
            _state["folder"] = path
    _state["opened"] = True


def reset():
    """Look at the environment and the folder anew; for tests and after a change of ``JTENSOR_CACHE_DIR``."""
    _WRITER.flush()
    with _LOCK:
        _state["opened"] = False
        _environment.clear()
        used.clear()
        coming.clear()
        _counts.update(dict.fromkeys(_counts, 0))


def statistics():
    """What the cache did: counts, the folder, and why it is off if it is.

    >>> sorted(statistics())
    ['damaged', 'evicted', 'failed', 'folder', 'hits', 'misses', 'off', 'saves']
    """
    return {**_counts, "folder": folder(), "off": _state["why"]}


# ---- keys ------------------------------------------------------------------------------------------------------------

_environment = {}                   # (device, precision) → digest, filled at the first use: it reads files


def sources():
    """A digest of the package's own source: an edit anywhere in it makes every stored program foreign.

    To read all of it takes long. So the digest is kept with what the system says of the files.
    """
    files = package.files()
    if folder() is None:
        return package.digest(files)
    mark = package.mark(files)
    where = _path("sources", files[0].path.encode()).removesuffix(_SUFFIX) + _SOURCES
    known = _entry(where)
    if known and known[:len(mark)] == mark:
        return bytes(known[len(mark):])
    digest = package.digest(files)
    with contextlib.suppress(OSError):
        _put(where, mark + digest)
    return digest


def _sources():
    if None not in _environment:
        _environment[None] = sources()
    return _environment[None]


def _processor():
    try:
        with open("/proc/cpuinfo", "rb") as file:
            lines = file.read(16384).split(b"\n\n")[0].splitlines()      # the first core speaks for all
        wanted = (b"flags", b"Features", b"model name", b"CPU part", b"vendor_id")
        return b"\n".join(line for line in lines if line.startswith(wanted)).decode("latin-1")
    except OSError:
        return platform.machine() + platform.processor()


def _surroundings(device):
    device = device or compat.default_device()
    known = device, "" if device.platform == "cpu" else precision.text()
    if known not in _environment:
        switches = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith(("XLA_", "TF_XLA_", "NPROC", "LIBTPU_")))
        digest = hashlib.blake2b(_sources(), digest_size=_DIGEST)
        for text in [*compat.configuration(device), platform.machine(), _processor(), f"cores {processors()}", known[1], *switches]:
            digest.update(text.encode() + b"\0")
        _environment[known] = digest.digest()
    if denormals.flushed():                                 # a number that such a key shows as 0.0 may be another in the program
        return _environment[known] + b" denormals are zeros"
    return _environment[known]


def fleeting(key):
    """Whether a key means nothing in another process, nor later in this one: it shows an address.

    >>> fleeting("f(<function g at 0x7f00>)"), fleeting("f(1)")
    (True, False)
    """
    return (" at 0x" if isinstance(key, str) else b" at 0x") in key


def _path(key, surroundings):
    digest = hashlib.blake2b(surroundings, digest_size=20)
    digest.update(key.encode() if isinstance(key, str) else key)
    return os.path.join(_state["folder"], digest.hexdigest() + _SUFFIX)


# ---- reading and writing ---------------------------------------------------------------------------------------------

def load(key, device=None):
    """The executable that an equal installation saved under ``key`` (bytes or str), or None."""
    if folder() is None or fleeting(key):
        return None
    path = _path(key, _surroundings(device))
    early = coming.pop(os.path.basename(path), None)
    executable = early.result() if early is not None else _load(path, device)
    if executable is not None:
        _counts["hits"] += 1
        _note(path, device)
    return executable


def load_named(name):
    """The executable of an entry's name, as `used` notes it, for the default device; or None."""
    path = os.path.join(folder() or "", name)
    return _load(path, None) if os.path.exists(path) else None


def load_apart(key):
    """`load`, of what says nothing about a script: it is neither counted nor noted among what was used."""
    return None if folder() is None else load_named(os.path.basename(_path(key, _surroundings(None))))


def save_apart(key, executable):
    """`save` of the same; it is written there and then."""
    if folder() is not None:
        with contextlib.suppress(Exception):                # a full disk; the next process makes it again
            _put(_path(key, _surroundings(None)), executable.dump())


def _note(path, device):
    if device is None and len(used) < _USED:
        used.append(os.path.basename(path))


def _load(path, device):
    body = _entry(path)
    if body is None:
        _counts["misses"] += 1
        return None
    if body:
        try:
            return compat.load(body, device)
        except MemoryError:
            return None                                     # of the entry that says nothing
        except Exception as error:                          # whole, yet XLA does not take it: as good as damaged
            if compat.is_out_of_memory(error):
                return None
    _counts["damaged"] += 1
    _remove(path)
    return None


def _entry(path):
    """The bytes of an entry; None if there is none, b"" if it is damaged."""
    try:
        with open(path, "rb") as file:
            data = file.read()
            if time.time() - os.fstat(file.fileno()).st_mtime > _STALE:
                os.utime(path)                              # the least recently used go first
    except FileNotFoundError:
        return None
    except OSError:
        _counts["failed"] += 1
        return None
    start = len(_MAGIC) + _DIGEST
    body = memoryview(data)[start:]
    whole = data[:len(_MAGIC)] == _MAGIC and data[len(_MAGIC):start] == hashlib.blake2b(body, digest_size=_DIGEST).digest()
    return body if whole else b""


def save(key, executable, device=None):
    """Store an executable under ``key`` in the background. Programs that call back into Python are not stored."""
    if folder() is not None and executable.portable and not fleeting(key):
        path = _path(key, _surroundings(device))
        _note(path, device)
        _WRITER.submit(lambda: _write(path, executable.dump), name="save")


def read(key, of_any=False):
    """The bytes that an equal installation wrote under ``key``, or None; ``of_any``: by any version of this package."""
    if folder() is None:
        return None
    return _entry(_path(key, b"" if of_any else _sources())) or None


def write(key, body, wait=False, of_any=False):
    """Store what ``body()`` gives under ``key``, in the background unless somebody ``wait``s; what was there is replaced."""
    if folder() is not None:
        path = _path(key, b"" if of_any else _sources())
        handle = _WRITER.submit(lambda: _write(path, body), -1, name="write")
        if wait:
            handle.result()


def flush(timeout=None):
    """Wait until everything saved is on disk; False if that took longer than ``timeout`` seconds."""
    return _WRITER.flush(timeout)


def _write(path, dump):
    try:
        _put(path, dump())
    except Exception:                                       # a full disk, a program XLA cannot serialise: counted, not fatal
        _counts["failed"] += 1
        return
    _counts["saves"] += 1
    _state["unswept"] += 1
    if _state["unswept"] >= _SWEEP_EVERY:
        _state["unswept"] = 0
        with contextlib.suppress(OSError):                  # the folder has gone meanwhile
            sweep()


def _put(path, body):
    """Writes an entry whole, or not at all."""
    descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=os.path.dirname(path))
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + hashlib.blake2b(body, digest_size=_DIGEST).digest())
            file.write(body)
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def _remove(path):
    with contextlib.suppress(OSError):
        os.unlink(path)


def _limit():
    return switches.bytes_of("JTENSOR_CACHE_SIZE", 1 << 30)


def sweep():
    """Bring the folder back to four fifths of its limit if it is above it, least recently used entries first."""
    path, limit, now = folder(), _limit(), time.time()
    if path is None:
        return
    entries = []
    with os.scandir(path) as listing:
        for entry in listing:
            try:
                seen = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if entry.name.endswith(_SUFFIX):
                entries.append((seen.st_mtime, seen.st_size, entry.path))
            elif entry.name.startswith(".new-") and now - seen.st_mtime > _STALE:
                _remove(entry.path)                         # left by a process that was killed while writing
    total = sum(size for _, size, _ in entries)
    if total <= limit:
        return
    for _, size, name in sorted(entries):
        _remove(name)
        _counts["evicted"] += 1
        total -= size
        if total <= limit * 0.8:
            break


def clear():
    """Remove every stored program of the folder."""
    _WRITER.flush()
    path = folder()
    if path is not None:
        for name in os.listdir(path):
            if name.endswith((_SUFFIX, _SOURCES)):
                _remove(os.path.join(path, name))
