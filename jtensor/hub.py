"""`torch.hub`: checkpoints by their address, kept in a folder; models of a folder that has a ``hubconf.py``.

Repositories of GitHub are not fetched: what they hold imports more of PyTorch than there is here, and would be run unseen.
"""
import hashlib
import importlib.util
import os
import re
import sys
import tempfile
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from .base.errors import missing
from .serialization import load as _load

try:
    from tqdm import tqdm
except ImportError:
    class tqdm:
        """As much of ``tqdm`` as a download needs: how much has come, on stderr."""

        def __init__(self, total=None, disable=False, unit=None, unit_scale=None, unit_divisor=None):
            self.total, self.disable, self.n = total, disable, 0

        def update(self, n):
            """So much more has come."""
            self.n += n
            if not self.disable:
                print(f"\r{self.n / self.total:.1%}" if self.total else f"\r{self.n} bytes", end="", file=sys.stderr, flush=True)

        def set_description(self, *args, **kwargs):
            """Shown is the amount alone."""

        def write(self, s):
            """A line of text."""
            print(s, file=sys.stderr)

        def close(self):
            """Ends the line."""
            if not self.disable:
                print(file=sys.stderr)
            self.disable = True

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")             # a checkpoint's name may end in the beginning of its SHA-256
_BLOCK = 128 * 1024
_folder = None


def _get_torch_home():
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "torch")))


def get_dir():
    """Where checkpoints are kept: as `set_dir` said, else ``$TORCH_HOME/hub``, else ``~/.cache/torch/hub`` (or under $XDG_CACHE_HOME).

    >>> import jtensor.hub, os
    >>> os.path.basename(jtensor.hub.get_dir())
    'hub'
    """
    return os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def set_dir(d):
    """Keeps checkpoints in another folder from now on."""
    global _folder
    _folder = os.path.expanduser(d)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Fetches what is at ``url`` into the file ``dst``, whole or not at all.

    ``hash_prefix``: what its SHA-256 has to begin with, else RuntimeError. ``progress``: how much has come is shown on stderr, by
    ``tqdm`` where that is installed.
    """
    dst = os.path.expanduser(dst)
    digest = hashlib.sha256()
    handle, partial = tempfile.mkstemp(dir=os.path.dirname(dst) or ".", prefix=os.path.basename(dst) + ".", suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as file, urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as source:
            size = int(source.headers.get("Content-Length") or 0)
            with tqdm(total=size or None, disable=not progress, unit="B", unit_scale=True, unit_divisor=1024) as shown:
                while block := source.read(_BLOCK):
                    file.write(block)
                    digest.update(block)
                    shown.update(len(block))
        if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
        os.replace(partial, dst)
    except BaseException:
        os.unlink(partial)
        raise


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False):
    """`torch.load` of the checkpoint at ``url``, which is fetched into ``model_dir`` (``get_dir()/checkpoints``) unless it is there.

    ``check_hash``: the file's name ends in the first characters of its SHA-256, as in ``net-1a2b3c4d.pth``, and it has to fit.
    ``weights_only=False``, PyTorch's default here, lets the file run code.
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        sys.stdout.write(f'Downloading: "{url}" to {path}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress=progress)
    return _load(path, map_location=map_location, weights_only=weights_only)


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True, skip_validation=False, **kwargs):
    """What the function ``model`` of the folder's ``hubconf.py`` answers to the arguments that are left; ``source`` has to be "local".

    RuntimeError where there is no such function, or a module is missing that the file says it depends on.
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise missing("models of GitHub (torch.hub.load)", 'a copy of the repository: torch.hub.load(folder, model, source="local")')
    return _entry(_configuration(repo_or_dir), model)(*args, **kwargs)


def _configuration(folder):
    """The folder's ``hubconf`` as a module, whose neighbours it may import."""
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(folder)


def _entry(module, name):
    absent = [one for one in getattr(module, "dependencies", None) or () if importlib.util.find_spec(one) is None]
    if absent:
        raise RuntimeError(f"Missing dependencies: {', '.join(absent)}")
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


__all__ = ["download_url_to_file", "get_dir", "load", "load_state_dict_from_url", "set_dir"]
