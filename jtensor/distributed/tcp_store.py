"""A store on the network: one process keeps it, all of them ask.

Owns: `TCPStore`, its server, and the form of a question. May not know: what a store does (`stores`).

A question is a command and its arguments, an answer whether it went well and a list of bytes; each is preceded by its length. Each client
has a thread of the server, so that one that waits keeps nobody else from asking.
"""
import datetime
import errno
import os
import socket
import struct
import threading
import time

from .errors import DistNetworkError, DistStoreError
from .stores import DEFAULT, Store, Table

_LENGTH = struct.Struct("!I")
_MOST = 1 << 30
_COMMANDS = {"set", "get", "add", "append", "compare_set", "delete", "check", "list", "push", "pop", "length"}


def _send(end, parts):
    body = b"".join(_LENGTH.pack(len(part)) + part for part in parts)
    end.sendall(_LENGTH.pack(len(body)) + body)


def _receive(end):
    length, = _LENGTH.unpack(_exactly(end, 4))
    if length > _MOST:
        raise OSError("this is no question of a store")
    body, parts, at = _exactly(end, length), [], 0
    while at < length:
        size, = _LENGTH.unpack_from(body, at)
        parts.append(body[at + 4:at + 4 + size])
        at += 4 + size
    return parts


def _exactly(end, count):
    found = b""
    while len(found) < count:
        got = end.recv(min(count - len(found), 1 << 20))
        if not got:
            raise OSError("Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?")
        found += got
    return found


class _Server:
    """Keeps a table and answers for it: as long as its store is there, and until the process ends if several stores may share it."""

    _open = {}                              # port -> the server of this process there, for those that may share it

    def __init__(self, listening, shared):
        self.table, self.listening, self.port, self.shared = Table(), listening, listening.getsockname()[1], shared
        self.joined, self.news = 0, threading.Condition()
        threading.Thread(target=self._accept, name="jtensor-store", daemon=True).start()

    def _accept(self):
        while True:
            try:
                end, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(end,), name="jtensor-store", daemon=True).start()

    def _serve(self, end):
        with end:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                while True:
                    command, *args = _receive(end)
                    _send(end, self._answer(command.decode(), args))
            except (OSError, ValueError, UnicodeDecodeError, struct.error):
                pass                        # the client has gone, or was none

    def _answer(self, command, args):
        if command == "join":
            with self.news:
                self.joined += 1
                self.news.notify_all()
            return [b"1"]
        if command == "wait":
            seconds, *keys = args
            return [b"1"] if self.table.wait(keys, float(seconds)) else [b"late"]
        if command not in _COMMANDS:
            raise ValueError(command)
        try:
            return [b"1", *self.table.do(command, *args)]
        except ValueError as error:
            return [b"error", str(error).encode()]

    def end(self):
        """Takes no more clients."""
        try:
            self.listening.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listening.close()

    def wait_for(self, count, seconds):
        """How many clients have come, once there are ``count`` or the time is over."""
        with self.news:
            self.news.wait_for(lambda: self.joined >= count, seconds)
            return self.joined


class TCPStore(Store):
    """A `Store` on the network. The process with ``is_master=True`` keeps it at ``port`` (0: any free one, see ``port``) and answers as
    long as it lives; with ``wait_for_workers`` it waits until ``world_size`` have come.

    Raises `DistNetworkError` where nobody answers within ``timeout``, or the port is taken.

    >>> store = torch.distributed.TCPStore("127.0.0.1", 0, 1, is_master=True)
    >>> store.set("key", "value")
    >>> torch.distributed.TCPStore("127.0.0.1", store.port, is_master=False).get("key")
    b'value'
    """

    libuvBackend = False

    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=DEFAULT, wait_for_workers=True, multi_tenant=False,
                 master_listen_fd=None, use_libuv=True):
        self.host, self.port, self._timeout, self._pid = host_name, port, timeout, None
        self._lock, self._end, self._server = threading.RLock(), None, None
        if is_master:
            self._server = self._serve(port, multi_tenant, master_listen_fd)
            self.port = self._server.port
        self._ask("join")
        if is_master and wait_for_workers and world_size:
            joined = self._server.wait_for(world_size, timeout.total_seconds())
            if joined < world_size:
                raise DistStoreError(f"Timed out after {round(timeout.total_seconds()) + 1} seconds waiting for clients. "
                                     f"{joined}/{world_size} clients joined.")

    @staticmethod
    def _serve(port, multi_tenant, descriptor):
        if multi_tenant and port in _Server._open:
            return _Server._open[port]
        try:
            if descriptor is not None:
                listening = socket.socket(fileno=descriptor)
            else:
                dual = socket.has_dualstack_ipv6()
                listening = socket.create_server(("", port), family=socket.AF_INET6 if dual else socket.AF_INET, backlog=2048,
                                                 dualstack_ipv6=dual)
        except OSError as error:
            name = errno.errorcode.get(error.errno, "")
            raise DistNetworkError(f"The server socket has failed to listen on any local network address. port: {port}, useIpv6: false, "
                                   f"code: -{error.errno}, name: {name}, message: {os.strerror(error.errno).lower()}") from None
        server = _Server(listening, multi_tenant)
        if multi_tenant:
            _Server._open[server.port] = server
        return server

    def _connection(self):
        if self._end is not None and self._pid == os.getpid():          # a fork's child asks by a connection of its own
            return self._end
        until, pause = time.monotonic() + self._timeout.total_seconds(), 0.01
        while True:
            try:
                end = socket.create_connection((self.host, self.port), max(until - time.monotonic(), 0.01))
                if end.getsockname() != end.getpeername():
                    break
                end.close()                                             # a free port of this machine, where it has met itself
                raise OSError("nobody is there")
            except OSError:                                             # whoever keeps the store may not have begun yet
                if time.monotonic() + pause > until:
                    raise DistNetworkError(f"The client socket has timed out after {round(self._timeout.total_seconds() * 1000)}ms while "
                                           f"trying to connect to ({self.host}, {self.port}).") from None
                time.sleep(pause)
                pause = min(2 * pause, 0.5)
        end.settimeout(None)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._end, self._pid = end, os.getpid()
        return end

    def _ask(self, command, *args):
        with self._lock:
            end = self._connection()
            try:
                _send(end, [command.encode(), *args])
                how, *found = _receive(end)
            except OSError as error:
                self._drop()
                raise DistNetworkError(str(error)) from None
            except BaseException:                                       # Ctrl-C: the answer that comes later is nobody's
                self._drop()
                raise
        if how == b"error":
            raise ValueError(found[0].decode())
        return None if how == b"late" else found

    def _drop(self):
        end, self._end = self._end, None
        if end is not None:
            end.close()

    def _do(self, command, *args):
        return self._ask(command, *args)

    def _wait(self, keys, seconds):
        return self._ask("wait", repr(seconds).encode(), *keys) is not None

    def _late(self, keys, timeout, getting):
        return DistStoreError(f"wait timeout after {round(timeout / datetime.timedelta(milliseconds=1))}ms, keys: "
                              + ", ".join("/" + key for key in keys))

    def __del__(self, _pid=os.getpid):
        if getattr(self, "_end", None) is not None and self._pid == _pid():
            self._drop()
        server = getattr(self, "_server", None)
        if server is not None and not server.shared:
            server.end()

    def clone(self):
        """Another client of the same store."""
        return TCPStore(self.host, self.port, timeout=self._timeout, wait_for_workers=False)

    def __repr__(self):
        return f"TCPStore(host={self.host!r}, port={self.port}, is_master={self._server is not None})"


__all__ = ["TCPStore"]
