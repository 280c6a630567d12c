# SPDX-License-Identifier: MIT
"""torch.distributed's stores: what ranks write and read without meeting.

Those of several ranks are their notes (_notes); a HashStore is its process's
own.  A wait that nobody ends is over after the store's timeout.
"""
import _notes
import time
from datetime import timedelta

from torch.distributed import DistStoreError

_MODULE = "torch._C._distributed_c10d"


def _refuse(name):
    raise TypeError(f"{name}(): incompatible function arguments. The following "
                    "argument types are supported:")


def _text(name, key):
    if not isinstance(key, str):
        _refuse(name)
    return key


def _bytes(name, value):
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, (bytes, bytearray)):
        _refuse(name)
    return bytes(value)


class _Own:
    """The keys of one process."""

    def __init__(self):
        self.values = {}

    def get(self, key):
        return self.values.get(key)

    def put(self, key, old, new):
        if self.values.get(key) != old:
            return False
        if new is None:
            self.values.pop(key, None)
        else:
            self.values[key] = new
        return True

    def keys(self):
        return list(self.values)

    def nap(self):
        time.sleep(0.0005)


class _Shared:
    """The keys of all ranks, under one name."""

    def __init__(self, scope):
        self.scope = scope

    def get(self, key):
        return _notes.get(self.scope, key)

    def put(self, key, old, new):
        return _notes.put(self.scope, key, old, new)

    def keys(self):
        return _notes.keys(self.scope)

    def nap(self):
        _notes.nap()


class Store:
    __module__ = _MODULE
    _space = None
    timeout = timedelta(seconds=300)

    # ---- one key ----

    def _change(self, key, new_of):
        """The key's value becomes new_of(what it was); gives the new one."""
        while True:
            old = self._space.get(key)
            new = new_of(old)
            if self._space.put(key, old, new):
                return new

    def set(self, key, value):
        value = _bytes("set", value)
        self._change(_text("set", key), lambda old: value)

    def get(self, key):
        self._await([_text("get", key)], self.timeout, True)
        return self._space.get(key)

    def add(self, key, amount):
        if not isinstance(amount, int):
            _refuse("add")
        new = self._change(_text("add", key), lambda old: str(
            int(old or b"0") + amount).encode())
        return int(new)

    def append(self, key, value):
        value = _bytes("append", value)
        self._change(_text("append", key), lambda old: (old or b"") + value)

    def compare_set(self, key, expected_value, desired_value):
        expected = _bytes("compare_set", expected_value)
        desired = _bytes("compare_set", desired_value)

        def new_of(old):
            if old is None:
                return desired if expected == b"" else None
            return desired if old == expected else old
        new = self._change(_text("compare_set", key), new_of)
        return expected if new is None else new

    def delete_key(self, key):
        found = []

        def new_of(old):
            found.append(old is not None)
            return None
        self._change(_text("delete_key", key), new_of)
        return found[-1]

    # ---- several keys ----

    def check(self, keys):
        if not isinstance(keys, (list, tuple)):
            _refuse("check")
        return all(self._space.get(_text("check", k)) is not None
                   for k in keys)

    def wait(self, keys, timeout=None):
        if not isinstance(keys, (list, tuple)):
            _refuse("wait")
        self._await([_text("wait", k) for k in keys],
                    self.timeout if timeout is None else timeout, False)

    def _await(self, keys, timeout, one):
        end = time.monotonic() + timeout.total_seconds()
        while not self.check(keys):
            if time.monotonic() > end:
                raise self._late(keys, timeout, one)
            self._space.nap()

    def _late(self, keys, timeout, one):
        return DistStoreError("Wait timeout")

    def multi_set(self, keys, values):
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def multi_get(self, keys):
        return [self.get(key) for key in keys]

    # ---- the store ----

    def num_keys(self):
        return len(self._space.keys())

    def list_keys(self):
        return self._space.keys()

    def set_timeout(self, timeout):
        self.timeout = timeout

    def has_extended_api(self):
        return True

    def clone(self):
        other = self.__class__.__new__(self.__class__)
        other.__dict__.update(self.__dict__)
        return other

    def __repr__(self):
        return f"<{_MODULE}.{type(self).__name__} object at {hex(id(self))}>"


class HashStore(Store):
    __module__ = _MODULE

    def __init__(self):
        self._space = _Own()


_opened = {}                    # how often a rank has made a server's store


class TCPStore(Store):
    __module__ = _MODULE

    def __init__(self, host_name=None, port=None, world_size=None,
                 is_master=False, timeout=timedelta(seconds=300),
                 wait_for_workers=True, multi_tenant=False,
                 master_listen_fd=None, use_libuv=True):
        if not isinstance(host_name, str) or not isinstance(port, int):
            raise TypeError("__init__(): incompatible constructor arguments. "
                            "The following argument types are supported:")
        self.host, self.port, self.timeout = host_name, port or 29500, timeout
        self.libuvBackend = use_libuv
        _opened[port] = _opened.get(port, 0) + 1
        self._space = _Shared(f"tcp {port} {_opened[port]}")
        if world_size is not None and world_size > 0 and wait_for_workers:
            self.add("init/", 1)
            while int(self._space.get("init/")) < world_size:
                self._space.nap()

    def list_keys(self):
        return [key for key in self._space.keys() if key != "init/"]

    def _late(self, keys, timeout, one):
        return DistStoreError(
            f"wait timeout after {int(timeout.total_seconds() * 1000)}ms, "
            f"keys: {', '.join('/' + key for key in keys)}")


class FileStore(Store):
    __module__ = _MODULE

    def __init__(self, file_name, world_size=-1):
        self.path = file_name
        self._space = _Shared("file " + file_name)
        self.add("efcount/", 1)

    def _late(self, keys, timeout, one):
        if one:
            return RuntimeError(
                f"Timeout waiting for key: {keys[0]} after "
                f"{int(timeout.total_seconds() * 1000)} ms")
        return RuntimeError("Wait timeout")

    def delete_key(self, key):
        super().delete_key(key)
        return True

    def has_extended_api(self):
        return False


class _Below:
    """The keys of another store that begin alike."""

    def __init__(self, prefix, space):
        self.prefix, self.space = prefix + "/", space

    def get(self, key):
        return self.space.get(self.prefix + key)

    def put(self, key, old, new):
        return self.space.put(self.prefix + key, old, new)

    def keys(self):
        return self.space.keys()

    def nap(self):
        self.space.nap()


class PrefixStore(Store):
    __module__ = _MODULE

    def __init__(self, prefix, store):
        self.prefix, self.underlying_store = prefix, store
        self.timeout = store.timeout
        self._space = _Below(prefix, store._space)

    def _late(self, keys, timeout, one):
        return self.underlying_store._late(
            [f"{self.prefix}/{key}" for key in keys], timeout, one)

    def has_extended_api(self):
        return self.underlying_store.has_extended_api()


_default = []


def get_default_store():
    """The store of the default group: one for each time that it begins."""
    from torch.distributed import _get_default_group
    _get_default_group()
    if not _default:
        store = Store()
        store.__class__ = TCPStore
        store.host, store.port = "localhost", 29500
        store._space = _Shared("default")
        _default.append(PrefixStore("default_pg", store))
    return _default[0]
