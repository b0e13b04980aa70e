"""How processes find each other: from an address to a store, a process's number and how many there are.

Owns: the kinds of addresses, env://, tcp://host:port and file:///path, and those that users add. May not know: tensors, groups.
"""
import datetime
import os
from urllib.parse import parse_qsl, urlsplit

from .stores import FileStore
from .tcp_store import TCPStore

_WAITING = datetime.timedelta(minutes=30)
_handlers = {}


def register_rendezvous_handler(scheme, handler):
    """Has addresses that begin with ``scheme://`` taken to ``handler(url, **options)``, which yields (store, rank, world size).

    RuntimeError if the scheme is taken.
    """
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def rendezvous(url, rank=-1, world_size=-1, **kwargs):
    """Yields (store, rank, world size) for an address that has these two in it or is given them. ValueError for what is missing in it."""
    if not isinstance(url, str | bytes):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    for name, value in (("rank", rank), ("world_size", world_size)):
        if not isinstance(value, int):
            raise RuntimeError(f"`{name}` must be an integer. {value}")
    url = url.decode() if isinstance(url, bytes) else url
    parts = urlsplit(url)
    given = {name: value for name, value in (("rank", rank), ("world_size", world_size)) if value != -1}
    if given:
        asked = dict(parse_qsl(parts.query))
        if "rank" in asked or "world_size" in asked:
            raise AssertionError(f"The url: {url} has node-specific arguments(rank, world_size) already.")
        query = "&".join(f"{name}={value}" for name, value in (asked | given).items())
        url = url.partition("?")[0] + "?" + query
    if parts.scheme not in _handlers:
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    return _handlers[parts.scheme](url, **kwargs)


def _error(kind, text):
    return ValueError(f"Error initializing torch.distributed using {kind}:// rendezvous: {text}")


def _numbers(kind, query):
    """(rank, world size) of an address that has to have both."""
    for name in ("rank", "world_size"):
        if name not in query:
            raise _error(kind, f"{name.replace('_', ' ')} parameter missing")
    return int(query["rank"]), int(query["world_size"])


def _by_file(url, **kwargs):
    parts = urlsplit(url)
    if not parts.path:
        raise _error("file", "path missing")
    rank, world_size = _numbers("file", dict(parse_qsl(parts.query)))
    yield FileStore(parts.path, world_size), rank, world_size
    raise RuntimeError("Unable to perform rerendezvous using file:// method")


def _by_tcp(url, timeout=_WAITING, **kwargs):
    parts = urlsplit(url)
    if parts.port is None:
        raise _error("tcp", "port number missing")
    rank, world_size = _numbers("tcp", dict(parse_qsl(parts.query)))
    yield _store(parts.hostname, parts.port, rank, world_size, timeout), rank, world_size
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _by_environment(url, timeout=_WAITING, **kwargs):
    query = dict(parse_qsl(urlsplit(url).query))
    rank, world_size = (int(query[name] if name in query else _variable(name.upper())) for name in ("rank", "world_size"))
    yield _store(_variable("MASTER_ADDR"), int(_variable("MASTER_PORT")), rank, world_size, timeout), rank, world_size
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


def _variable(name):
    value = os.environ.get(name)
    if not value:
        raise _error("env", f"environment variable {name} expected, but not set")
    return value


def _store(host, port, rank, world_size, timeout):
    """The store at an address, which the first process keeps, unless whoever has started the processes keeps one."""
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    kept = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    return TCPStore(host, port, world_size, is_master=rank == 0 and not kept, timeout=timeout, multi_tenant=True)


register_rendezvous_handler("file", _by_file)
register_rendezvous_handler("tcp", _by_tcp)
register_rendezvous_handler("env", _by_environment)

__all__ = ["register_rendezvous_handler", "rendezvous"]
