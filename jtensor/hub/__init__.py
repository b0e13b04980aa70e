"""`torch.hub`: checkpoints by their address, kept in a folder; models of a repository, or of a folder, that has a ``hubconf.py``.

    repositories.py  repositories of GitHub: which, whether they are trusted, their files

What a ``hubconf.py`` imports as ``torch`` is this library under ``python -m jtensor`` and after `jtensor.alias.install`.
"""
import contextlib
import hashlib
import importlib.util
import os
import re
import sys
import tempfile
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from ..serialization import load as _load
from .repositories import folder_of

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


def list(github, force_reload=False, skip_validation=False, trust_repo="check", verbose=True):
    """The names of the functions that the repository "owner/name[:ref]" offers in its ``hubconf.py``; the options are those of `load`."""
    folder = _fetched(github, force_reload, trust_repo, verbose, skip_validation)
    with _configuration(folder) as module:
        return [name for name in dir(module) if not name.startswith("_") and callable(getattr(module, name))]


def help(github, model, force_reload=False, skip_validation=False, trust_repo="check"):
    """The docstring of one of these functions."""
    with _configuration(_fetched(github, force_reload, trust_repo, True, skip_validation)) as module:
        return _entry(module, model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo="check", force_reload=False, verbose=True, skip_validation=False, **kwargs):
    """What the function ``model`` of a ``hubconf.py`` answers to the arguments that are left.

    ``repo_or_dir``: "owner/name", or "owner/name:ref" with a branch, tag or commit, of GitHub; with ``source="local"`` a folder. A
    repository is fetched into `get_dir` once, anew with ``force_reload``. Its code is run: ``trust_repo`` False asks the user first,
    "check" asks about repositories that were not trusted before, True does not ask. ``skip_validation``: that the ref is the
    repository's own is not looked up. RuntimeError where there is no such function, or a module is missing that the file depends on.

    Source: https://docs.pytorch.org/docs/stable/hub.html
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    folder = _fetched(repo_or_dir, force_reload, trust_repo, verbose, skip_validation) if source == "github" else repo_or_dir
    with _configuration(folder) as module:
        return _entry(module, model)(*args, **kwargs)


def _fetched(github, force_reload, trust_repo, verbose, skip_validation):
    def download(url, path):
        download_url_to_file(url, path, progress=False)
    return folder_of(github, get_dir(), download, force_reload=force_reload, trust_repo=trust_repo, verbose=verbose,
                     skip_validation=skip_validation)


@contextlib.contextmanager
def _configuration(folder):
    """The folder's ``hubconf`` as a module; its neighbours can be imported meanwhile."""
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(folder)


def _entry(module, name):
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    absent = [one for one in getattr(module, "dependencies", None) or () if importlib.util.find_spec(one) is None]
    if absent:
        raise RuntimeError(f"Missing dependencies: {', '.join(absent)}")
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]
