"""Where processes find each other: keys and bytes that all of them see.

Owns: what a store does (`Table`), those in one process's memory (`HashStore`) and in a file (`FileStore`), and the keys of one of several
users (`PrefixStore`). The one on the network is `tcp_store`'s. May not know: tensors, what the keys are about.
"""
import datetime
import os
import struct
import threading
import time

from .errors import DistStoreError, QueueEmptyError

DEFAULT = datetime.timedelta(seconds=300)


def as_bytes(value, name):
    """A value's bytes. TypeError for what is neither text nor bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    raise TypeError(f"{name}(): incompatible function arguments. The following argument types are supported:\n"
                    "    1. (key: str, value: str)")


QUEUE = b"\0queue "           # before a key that a queue is waited for by


def as_key(key):
    """A key's bytes."""
    return key if isinstance(key, bytes) else key.encode()


def as_span(time):
    """A `timedelta`, of one or of seconds."""
    return time if isinstance(time, datetime.timedelta) else datetime.timedelta(seconds=time)


class Table:
    """Keys and their bytes, and queues; every method is one step that no other is within."""

    def __init__(self):
        self.values, self.queues, self.changed = {}, {}, threading.Condition()

    def do(self, command, *args):
        """Does one of the commands below; answers a list of bytes."""
        with self.changed:
            found = getattr(self, "_" + command)(*args)
            if command in _CHANGING:
                self.changed.notify_all()
        return found

    def wait(self, keys, seconds):
        """Whether all keys are there, now or within so many seconds; of a queue, which is asked for by its `QUEUE` key, a value."""
        def there(key):
            return bool(self.queues.get(key[len(QUEUE):])) if key.startswith(QUEUE) else key in self.values
        with self.changed:
            return self.changed.wait_for(lambda: all(map(there, keys)), seconds)

    def _set(self, key, value):
        self.values[key] = value
        return []

    def _get(self, key):
        return [self.values[key]] if key in self.values else []

    def _add(self, key, amount):
        self.values[key] = str(number(self.values.get(key, b"0")) + number(amount)).encode()
        return [self.values[key]]

    def _append(self, key, value):
        self.values[key] = self.values.get(key, b"") + value
        return []

    def _compare_set(self, key, expected, desired):
        if key not in self.values and expected:
            return [expected]
        if self.values.get(key, b"") == expected:
            self.values[key] = desired
        return [self.values[key]]

    def _delete(self, key):
        return [b"1"] if self.values.pop(key, None) is not None else []

    def _check(self, *keys):
        return [b"1"] if all(key in self.values or self.queues.get(key) for key in keys) else []

    def _list(self):
        return list(self.values)

    def _push(self, key, value):
        self.queues.setdefault(key, []).append(value)
        return []

    def _pop(self, key):
        queue = self.queues.get(key)
        return [queue.pop(0)] if queue else []

    def _length(self, key):
        return [str(len(self.queues.get(key, ()))).encode()]


_METHODS = {"delete": "delete_key", "push": "queue_push", "pop": "queue_pop", "length": "queue_len", "list": "list_keys"}
_CHANGING = {"set", "add", "append", "compare_set", "delete", "push"}


def number(value):
    """The number that a value's text is; ValueError as of C++'s `stoll`."""
    try:
        return int(value)
    except ValueError:
        raise ValueError("stoll") from None


class Store:
    """Keys and bytes that several processes see. Text becomes bytes; `get` waits until the key is there, as long as `timeout` says."""

    _timeout = DEFAULT

    # What a kind of store has of its own: a step, a wait, and the error of one that was in vain.

    def _do(self, command, *args):
        """Of a class of the user's own: by the method that it has for that."""
        name = _METHODS.get(command, command)
        method = getattr(type(self), name)
        if method is getattr(Store, name):
            raise NotImplementedError(f"{type(self).__name__} has no {name} of its own")
        if command == "check":
            return [b"1"] if method(self, [key.decode() for key in args]) else []
        key, *values = args
        found = method(self, key.decode(), *(map(int, values) if command == "add" else values))
        return [] if found is None or found is False else [found if isinstance(found, bytes) else str(found).encode()]

    def _wait(self, keys, seconds):
        if type(self).wait is not Store.wait:
            self.wait([key.decode() for key in keys], datetime.timedelta(seconds=seconds))
        return True                                 # else its `get` waits

    def _late(self, keys, timeout, getting):
        return DistStoreError("Wait timeout")

    def _await(self, keys, timeout=None, getting=False):
        timeout = self.timeout if timeout is None else as_span(timeout)
        if not self._wait([as_key(key) for key in keys], timeout.total_seconds()):
            raise self._late([as_key(key).removeprefix(QUEUE).decode() for key in keys], timeout, getting)

    def set(self, key, value):
        """Has the store hold a value, text or bytes."""
        self._do("set", as_key(key), as_bytes(value, "set"))

    def get(self, key):
        """The bytes of a key, once it is there. `DistStoreError` (of a `FileStore` RuntimeError) if it does not come in time."""
        return self.multi_get([key])[0]

    def multi_get(self, keys):
        """The bytes of several keys, once all are there."""
        self._await(keys, getting=True)
        return [found for key in keys for found in self._do("get", as_key(key))]

    def multi_set(self, keys, values):
        """Has the store hold several values."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def add(self, key, amount):
        """Adds to the number that a key's value is, 0 if there is none; answers the sum."""
        return int(self._do("add", as_key(key), str(int(amount)).encode())[0])

    def append(self, key, value):
        """Puts bytes behind those that a key has."""
        self._do("append", as_key(key), as_bytes(value, "append"))

    def compare_set(self, key, expected_value, desired_value):
        """Sets a key that has the expected value, or none where "" is expected; answers what it then has, or what was expected of none."""
        return self._do("compare_set", as_key(key), as_bytes(expected_value, "compare_set"), as_bytes(desired_value, "compare_set"))[0]

    def check(self, keys):
        """Whether all keys are there now."""
        return bool(self._do("check", *[as_key(key) for key in keys]))

    def delete_key(self, key):
        """Forgets a key; whether it was there."""
        return bool(self._do("delete", as_key(key)))

    def num_keys(self):
        """How many keys there are."""
        return len(self._do("list"))

    def list_keys(self):
        """The keys that there are."""
        return [key.decode() for key in self._do("list")]

    def wait(self, keys, timeout=None):
        """Comes back when all keys are there; raises as `get` if they are not within ``timeout``, a `timedelta`."""
        self._await(keys, timeout)

    def set_timeout(self, timeout):
        """How long is waited from now on, a `timedelta`."""
        self._timeout = as_span(timeout)

    @property
    def timeout(self):
        """How long is waited for a key, a `timedelta`."""
        return self._timeout

    def has_extended_api(self):
        """Whether `append`, `multi_get` and `multi_set` are a step each."""
        return True

    def queue_push(self, key, value):
        """Puts a value at the end of a queue."""
        self._do("push", as_key(key), as_bytes(value, "queue_push"))

    def queue_pop(self, key, block=True):
        """Takes the first value of a queue, which is waited for; without ``block`` raises `QueueEmptyError` if there is none."""
        while True:
            if block:
                self._await([QUEUE + as_key(key)])
            found = self._do("pop", as_key(key))
            if found:
                return found[0]
            if not block:
                raise QueueEmptyError("queue is empty")

    def queue_len(self, key):
        """How many values a queue has."""
        return int(self._do("length", as_key(key))[0])

    def barrier(self, key, world_size, timeout=None):
        """Comes back when so many have called this with the same key."""
        if self.add(key + "/num_members", 1) == world_size:
            self.set(key + "/last_member", "1")
        self._await([key + "/last_member"], timeout)

    def clone(self):
        """Another object for the same store."""
        return self


class HashStore(Store):
    """A `Store` in the memory of one process, for its threads.

    >>> store = torch.distributed.HashStore()
    >>> store.set("key", "value")
    >>> store.get("key"), store.add("count", 2), store.num_keys()
    (b'value', 2, 2)
    """

    def __init__(self):
        self._table = Table()

    def _do(self, command, *args):
        return self._table.do(command, *args)

    def _wait(self, keys, seconds):
        return self._table.wait(keys, seconds)


class PrefixStore(Store):
    """A `Store` whose keys have a prefix in another one, so that several users do not meet.

    >>> inner = torch.distributed.HashStore()
    >>> torch.distributed.PrefixStore("mine", inner).set("key", "value")
    >>> inner.get("mine/key")
    b'value'
    """

    def __init__(self, prefix, store):
        if store is None:
            raise ValueError("store argument cannot be None")
        self._prefix, self.underlying_store = prefix.encode() + b"/", store

    @property
    def _underlying_non_prefix_store(self):
        inner = self.underlying_store
        return inner._underlying_non_prefix_store if isinstance(inner, PrefixStore) else inner

    def _do(self, command, *args):
        if command == "list":
            return self.underlying_store._do(command)
        named = len(args) if command == "check" else 1
        return self.underlying_store._do(command, *[self._prefix + key for key in args[:named]], *args[named:])

    def list_keys(self):
        """The keys that there are, without the prefix."""
        return [key[len(self._prefix):].decode() for key in self._do("list") if key.startswith(self._prefix)]

    def _await(self, keys, timeout=None, getting=False):
        keys, asked = [as_key(key) for key in keys], []
        for key in keys:
            asked.append(QUEUE + self._prefix + key.removeprefix(QUEUE) if key.startswith(QUEUE) else self._prefix + key)
        self.underlying_store._await(asked, timeout, getting)

    def set_timeout(self, timeout):
        """How long is waited from now on, by the other store, too."""
        self.underlying_store.set_timeout(timeout)

    @property
    def timeout(self):
        """How long is waited for a key, a `timedelta`."""
        return self.underlying_store.timeout

    def has_extended_api(self):
        """As of the other store."""
        return self.underlying_store.has_extended_api()


class FileStore(Store):
    """A `Store` in a file: a list of what was set, which each process reads on from where it was. With ``world_size`` the last of so many
    deletes it. The file must not be there from an earlier run.
    """

    _HEAD, _EACH, _GONE = struct.Struct("!II"), 0.01, 0xFFFFFFFF

    def __init__(self, file_name, world_size=-1):
        self.path, self._world_size, self._table, self._read, self._lock = file_name, world_size, Table(), 0, threading.Lock()

    def _do(self, command, *args):
        if command in ("push", "pop", "length"):
            raise NotImplementedError("queue support is not implemented.")
        import fcntl
        with self._lock, open(self.path, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._read_on(file)
            before = self._table.values.get(args[0]) if args else None
            found = self._table.do(command, *args)
            after = self._table.values.get(args[0]) if args else None
            if command in _CHANGING and (after != before or command == "set"):
                file.write(self._HEAD.pack(len(args[0]), self._GONE if after is None else len(after)) + args[0] + (after or b""))
                file.flush()
                self._read = file.tell()
        return found

    def _read_on(self, file):
        file.seek(self._read)
        data, at = file.read(), 0
        while at < len(data):
            name, length = self._HEAD.unpack_from(data, at)
            at += self._HEAD.size
            key, at = data[at:at + name], at + name
            if length == self._GONE:
                self._table.values.pop(key, None)
            else:
                self._table.values[key], at = data[at:at + length], at + length
        self._read += len(data)

    def _wait(self, keys, seconds):
        until = time.monotonic() + seconds
        while not self._do("check", *keys):
            if time.monotonic() > until:
                return False
            time.sleep(self._EACH)
        return True

    def _late(self, keys, timeout, getting):
        if getting:
            return RuntimeError(f"Timeout waiting for key: {keys[-1]} after {round(timeout.total_seconds() * 1000)} ms")
        return RuntimeError("Wait timeout")

    def queue_pop(self, key, block=True):
        """Raises NotImplementedError: a file has no queues."""
        self._do("pop")

    def has_extended_api(self):
        """Whether `append`, `multi_get` and `multi_set` are a step each: no."""
        return False

    def __del__(self):
        try:
            if self._world_size > 0 and self.add("jtensor/ended", 1) == self._world_size:
                os.remove(self.path)
        except Exception:           # at the end of the process, or where the folder is gone: the file stays
            pass


__all__ = ["FileStore", "HashStore", "PrefixStore", "Store"]
