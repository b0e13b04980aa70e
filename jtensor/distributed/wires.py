"""How bytes get from one process to another: a connection from each to each, and a box for what arrives.

Owns: sockets, the form of a message, who waits how long for what. May not know: tensors, groups of processes, what the bytes are.

A message is a label, by which its receiver asks for it, and bytes. A thread for each connection puts what arrives into the box, so that a
process can send as much as it likes to one that is still doing something else: no order of sending and receiving blocks for ever.
"""
import collections
import secrets
import socket
import struct
import threading
import time

_HEAD = struct.Struct("!HQ")            # the lengths of a label and of the bytes behind it
_SECRET = 16


class Wires:
    """The connections of process ``rank`` of ``size``, which tell each other by ``store`` where they listen.

    Raises RuntimeError if another one is not there within ``timeout`` seconds. What arrives is `take`\\ n by sender and label.
    """

    def __init__(self, store, rank, size, timeout):
        self.rank, self.size = rank, size
        self._arrived, self._gone = collections.defaultdict(collections.deque), {}
        self._news = threading.Condition()
        self._ends, self._locks = {}, collections.defaultdict(threading.Lock)
        if size > 1:
            self._connect(store, timeout)

    # -- connecting ---------------------------------------------------------------------------------------------------

    def _connect(self, store, timeout):
        host, secret = _own_address(store), secrets.token_hex(_SECRET)
        listening = socket.create_server((host, 0), backlog=self.size, family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        threading.Thread(target=self._accept, args=(listening, secret), name="jtensor-wires", daemon=True).start()
        until = time.monotonic() + timeout
        try:
            # a store may outlive a group: processes that make another one by it count alike
            turn = f"wires/{store.add(f'turns/{self.rank}', 1)}"
            store.set(f"{turn}/{self.rank}", f"{listening.getsockname()[1]} {secret} {host}")
            for other in range(self.size):
                if other != self.rank:
                    self._ends[other] = self._connected(store.get(f"{turn}/{other}").decode(), timeout)
            with self._news:
                if not self._news.wait_for(lambda: self._listeners == self.size - 1, max(until - time.monotonic(), 0.1)):
                    raise RuntimeError(f"Gloo connectFullMesh failed: rank {self.rank} waited for the others for {timeout} seconds")
        except BaseException:
            self.close()
            raise
        finally:
            listening.shutdown(socket.SHUT_RDWR)                        # which ends the thread that accepts

    def _connected(self, place, timeout):
        port, secret, host = place.split(" ", 2)
        end = socket.create_connection((host, int(port)), timeout)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end.sendall(struct.pack("!I", self.rank) + secret.encode())
        return end

    _listeners = 0

    def _accept(self, listening, secret):
        with listening:
            while True:                                                 # some may come that are none of these processes
                try:
                    end, _ = listening.accept()
                except OSError:
                    return
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._listen, args=(end, secret), name="jtensor-wires", daemon=True).start()

    def _listen(self, end, secret):
        other, why = None, "Connection closed by peer"
        with end:
            try:
                opening = _exactly(end, 4 + 2 * _SECRET)
                if not secrets.compare_digest(opening[4:], secret.encode()):
                    return                                              # somebody else, who has not read the store
                other, = struct.unpack("!I", opening[:4])
                with self._news:
                    self._listeners += 1
                    self._news.notify_all()
                while True:
                    label, length = _HEAD.unpack(_exactly(end, _HEAD.size))
                    label = bytes(_exactly(end, label))
                    found = _exactly(end, length)
                    with self._news:
                        self._arrived[other, label].append(found)
                        self._news.notify_all()
            except (OSError, EOFError) as error:
                why = str(error) or why
            finally:
                if other is not None:
                    with self._news:
                        self._gone[other] = why
                        self._news.notify_all()

    def close(self):
        """Lets go of the connections: those at the other ends are told."""
        ends, self._ends = self._ends, {}
        for end in ends.values():
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass                                                    # which the other has closed already
            end.close()

    # -- messages -----------------------------------------------------------------------------------------------------

    def send(self, other, label, data):
        """Sends bytes, or what has its bytes in one piece, to process ``other``, or puts them into the own box."""
        label, data = label.encode(), memoryview(data).cast("B")
        if other == self.rank:
            with self._news:
                self._arrived[other, label].append(bytearray(data))
                self._news.notify_all()
            return
        end = self._ends.get(other)
        try:
            if end is None:
                raise OSError("Connection closed")
            with self._locks[other]:
                end.sendall(_HEAD.pack(len(label), len(data)) + label)
                end.sendall(data)
        except OSError as error:
            raise RuntimeError(f"Connection closed by peer: rank {other} ({error})") from error

    def take(self, other, label, timeout):
        """The bytes that ``other`` has sent by this label, the first of them; waits for them ``timeout`` seconds."""
        key = other, label.encode()
        return self._taken(lambda: key if self._arrived.get(key) else None, [other], timeout)[1]

    def take_from_any(self, others, label, timeout):
        """(process, bytes) of whichever of these has sent something by this label."""
        label = label.encode()
        return self._taken(lambda: next(((o, label) for o in others if self._arrived.get((o, label))), None), others, timeout)

    def _taken(self, find, others, timeout):
        until = time.monotonic() + timeout
        with self._news:
            while True:
                key = find()
                if key is not None:
                    box = self._arrived[key]
                    found = box.popleft()
                    if not box:
                        del self._arrived[key]
                    return key[0], found
                if all(o in self._gone for o in others):
                    raise RuntimeError(f"{self._gone[others[0]]}: rank {others[0]}")
                left = until - time.monotonic()
                if left <= 0:
                    raise RuntimeError(f"Timed out waiting {round(timeout * 1000)}ms for recv operation to complete")
                self._news.wait(left)


def _own_address(store):
    """Where the others can reach this process: as it reaches the store. By a store that is no server they are on one machine."""
    store = getattr(store, "_underlying_non_prefix_store", store)
    host = getattr(store, "host", None)
    if host is None:
        return "127.0.0.1"
    family, kind, _, _, address = socket.getaddrinfo(host, store.port or 1, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as towards:
        towards.connect(address)                                        # sends nothing: the system chooses the way
        return towards.getsockname()[0]


def _exactly(end, count):
    """So many bytes of a socket. EOFError if it ends before."""
    found = bytearray(count)
    view, at = memoryview(found), 0
    while at < count:
        got = end.recv_into(view[at:])
        if not got:
            raise EOFError
        at += got
    return found
