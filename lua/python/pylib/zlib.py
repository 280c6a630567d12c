# SPDX-License-Identifier: MIT
"""zlib: checksums; nothing is packed."""
import _absent
from binascii import crc32

ZLIB_VERSION = "1.2.13"
Z_DEFAULT_COMPRESSION, Z_NO_COMPRESSION, Z_BEST_SPEED, Z_BEST_COMPRESSION = \
    -1, 0, 1, 9
MAX_WBITS, DEFLATED, DEF_MEM_LEVEL = 15, 8, 8


class error(Exception):
    pass


def adler32(data, value=1, /):
    a, b = value & 0xFFFF, value >> 16
    for byte in bytes(data):
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b << 16 | a


def __getattr__(name):
    if name in ("compress", "decompress", "compressobj", "decompressobj"):
        raise _absent.error(f"zlib.{name} is not part of dtrepl")
    raise AttributeError(f"module 'zlib' has no attribute {name!r}")
