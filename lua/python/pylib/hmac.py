# SPDX-License-Identifier: MIT
"""hmac: hashes with a key (RFC 2104)."""
import hashlib


def compare_digest(a, b):
    return a == b


class HMAC:
    def __init__(self, key, msg=None, digestmod=""):
        if not isinstance(key, (bytes, bytearray)):
            raise TypeError("key: expected bytes or bytearray, but got "
                            f"{type(key).__name__!r}")
        if not digestmod:
            raise TypeError("Missing required argument 'digestmod'.")
        if isinstance(digestmod, str):
            make = lambda d=b"": hashlib.new(digestmod, d)
        elif callable(digestmod):
            make = digestmod
        else:
            make = digestmod.new
        self._inner, self._outer = make(), make()
        self.digest_size = self._inner.digest_size
        self.block_size = getattr(self._inner, "block_size", 64)
        self.name = "hmac-" + self._inner.name
        if len(key) > self.block_size:
            key = make(bytes(key)).digest()
        key = bytes(key).ljust(self.block_size, b"\0")
        self._inner.update(bytes(b ^ 0x36 for b in key))
        self._outer.update(bytes(b ^ 0x5C for b in key))
        if msg is not None:
            self.update(msg)

    def update(self, msg):
        self._inner.update(msg)

    def copy(self):
        out = HMAC.__new__(HMAC)
        out.__dict__.update(self.__dict__)
        out._inner, out._outer = self._inner.copy(), self._outer.copy()
        return out

    def digest(self):
        outer = self._outer.copy()
        outer.update(self._inner.digest())
        return outer.digest()

    def hexdigest(self):
        return self.digest().hex()


def new(key, msg=None, digestmod=""):
    return HMAC(key, msg, digestmod)


def digest(key, msg, digest):
    return HMAC(key, msg, digest).digest()
