# SPDX-License-Identifier: MIT
"""Bytes as hexadecimal digits and base 64, and their CRC-32."""
import base64


class Error(ValueError):
    pass


class Incomplete(Exception):
    pass


def hexlify(data):
    return bytes(data).hex().encode("ascii")


def unhexlify(hexstr):
    if isinstance(hexstr, bytes):
        hexstr = hexstr.decode("ascii")
    if len(hexstr) % 2:
        raise Error("Odd-length string")
    try:
        return bytes.fromhex(hexstr)
    except ValueError:
        raise Error("Non-hexadecimal digit found") from None


b2a_hex, a2b_hex = hexlify, unhexlify


def b2a_base64(data, *, newline=True):
    return base64.b64encode(data) + (b"\n" if newline else b"")


def a2b_base64(data):
    return base64.b64decode(data)


def _table():
    out = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0xedb88320 if n & 1 else 0)
        out.append(n)
    return out


_CRC = _table()


def crc32(data, value=0):
    value ^= 0xffffffff
    for byte in bytes(data):
        value = _CRC[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xffffffff
