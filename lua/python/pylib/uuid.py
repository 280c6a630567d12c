# SPDX-License-Identifier: MIT
"""uuid: UUIDs of RFC 4122."""
import functools as _functools
import hashlib as _hashlib
import os as _os
import time as _time
from enum import Enum as _Enum

RESERVED_NCS, RFC_4122, RESERVED_MICROSOFT, RESERVED_FUTURE = [
    "reserved for NCS compatibility", "specified in RFC 4122",
    "reserved for Microsoft compatibility", "reserved for future definition"]


class SafeUUID(_Enum):
    safe = 0
    unsafe = -1
    unknown = None


@_functools.total_ordering
class UUID:
    """A number of 128 bits, from text, bytes, fields or an integer."""

    def __init__(self, hex=None, bytes=None, bytes_le=None, fields=None,
                 int=None, version=None, *, is_safe=SafeUUID.unknown):
        given = [hex, bytes, bytes_le, fields, int]
        if given.count(None) != 4:
            raise TypeError("one of the hex, bytes, bytes_le, fields, or int "
                            "arguments must be given")
        if hex is not None:
            text = hex.replace("urn:", "").replace("uuid:", "")
            text = text.strip("{}").replace("-", "")
            if len(text) != 32:
                raise ValueError("badly formed hexadecimal UUID string")
            int = _int(text, 16)
        if bytes_le is not None:
            if len(bytes_le) != 16:
                raise ValueError("bytes_le is not a 16-char string")
            bytes = (bytes_le[3::-1] + bytes_le[5:3:-1] + bytes_le[7:5:-1]
                     + bytes_le[8:])
        if bytes is not None:
            if len(bytes) != 16:
                raise ValueError("bytes is not a 16-char string")
            int = _int.from_bytes(bytes, "big")
        if fields is not None:
            int = _joined(fields)
        if not 0 <= int < 1 << 128:
            raise ValueError("int is out of range (need a 128-bit value)")
        if version is not None:
            if not 1 <= version <= 5:
                raise ValueError("illegal version number")
            int &= ~(0xc000 << 48)
            int |= 0x8000 << 48
            int &= ~(0xf000 << 64)
            int |= version << 76
        object.__setattr__(self, "int", int)
        object.__setattr__(self, "is_safe", is_safe)

    def __setattr__(self, name, value):
        raise TypeError("UUID objects are immutable")

    def __eq__(self, other):
        if isinstance(other, UUID):
            return self.int == other.int
        return NotImplemented

    def __lt__(self, other):
        if isinstance(other, UUID):
            return self.int < other.int
        return NotImplemented

    def __hash__(self):
        return hash(self.int)

    def __int__(self):
        return self.int

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self):
        text = self.hex
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20],
                         text[20:]))

    @property
    def hex(self):
        return "%032x" % self.int

    @property
    def bytes(self):
        return self.int.to_bytes(16, "big")

    @property
    def bytes_le(self):
        b = self.bytes
        return b[3::-1] + b[5:3:-1] + b[7:5:-1] + b[8:]

    @property
    def fields(self):
        return (self.time_low, self.time_mid, self.time_hi_version,
                self.clock_seq_hi_variant, self.clock_seq_low, self.node)

    @property
    def time_low(self):
        return self.int >> 96

    @property
    def time_mid(self):
        return self.int >> 80 & 0xffff

    @property
    def time_hi_version(self):
        return self.int >> 64 & 0xffff

    @property
    def clock_seq_hi_variant(self):
        return self.int >> 56 & 0xff

    @property
    def clock_seq_low(self):
        return self.int >> 48 & 0xff

    @property
    def time(self):
        return ((self.time_hi_version & 0x0fff) << 48 | self.time_mid << 32
                | self.time_low)

    @property
    def clock_seq(self):
        return (self.clock_seq_hi_variant & 0x3f) << 8 | self.clock_seq_low

    @property
    def node(self):
        return self.int & 0xffffffffffff

    @property
    def urn(self):
        return "urn:uuid:" + str(self)

    @property
    def variant(self):
        top = self.int >> 61 & 7
        if top < 4:
            return RESERVED_NCS
        if top < 6:
            return RFC_4122
        return RESERVED_MICROSOFT if top == 6 else RESERVED_FUTURE

    @property
    def version(self):
        if self.variant == RFC_4122:
            return self.int >> 76 & 0xf
        return None


_int = int


def _joined(fields):
    if len(fields) != 6:
        raise ValueError("fields is not a 6-tuple")
    widths, out = (32, 16, 16, 8, 8, 48), 0
    for at, (value, width) in enumerate(zip(fields, widths)):
        if not 0 <= value < 1 << width:
            raise ValueError(f"field {at + 1} out of range (need a "
                             f"{width}-bit value)")
        out = out << width | value
    return out


def _named(make, namespace, name, version):
    if isinstance(name, str):
        name = name.encode()
    return UUID(bytes=make(namespace.bytes + name).digest()[:16],
                version=version)


def uuid3(namespace, name):
    return _named(_hashlib.md5, namespace, name, 3)


def uuid5(namespace, name):
    return _named(_hashlib.sha1, namespace, name, 5)


def uuid4():
    return UUID(bytes=_os.urandom(16), version=4)


_NODE = int.from_bytes(_os.urandom(6), "big") | 1 << 40


def getnode():
    return _NODE


def uuid1(node=None, clock_seq=None):
    stamp = _time.time_ns() // 100 + 0x01b21dd213814000
    if clock_seq is None:
        clock_seq = int.from_bytes(_os.urandom(2), "big") & 0x3fff
    return UUID(fields=(stamp & 0xffffffff, stamp >> 32 & 0xffff,
                        stamp >> 48 & 0x0fff, clock_seq >> 8 & 0x3f,
                        clock_seq & 0xff, getnode() if node is None else node),
                version=1)


NAMESPACE_DNS = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_URL = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_OID = UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_X500 = UUID("6ba7b814-9dad-11d1-80b4-00c04fd430c8")
